"""Tokenizers of other origin as sentencepiece's `.model`: exactly, with a loss said, or not at all."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import Implementation, each
from sentencepiece_models import corpus, peer
from strategies import corpora, repetitive_texts
from tokenizers import Tokenizer, models, normalizers, trainers

from syllabary import splits
from syllabary.errors import CorpusError, FormatError
from syllabary.formats import huggingface, sentencepiece
from syllabary.formats.record import Facts, Hints
from syllabary.formats.sentencepiece_reduce import rewritten
from syllabary.reference.merge import by_merges, last, merge_states
from syllabary.spec import Matching, SplitSpec, Step, TokenizerSpec, TrainOptions

SPACE = "\u2581"
PREPEND = Step("Prepend", {"prepend": SPACE})
REPLACE = Step("Replace", {"pattern": " ", "regex": False, "content": SPACE})


def options(**changes: object) -> TrainOptions:
    return dataclasses.replace(
        TrainOptions(splits.get(None), unit="char", num_merges=40, min_frequency=1), **changes
    )


@pytest.fixture(scope="module")
def trained() -> TokenizerSpec:
    """Characters and merges, no split, a special token."""
    from syllabary.reference.train import train

    return train(corpus(count=30), options(special_tokens=("<s>",), special_first=True))


def encoded(spec: TokenizerSpec, text: str) -> list[int]:
    """What a list of merges makes of a text that is one piece."""
    assert spec.merges is not None
    ids = [spec.alphabet[character.encode()] for character in text]
    return last(merge_states(ids, by_merges(spec.merges)))


def test_a_trained_tokenizer(trained: TokenizerSpec, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"^sentencepiece cannot hold this tokenizer as it is: the decoder"):
        sentencepiece.write(trained)
    reduced, losses = sentencepiece.reduce(trained)
    assert [loss.partition(" (")[0].partition(",")[0] for loss in losses] == [
        "the decoder",
        "special tokens are no longer found in text",
        "a token '<unk>'",
        "the record of training",
    ]
    data = sentencepiece.write(reduced)
    (tmp_path / "t.model").write_bytes(data)
    again = sentencepiece.read(tmp_path / "t.model", Hints())
    assert again.tokens == trained.tokens
    assert again.special_tokens == {"<s>": 0, "<unk>": max(trained.tokens) + 1}
    other = peer(data)
    assert other.processor.bos_id() == 0
    assert other.processor.unk_id() == again.unknown
    for text in [*corpus(count=30), " the  cat ", "aaaa aa"]:
        assert other.encode(text)[0] == encoded(trained, text)
    assert sentencepiece.write(again) == data


@each
@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_trained_tokenizers(implementation: Implementation) -> None:
    @given(corpora(), st.lists(repetitive_texts(), max_size=4))
    def agrees(documents: list[str], texts: list[str]) -> None:
        try:
            spec = implementation.train(documents, options(num_merges=25))
        except CorpusError:  # no text at all
            return
        if any("\0" in token.decode() for token in spec.tokens.values()):
            return
        other = peer.__wrapped__(sentencepiece.write(sentencepiece.reduce(spec)[0]))
        for text in [*documents, *texts]:
            if all(character.encode() in spec.alphabet for character in text):
                assert other.encode(text)[0] == encoded(spec, text)

    agrees()


@st.composite
def any_merges(draw: st.DrawFn) -> TokenizerSpec:
    """Merges that no training makes: in any order, several for one token, tokens that none of them makes."""
    tokens = [b"a", b"b", b"c"]
    merges: list[tuple[int, int, int]] = []
    for _ in range(draw(st.integers(1, 9))):
        left, right = draw(st.integers(0, len(tokens) - 1)), draw(st.integers(0, len(tokens) - 1))
        joined = tokens[left] + tokens[right]
        if joined not in tokens:
            tokens.append(joined)
        merges.append((left, right, tokens.index(joined)))
    kept = [merge for merge in draw(st.permutations(merges)) if draw(st.integers(0, 9))]
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(None),
        tokens=dict(enumerate(tokens)),
        alphabet={token: token_id for token_id, token in enumerate(tokens[:3])},
        merges=tuple(dict.fromkeys(kept)),
    )


SEEN: dict[bool | None, int] = {None: 0, True: 0, False: 0}  # held, refused, refused for another reason


@given(any_merges(), st.lists(st.text("abc", max_size=14), min_size=3, max_size=8))
def agrees_or_refuses(spec: TokenizerSpec, texts: list[str]) -> None:
    try:
        data = sentencepiece.write(sentencepiece.reduce(spec)[0])
    except FormatError as error:
        SEEN["which the merges do not make" in str(error)] += 1
        return
    SEEN[None] += 1
    other = peer.__wrapped__(data)
    for text in [*texts, *(token.decode() for token in spec.tokens.values()), "abcabcaabbcc"]:
        assert other.encode(text)[0] == encoded(spec, text)


def test_any_list_of_merges_is_held_exactly_or_refused() -> None:
    agrees_or_refuses()
    assert SEEN[False] == 0
    assert min(SEEN[None], SEEN[True]) > 5


def test_why_a_list_of_merges_is_refused(trained: TokenizerSpec) -> None:
    spec = TokenizerSpec(
        "char", SplitSpec(None), {0: b"a", 1: b"b", 2: b"ab"}, {b"a": 0, b"b": 1}, (), {"<unk>": 3}, unknown=3
    )
    with pytest.raises(FormatError, match=r"token b?'ab' \(id 2\), which the merges do not make of its text"):
        sentencepiece.write(sentencepiece.reduce(spec)[0])
    aligned = dataclasses.replace(spec, tokens={**spec.tokens, 4: b"aab"}, merges=((0, 1, 2), (0, 2, 4)))
    data = sentencepiece.write(sentencepiece.reduce(aligned)[0])
    assert peer(data).encode("aab")[0] == [4]


# ---- steps of Hugging Face's ----


def test_steps_that_mean_the_same_are_rewritten(trained: TokenizerSpec) -> None:
    for steps, prefix, escape in (
        ((), False, False),
        ((REPLACE,), False, True),
        ((PREPEND, REPLACE), True, True),
        ((REPLACE, PREPEND), True, True),
    ):
        step = rewritten(dataclasses.replace(trained, normalizer=steps)).normalizer[0]
        assert step.kind == "SentencePiece"
        assert (step.options["add_dummy_prefix"], step.options["escape_whitespaces"]) == (prefix, escape)
        assert step.options["remove_extra_whitespaces"] is False
    spec = dataclasses.replace(trained, normalizer=(PREPEND,))
    assert rewritten(spec) == spec


@each
def test_a_tokenizer_with_such_steps(implementation: Implementation, trained: TokenizerSpec) -> None:
    """llama's tokenizer.json, in small: merges, a mark before words, bytes."""
    from syllabary.reference.train import train

    marked = [SPACE + text.replace(" ", SPACE) for text in corpus(count=30)]
    spec = train(marked, options(num_merges=60))
    count = len(spec.tokens)
    bytes_of = {count + byte: byte for byte in range(256)}
    alphabet = {bytes([byte]): token_id for token_id, byte in bytes_of.items()}
    spec = dataclasses.replace(
        spec,
        tokens={**spec.tokens, **{token_id: bytes([byte]) for token_id, byte in bytes_of.items()}},
        alphabet={**alphabet, **spec.alphabet},
        byte_tokens=bytes_of,
        fallback=True,
        normalizer=(PREPEND, REPLACE),
        special_tokens={"<unk>": count + 256},
        matching={"<unk>": Matching(stage="never")},
        unknown=count + 256,
        fuse_unknown=True,
    )
    reduced, losses = sentencepiece.reduce(spec)
    assert [loss.partition(" ")[0] for loss in losses] == ["the", "offsets", "the"]
    other = peer(sentencepiece.write(reduced))
    tokenizer = implementation.tokenizer(spec)
    for text in [*corpus(2, 20), "", " ", " a", "a ", "  a  b", SPACE, "\U0001f600", "a\U0001f600\0b", "ｱ"]:
        assert tokenizer.encode(text) == other.encode(text)[0], text


