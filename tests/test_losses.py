"""What a loss says of ids is a field, not words: who decides asks the field, and both say the same.

Leaves out: which losses each format names (test_formats…, test_convert, test_surgery).
"""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import syllabary
from syllabary import formats, surgery
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.formats import extras, huggingface, transformers_sentencepiece
from syllabary.formats.loss import Ids, Loss, joined
from syllabary.spec import Step, TokenizerSpec

TEXTS = ["low lower lowest low lower"] * 3


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train(TEXTS, vocab_size=262)


def test_a_loss_is_its_sentence_and_keeps_its_field() -> None:
    loss = Loss("a sentence", "same")
    assert (loss, f"{loss}", repr(loss)) == ("a sentence", "a sentence", "'a sentence'")
    for again in (copy.copy(loss), copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert (type(again), again, again.ids) == (Loss, "a sentence", "same")
    both = joined([Loss("a", "some"), Loss("b", "all"), Loss("c", "same")])
    assert (both, both.ids) == ("a; b; c", "all")


@pytest.mark.parametrize("ids", ["same", "some", "all"])
@pytest.mark.parametrize("words", ["no id changes", "ids can change", "anything else: ids change"])
def test_convert_asks_the_field(
    tok: syllabary.Tokenizer, words: str, ids: Ids, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tokenizer that encodes otherwise is written only if a loss's field, in whatever words, excuses it."""
    form = formats.format_of("a.syllabary.json")
    other = syllabary.train(["other text"], vocab_size=257, min_frequency=1).spec
    lossy = replace(form, reduce=lambda _spec: (other, (Loss(words, ids),)))
    monkeypatch.setattr(formats, "format_of", lambda *_args: lossy)
    path = tmp_path / "a.syllabary.json"
    if ids == "same":
        with pytest.raises(FormatError, match="not written: as syllabary this tokenizer would encode"):
            convert(tok, path)
        assert not path.exists()
    else:
        assert convert(tok, path).difference is not None


@pytest.mark.parametrize("ids", ["some", "all"])
def test_a_model_for_transformers_is_refused_by_the_field(
    ids: Ids, monkeypatch: pytest.MonkeyPatch, tok: syllabary.Tokenizer
) -> None:
    spec = replace(tok.spec, record={"trainer": "syllabary"})
    rules = (lambda less: (less, Loss("a thing", ids)),)
    monkeypatch.setattr("syllabary.formats.hf_reduce.RULES", rules)
    if ids == "all":
        with pytest.raises(FormatError, match=r"tokenizer\.json cannot hold a thing; use the tokenizer"):
            transformers_sentencepiece.held(spec, {})
    else:
        less, losses = transformers_sentencepiece.held(spec, {})
        assert ([*losses], less.record) == (["a thing"], {})  # that the record goes is not worth a word


def test_words_and_field_agree(tok: syllabary.Tokenizer) -> None:
    spec = replace(
        tok.spec,
        decoder=(Step("ByteLevel"), Step("Fuse")),
        normalizer=(Step("Lowercase"),),
        dropout=0.5,
        trim_offsets=True,
        record={"trainer": "syllabary"},
        carried={"other": {"a": 1}},
        special_tokens={"<s>": 300},
    )
    assert {loss.ids for loss in _losses(spec)} == {"same", "some"}
    for loss in _losses(spec):
        assert (extras.NO_IDS in loss) == (loss.ids == "same"), loss
    gone = surgery.remove(syllabary.Tokenizer(spec), ["<s>"])
    assert [loss.ids for loss in gone.losses] == ["same"] * len(gone.losses)


def _losses(spec: TokenizerSpec) -> list[Loss]:
    held = huggingface.FORMAT.reduce(spec)[1]
    return [*held, *(loss for form in formats.FORMATS if form.writes for loss in form.reduce(spec)[1])]
