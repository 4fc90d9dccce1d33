"""Tokenizers from elsewhere as Hugging Face's `tokenizer.json`: their library gives the same ids.

Adds sentencepiece's models (scores become a list of merges), the losses that `reduce` names, what is refused,
and GPT-2's pair of files, written. Leaves out: files of their own (`test_formats_hf`).
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import hf_configurations as configurations
import pytest
import sentencepiece
from tokenizers import Tokenizer, models

import syllabary
from syllabary import formats, splits
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.formats import gpt2, hf_reduce, hf_scores, huggingface
from syllabary.formats.hf_scores import nearest_merges
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import train
from syllabary.spec import Matching, SplitSpec, Step, TokenizerSpec, TrainOptions

NAME = "tokenizer.json"
LINES = [*configurations.CORPUS, "a  b   c    d", "====  ----   \t\t x = y; aaaa abab"] * 2
MODELS = {
    "llama": {
        "byte_fallback": True,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "identity",
    },
    "squeezed": {"byte_fallback": True, "normalization_rule_name": "identity"},
    "no prefix": {
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "identity",
    },
    "unknown": {"remove_extra_whitespaces": False, "normalization_rule_name": "identity"},
    "white space": {
        "byte_fallback": True,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "identity",
        "split_by_whitespace": False,
    },
}


def trained(folder: Path, **options: object) -> Path:
    """A sentencepiece model of our own, on disk."""
    data = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=data,
        hard_vocab_limit=False,
        minloglevel=2,
        **{"model_type": "bpe", "vocab_size": 600, **options},
    )
    (folder / "m.model").write_bytes(data.getvalue())
    return folder / "m.model"


def reduced(spec: TokenizerSpec, folder: Path) -> tuple[Tokenizer, tuple[str, ...]]:
    """Their library's tokenizer of what the file can hold, and what it cannot."""
    held, losses = huggingface.FORMAT.reduce(spec)
    formats.write(held, folder / NAME)
    return Tokenizer.from_file(str(folder / NAME)), losses


def some_texts(seed: int, count: int) -> list[str]:
    random = Random(seed)
    runs = ["".join(random.choice("ab =-▁\n") for _ in range(random.randint(1, 40))) for _ in range(count)]
    return ["", " ", "  ", "▁", *runs, *(configurations.random_text(random) for _ in range(count))]


@pytest.mark.parametrize("name", MODELS)
def test_a_sentencepiece_model_keeps_its_ids(name: str, prove: bool, tmp_path: Path) -> None:
    path = trained(tmp_path, **MODELS[name])
    home = sentencepiece.SentencePieceProcessor(model_file=str(path))
    spec = formats.read(path)
    theirs, losses = reduced(spec, tmp_path)
    assert losses
    assert all("no id changes" in loss for loss in losses)
    for text in some_texts(5, 2000 if prove else 150):
        ids = home.encode(text)
        assert theirs.encode(text).ids == ids, text
        assert theirs.decode(ids, skip_special_tokens=False) == home.decode(ids) or home.unk_id() in ids
    with pytest.raises(FormatError, match="cannot hold"):
        formats.write(spec, tmp_path / "strict.json")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("trims", [False, True])
@pytest.mark.parametrize("adds", [False, True])
def test_white_space_as_suffix(adds: bool, trims: bool, kind: str, tmp_path: Path) -> None:
    """sentencepiece decodes the space that it puts behind a text; no ids are no text in any library."""
    options = {"add_dummy_prefix": adds, "remove_extra_whitespaces": trims, "vocab_size": 300}
    options |= {"treat_whitespace_as_suffix": True, "normalization_rule_name": "identity"}
    path = trained(tmp_path, model_type=kind, **options)
    home, tok = sentencepiece.SentencePieceProcessor(model_file=str(path)), syllabary.load(path)
    theirs, losses = reduced(tok.spec, tmp_path)
    ours = syllabary.load(tmp_path / NAME)
    assert any("at the end of a text: ids change" in loss for loss in losses) == adds
    for text in ["", " ab", *some_texts(6, 100)]:
        ids = home.encode(text)
        assert (tok.encode(text), tok.decode(ids)) == (ids, home.decode(ids))
        assert adds or "<s>" in text or theirs.encode(text).ids == ids
        decoded = theirs.decode(ids, skip_special_tokens=False)
        assert decoded == ours.decode(ids)
        assert decoded == home.decode(ids) or home.unk_id() in ids


def test_the_published_model_keeps_its_ids(shared: Path, tmp_path: Path) -> None:
    """Mistral's: its runs of `▁` have one score, so the leftmost grows first."""
    path = shared / "vocabs" / "mistral_v1.model"
    home = sentencepiece.SentencePieceProcessor(model_file=str(path))
    theirs, _losses = reduced(formats.read(path), tmp_path)
    for text in some_texts(9, 300):
        assert theirs.encode(text).ids == home.encode(text), text