def test_a_tokenizer_of_hugging_faces(tmp_path: Path) -> None:
    """Trained by tokenizers as llama's is laid out, and written as a model: the same ids."""
    trainer = trainers.BpeTrainer(
        vocab_size=460,
        special_tokens=["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256))],
        show_progress=False,
    )
    theirs = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    theirs.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    theirs.train_from_iterator(corpus(), trainer)
    document = json.loads(theirs.to_str())
    document["added_tokens"] = document["added_tokens"][:2]  # llama's bytes are no added tokens
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    spec = huggingface.FORMAT.read(tmp_path / "tokenizer.json", Hints())
    reduced, losses = sentencepiece.reduce(spec)
    assert [loss for loss in losses if "change" in loss and "no id changes" not in loss] == [
        "special tokens are no longer found in text ('<unk>', '<s>'): ids of text that holds them change"
    ]
    other = peer(sentencepiece.write(reduced))
    again = Tokenizer.from_str(json.dumps(document))
    for text in [*corpus(5, 40), " ", " a", "a ", "  a  b", SPACE, "\U0001f600", "a\U0001f600\0b", "ｱ"]:
        assert other.encode(text)[0] == again.encode(text).ids, text


def test_metaspace_is_a_loss(trained: TokenizerSpec) -> None:
    step = Step("Metaspace", {"replacement": SPACE, "prepend_scheme": "always", "split": True})
    reduced, losses = sentencepiece.reduce(dataclasses.replace(trained, pretokenizer=(step,)))
    assert "begins with a space" in losses[0]
    assert reduced.pretokenizer == ()
    assert reduced.normalizer[0].options["add_dummy_prefix"] is True


# ---- what it cannot hold ----


def exact(spec: TokenizerSpec) -> TokenizerSpec:
    """Reduced to what a model holds."""
    return sentencepiece.reduce(spec)[0]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"split": splits.get("gpt2")}, "the split 'gpt2'"),
        ({"whole_pieces": True}, "whole_pieces"),
        ({"continuing_prefix": "##"}, "the prefix '##'"),
        ({"normalizer": (Step("NFC"),)}, "the steps NFC"),
        ({"pretokenizer": (Step("Whitespace"),)}, "the steps Whitespace"),
    ],
)
def test_what_is_refused_by_name(
    changes: dict[str, object], message: str, trained: TokenizerSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FormatError, match="cannot hold") as caught:
        sentencepiece.write(exact(dataclasses.replace(trained, **changes)))  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_gaps_and_doubles_are_refused(trained: TokenizerSpec) -> None:
    spec = exact(trained)
    gap = {**spec.special_tokens, "<gap>": max(spec.special_tokens.values()) + 2}
    never = {**spec.matching, "<gap>": Matching(stage="never")}
    with pytest.raises(FormatError, match="ids with a gap"):
        sentencepiece.write(dataclasses.replace(spec, special_tokens=gap, matching=never))
    long = {**spec.special_tokens, "x" * 9000: max(spec.special_tokens.values()) + 1}
    never = {**spec.matching, "x" * 9000: Matching(stage="never")}
    with pytest.raises(FormatError, match="a token of 9000 bytes"):
        sentencepiece.write(dataclasses.replace(spec, special_tokens=long, matching=never))


def test_losses_of_what_is_left_out(trained: TokenizerSpec) -> None:
    spec = dataclasses.replace(
        trained,
        special_tokens={"<s>": 0, "<unk>": max(trained.tokens) + 1},
        added_tokens={"<add>": max(trained.tokens) + 2},
        matching={"<add>": Matching(lstrip=True)},
        unknown=max(trained.tokens) + 1,
        dropout=0.5,
    )
    reduced, losses = sentencepiece.reduce(spec)
    words = " ".join(losses)
    for word in ("decoder", "'<s>', '<unk>'", "'<add>'", "in a row become one", "dropout 0.5"):
        assert word in words
    assert sentencepiece.reduce(reduced) == (reduced, ())
    peer(sentencepiece.write(reduced))


def test_what_is_known_before_training() -> None:
    assert "unit 'byte'" in str(sentencepiece.refuses(Facts(unit="byte")))
    assert "</w>" in str(sentencepiece.refuses(Facts(unit="char", end_of_word="</w>")))
    assert sentencepiece.refuses(Facts(unit="char")) is None