def test_what_a_character_map_loses_is_said(tmp_path: Path) -> None:
    path = trained(tmp_path, byte_fallback=True, user_defined_symbols=["<x>"])
    theirs, losses = reduced(formats.read(path), tmp_path)
    assert [loss.partition(":")[0] for loss in losses[:3]] == [
        "how sentencepiece looks up its character map",
        "that '<unk>', '<s>', '</s>' are special",
        "that 1 token is found in the normalized text",
    ]
    home = sentencepiece.SentencePieceProcessor(model_file=str(path))
    for text in ["Hello ＡＢＣ １２３ ﬁne", "In principio erat verbum", "a  b"]:
        assert theirs.encode(text).ids == home.encode(text)
    for text, side in {"a <x>b": "the text before one", "a<x>b": "the text after it"}.items():
        assert theirs.encode(text).ids != home.encode(text)
        assert side in losses[2]


def scored(scores: dict[str, float]) -> TokenizerSpec:
    tokens = {place: text.encode() for place, text in enumerate(scores)}
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(None),
        tokens=tokens,
        alphabet={token: i for i, token in tokens.items() if len(token.decode()) == 1},
        merges=None,
        scores=dict(enumerate(scores.values())),
    )


@pytest.mark.parametrize("seed", range(40))
def test_scores_are_merges(seed: int, tmp_path: Path) -> None:
    """Random pieces of few letters with random scores, where every order of merging occurs."""
    random = Random(seed)
    pieces = {"a": 0.0, "b": 0.0, "c": 0.0}
    while len(pieces) < 12:
        text = "".join(random.choice("abc"[: random.randint(1, 3)]) for _ in range(random.randint(2, 6)))
        pieces.setdefault(text, random.random())
    spec = scored(pieces)
    ours, theirs = ReferenceTokenizer(spec), Tokenizer.from_str(huggingface.FORMAT.write(spec).decode())
    for _ in range(60):
        text = "".join(random.choice("aaabc") for _ in range(random.randint(1, 30)))
        assert theirs.encode(text).ids == ours.encode(text), (pieces, text)


def test_runs_with_one_score_are_merges() -> None:
    for lengths in ((2, 3, 4), (2, 4, 8), (2, 3, 5, 6), (2, 3, 4, 5, 7, 9)):
        runs = {"a" * length: -5.0 for length in lengths}
        spec = scored({"a": 0.0, "b": 0.0, "ab": -1.0, **runs, "aab": -9.0})
        assert nearest_merges(spec)[1] is None
        ours, theirs = ReferenceTokenizer(spec), Tokenizer.from_str(huggingface.FORMAT.write(spec).decode())
        for length in range(40):
            for text in ("a" * length, "a" * length + "b", "b" + "a" * length + "b" + "a" * length):
                assert theirs.encode(text).ids == ours.encode(text), text
    equal = scored({"a": 0.0, "b": 0.0, "ab": -1.0, "ba": -1.0})
    with pytest.raises(FormatError, match="the pieces b'ab' and b'ba' with one score"):
        huggingface.FORMAT.write(equal)
    assert "ids can change" in huggingface.FORMAT.reduce(equal)[1][0]
    apart = scored({"a": 0.0, "ab": -1.0})
    with pytest.raises(FormatError, match="the piece b'ab', whose part b'b' is none"):
        huggingface.FORMAT.write(apart)


def test_the_merges_of_scores_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a refused `save`, which tries what `convert` would write, and by `convert`."""
    calls = list[TokenizerSpec]()

    def counted(spec: TokenizerSpec) -> Any:
        calls.append(spec)
        return nearest_merges(spec)

    monkeypatch.setattr(hf_scores, "nearest_merges", counted)
    monkeypatch.setattr(hf_reduce, "nearest_merges", counted)
    spec = dataclasses.replace(scored({"a": 0.0, "b": 0.0, "ab": -1.0}), surface_offsets=True)
    with pytest.raises(FormatError, match=r"cannot hold offsets .* convert it"):
        formats.write(spec, tmp_path / NAME)
    assert len(calls) == 1
    convert(syllabary.Tokenizer(spec), tmp_path / NAME)
    assert len(calls) == 2
    assert syllabary.load(tmp_path / NAME).spec.merges == ((0, 1, 2),)


def ours(**options: object) -> TokenizerSpec:
    chosen = {"split": splits.get("gpt2"), "num_merges": 8, "min_frequency": 1} | options
    return train(["verbum erat apud deum, et deus erat verbum"], TrainOptions(**chosen))  # type: ignore[arg-type]


def marked(spec: TokenizerSpec) -> TokenizerSpec:
    return dataclasses.replace(spec, special_tokens={"<s>": 900}, matching={"<s>": Matching("frozen")})


REFUSED: dict[str, tuple[Callable[[], TokenizerSpec], str]] = {
    "a decoder": (
        lambda: dataclasses.replace(ours(), decoder=(Step("Join", {"separator": "-"}),)),
        "joins tokens with anything but a space",
    ),
    "a stage": (lambda: marked(ours()), "the token '<s>' of the stage 'frozen'"),
    "offsets": (lambda: dataclasses.replace(ours(), surface_offsets=True), "the last of its bytes"),
    "a pattern": (
        lambda: dataclasses.replace(ours(), split=SplitSpec(r"^a|.|\n", tables="onig")),
        r"the split '\^a\|",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_file_cannot_hold_is_named(case: str, tmp_path: Path) -> None:
    make, message = REFUSED[case]
    with pytest.raises(FormatError, match=message):
        formats.write(make(), tmp_path / NAME)
    assert list(tmp_path.iterdir()) == []


def test_what_can_be_held_loses_nothing(tmp_path: Path) -> None:
    spec = dataclasses.replace(ours(special_tokens=("<s>",)), record={})
    assert huggingface.FORMAT.reduce(spec) == (spec, ())
    assert huggingface.FORMAT.reduce(dataclasses.replace(spec, record={"a": 1}))[0] == spec


# ---- the pair of files ----


def test_gpt2s_pair_is_written_byte_for_byte(shared: Path, tmp_path: Path) -> None:
    folder = shared / "vocabs"
    spec = formats.read(folder / "gpt2_encoder.json")
    files = gpt2.FORMAT.files(spec, tmp_path / "gpt2_vocab.bpe")
    assert {file.name: data for file, data in files.items()} == {
        name: (folder / name).read_bytes() for name in ("gpt2_encoder.json", "gpt2_vocab.bpe")
    }


@pytest.mark.parametrize("options", [{}, {"unit": "char"}, {"unit": "char", "end_of_word": "</w>"}], ids=str)
def test_a_pair_is_read_back_and_by_their_library(options: dict[str, str], tmp_path: Path) -> None:
    spec = ours(special_tokens=("<s>",), split=splits.get("whitespace-split"), **options)
    if options:  # a letter that is no character of bytes says that names are text
        spec = train(
            ["verbum erat Ἀχιλῆος"], TrainOptions(spec.split, num_merges=8, min_frequency=1, **options)
        )  # type: ignore[arg-type]
    spec = dataclasses.replace(spec, record={})
    for path in (tmp_path, tmp_path / "x_encoder.json"):
        for file, data in gpt2.FORMAT.files(spec, path).items():
            file.write_bytes(data)
    hints = {"split": "whitespace-split", "special_tokens": spec.special_tokens}
    assert (
        formats.read(tmp_path / "merges.txt", **hints)
        == spec
        == formats.read(tmp_path / "vocab.json", **hints)
    )
    assert formats.read(tmp_path / "x_vocab.bpe", **hints) == spec
    theirs = models.BPE.from_file(
        str(tmp_path / "vocab.json"),
        str(tmp_path / "merges.txt"),
        **({"end_of_word_suffix": spec.end_of_word} if spec.end_of_word else {}),
    )
    theirs.save(str(tmp_path), "again")
    for name in ("vocab.json", "merges.txt"):
        assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()
    if options:
        found = [token.id for token in theirs.tokenize("verbum")]
        assert found == ReferenceTokenizer(spec).encode("verbum")


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: ours(unit="char", split=splits.get("whitespace")),
            "taken for GPT-2's characters of bytes",
        ),
        (lambda: ours(unit="char", fallback=True), "a fallback to bytes"),
        (lambda: ours(unit="char", end_of_word="@"), "the end-of-word mark '@'"),
        (lambda: dataclasses.replace(ours(), whole_pieces=True), "whole_pieces"),
        (lambda: dataclasses.replace(ours(), normalizer=(Step("NFC"),)), r"its normalizer \(NFC\)"),
        (lambda: dataclasses.replace(ours(), added_tokens={"<x>": 900}), "added tokens that are not special"),
    ],
)
def test_what_a_pair_cannot_hold_is_named(
    make: Callable[[], TokenizerSpec], message: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=message):
        gpt2.FORMAT.files(make(), tmp_path)
    held, losses = gpt2.FORMAT.reduce(make())
    if losses and held.unit == "byte":
        assert gpt2.FORMAT.files(held, tmp_path)


def test_a_pair_needs_a_name_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="name a folder that is there, or end the name in one of encoder"):
        gpt2.FORMAT.files(ours(), tmp_path / "x.json")
    vocab = json.loads(next(iter(gpt2.FORMAT.files(ours(), tmp_path).values())))
    assert vocab["v"] == ours().alphabet[b"v"]
