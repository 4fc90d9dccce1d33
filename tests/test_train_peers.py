"""`train(like=…)` against the released tools over many drawn corpora, and over megabytes of real text.

Merges, ids and saved files are theirs: of tokenizers, rustbpe, tiktoken's educational trainer and
subword-nmt, and of minbpe and the course CS336, whose algorithms are written out (`train_peers`). A sample
every day; with `SYLLABARY_PROVE` thousands of corpora and 5 MB of each.
Leaves out: all options of Hugging Face's trainer (`test_like_huggingface`), sentencepiece
(`test_like_sentencepiece`). Unicode's white space within words, where subword-nmt's own look-arounds fail
(`syllabary.compat.subword_nmt` does as it does), is not put to subword-nmt.
"""

from __future__ import annotations

import base64
import io
import json
import lzma
import random
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import regex
import rustbpe  # type: ignore[import-untyped]
import train_peers
from subword_nmt import learn_bpe
from subword_nmt.apply_bpe import BPE
from tiktoken import _educational
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import syllabary
from syllabary.errors import EarlyStopWarning
from syllabary.formats.subword_nmt_codes import remade
from syllabary.reference.bytes_to_unicode import spell
from syllabary.splits import get
from syllabary.training import GPT4_2023

CORPORA = ("chinese", "code", "english", "greek", "multilingual")
SAMPLED = ("code", "greek")
BLOCKS = range(5)
pytestmark = pytest.mark.timeout(3600)
FEW, MANY = 10, 400  # corpora of a block


def trained(
    documents: Sequence[str], draw: random.Random | None = None, **options: Any
) -> syllabary.Tokenizer:
    """Our tokenizer; that it may stop early goes without saying."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        return syllabary.train(documents, threads=draw.choice([1, 2, 7]) if draw else 2, **options)


def saved(tok: syllabary.Tokenizer, path: Path, kind: str | None = None) -> bytes:
    tok.save(path, format=kind)
    return path.read_bytes()


def drawn(block: int, prove: bool) -> Iterator[tuple[random.Random, list[str], int]]:
    """Corpora of a block, each with its generator and a number of merges."""
    for number in range(MANY if prove else FEW):
        draw = random.Random(f"{block}:{number}")
        yield draw, train_peers.corpus(draw), draw.choice([0, 1, 3, 10, 40])


def real(shared: Path, name: str, prove: bool) -> str:
    """5 MB of a corpus; every day 1 MB."""
    with lzma.open(shared / "corpora" / f"{name}.txt.xz") as file:
        return file.read(5_000_000 if prove else 1_000_000).decode("utf-8", "ignore")


def only_sampled(name: str, prove: bool) -> None:
    """Skip the corpora that are for `make prove`."""
    if name not in SAMPLED and not prove:
        pytest.skip("SYLLABARY_PROVE is not set")


# ---- rustbpe ----


def check_rustbpe(documents: Sequence[str], num_merges: int, folder: Path, sample: str, **more: Any) -> None:
    peer = rustbpe.Tokenizer()
    peer.train_from_iterator(iter(documents), 256 + num_merges)
    tok = trained(documents, vocab_size=256 + num_merges, like="rustbpe", **more)
    ranks = sorted((rank, bytes(token)) for token, rank in peer.get_mergeable_ranks())
    assert list(tok.vocab.items()) == ranks
    assert tok.encode(sample) == peer.encode(sample)
    lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in ranks]
    assert saved(tok, folder / "a.tiktoken") == b"".join(lines)


@pytest.mark.parametrize("block", BLOCKS)
def test_rustbpe(block: int, prove: bool, tmp_path: Path) -> None:
    for draw, documents, num_merges in drawn(block, prove):
        check_rustbpe(documents, num_merges, tmp_path, "".join(documents), draw=draw)


@pytest.mark.parametrize("name", CORPORA)
def test_rustbpe_on_real_text(name: str, shared: Path, prove: bool, tmp_path: Path) -> None:
    only_sampled(name, prove)
    text = real(shared, name, prove)
    check_rustbpe(text.splitlines(keepends=True), 8000 if prove else 1500, tmp_path, text[:20_000])


# ---- Hugging Face ----


def check_hugging_face(
    documents: Sequence[str], num_merges: int, sample: str, draw: random.Random, folder: Path
) -> None:
    specials = draw.choice([[], ["<pad>"], ["<pad>", "a b"]])
    min_frequency = draw.choice([0, 1, 2, 3])
    symbols = len({byte for text in documents for byte in text.encode()})
    size = len(specials) + symbols + num_merges
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=min_frequency, special_tokens=specials, show_progress=False
    )
    peer.train_from_iterator(documents, trainer)
    model = json.loads(peer.to_str())["model"]
    given: dict[str, Any] = {"min_frequency": max(min_frequency, 1), "special_tokens": specials}
    tok = trained(documents, draw, vocab_size=size, like="huggingface", **given)
    merges = [[spell(left), spell(right)] for left, right in tok.merges]
    assert merges == [list(pair) for pair in model["merges"]]
    assert {spell(token): number for number, token in tok.spec.tokens.items()} | tok.special_tokens == model[
        "vocab"
    ]
    assert tok.encode(sample, special="allow") == peer.encode(sample).ids
    written = json.loads(saved(tok, folder / "tokenizer.json"))["model"]
    assert (written["vocab"], written["merges"]) == (model["vocab"], model["merges"])


@pytest.mark.parametrize("block", BLOCKS)
def test_hugging_face(block: int, prove: bool, tmp_path: Path) -> None:
    for draw, documents, num_merges in drawn(block, prove):
        check_hugging_face(documents, num_merges, "".join(documents), draw, tmp_path)


@pytest.mark.parametrize("name", CORPORA)
def test_hugging_face_on_real_text(name: str, shared: Path, prove: bool, tmp_path: Path) -> None:
    only_sampled(name, prove)
    text = real(shared, name, prove)
    lines, draw = text.splitlines(keepends=True), random.Random(name)
    check_hugging_face(lines, 8000 if prove else 1500, text[:20_000], draw, tmp_path)


# ---- minbpe, tiktoken's educational trainer, CS336 ----


def cut(documents: Sequence[str], pattern: str = GPT4_2023) -> list[str]:
    """Their pieces, by the library that they use."""
    return [piece for text in documents for piece in regex.findall(pattern, text)]


def check_minbpe(documents: Sequence[str], num_merges: int, draw: random.Random, folder: Path) -> None:
    pieces = cut(documents)
    merges = train_peers.learned(pieces, num_merges, train_peers.first_seen)
    tok = trained(documents, draw, vocab_size=256 + num_merges, like="minbpe")
    assert tok.merges == merges
    some = [text[:5000] for text in documents[:500]]
    ids = [number for row in tok.encode_batch(some) for number in row]
    assert ids == train_peers.minbpe_ids(cut(some), merges)
    assert saved(tok, folder / "a.model", "minbpe") == train_peers.minbpe_file(GPT4_2023, merges)


@pytest.mark.parametrize("block", BLOCKS)
def test_minbpe(block: int, prove: bool, tmp_path: Path) -> None:
    for draw, documents, num_merges in drawn(block, prove):
        check_minbpe(documents, num_merges, draw, tmp_path)


@pytest.mark.parametrize("block", BLOCKS)
def test_tiktokens_educational_trainer(block: int, prove: bool) -> None:
    """It takes one text, and fails where no pair is left: it is asked for as many as there are."""
    for draw, documents, num_merges in drawn(block, prove):
        text, pattern = "".join(documents), str(get("gpt4").pattern)
        tok = trained([text], draw, vocab_size=256 + num_merges, like="tiktoken")
        peer = _educational.SimpleBytePairEncoding.train(text, len(tok.vocab), pattern)
        assert {token: number for number, token in tok.vocab.items()} == peer.mergeable_ranks
        assert tok.encode(text) == peer.encode(text, visualise=None)


def check_cs336(documents: Sequence[str], num_merges: int, draw: random.Random, specials: list[str]) -> None:
    """Special tokens are boundaries, and the split is GPT-2's."""
    pattern = "|".join(regex.escape(token) for token in sorted(specials, key=len, reverse=True))
    runs = [run for text in documents for run in (regex.split(pattern, text) if pattern else [text])]
    merges = train_peers.learned(cut(runs, str(get("gpt2").pattern)), num_merges, train_peers.largest)
    tok = trained(documents, draw, num_merges=num_merges, like="cs336", special_tokens=specials)
    assert tok.merges == merges


@pytest.mark.parametrize("block", BLOCKS)
def test_cs336(block: int, prove: bool) -> None:
    for draw, documents, num_merges in drawn(block, prove):
        documents = [*documents, "xy"]  # else special tokens may be all that there is, which is an error
        check_cs336(documents, num_merges, draw, draw.choice([[], ["<|endoftext|>"], ["ab", "aba", "  "]]))


@pytest.mark.parametrize("name", CORPORA)
def test_minbpe_and_cs336_on_real_text(name: str, shared: Path, prove: bool, tmp_path: Path) -> None:
    """Written out they are slow: every day a part of the text."""
    only_sampled(name, prove)
    text, draw = real(shared, name, prove), random.Random(name)
    lines = text[: None if prove else 20_000].splitlines(keepends=True)
    check_minbpe(lines, 40 if prove else 20, draw, tmp_path)
    check_cs336(lines, 40 if prove else 20, draw, ["the", "α", "self"])


# ---- subword-nmt ----


def check_subword_nmt(text: str, num_merges: int, draw: random.Random, folder: Path) -> None:
    min_frequency, out = draw.choice([1, 2, 3]), io.StringIO()
    lines = [f"{line}\n" for line in text.split("\n")]
    learn_bpe.learn_bpe(lines, out, num_merges, min_frequency)
    codes = out.getvalue()
    given: dict[str, Any] = {"num_merges": num_merges, "min_frequency": min_frequency}
    tok = trained([text], draw, like="subword-nmt", **given)
    merges = [f"{left.decode()} {right.decode()}" for left, right in tok.merges]
    assert merges == codes.splitlines()[1:]
    if not merges or remade(tok.spec) is not None:
        return  # two ways to one token: a file read again would give other ids, so none is written
    assert saved(tok, folder / "codes.bpe") == codes.encode()
    peer, known = BPE(io.StringIO(codes)), set(tok.vocab.values())
    for word in sorted(set(text[:20_000].split()))[:300]:
        symbols = [*word[:-1], f"{word[-1]}</w>"]
        if known.issuperset(symbol.encode() for symbol in symbols):
            theirs = peer.segment(word).split()
            ours = [tok.vocab[number].decode() for number in tok.encode(word)]
            assert ours == [token.removesuffix("@@") for token in theirs[:-1]] + [f"{theirs[-1]}</w>"]


@pytest.mark.parametrize("block", BLOCKS)
def test_subword_nmt(block: int, prove: bool, tmp_path: Path) -> None:
    spaces = regex.compile(r"[\s--[ \n]]", regex.V1)
    for draw, documents, num_merges in drawn(block, prove):
        text = spaces.sub("_", "\n".join([*documents, "ab ab"]))  # of a text without pairs it makes an error
        check_subword_nmt(text, num_merges, draw, tmp_path)


@pytest.mark.parametrize("name", CORPORA)
def test_subword_nmt_on_real_text(name: str, shared: Path, prove: bool, tmp_path: Path) -> None:
    only_sampled(name, prove)
    text = regex.sub(r"[^\S \n]", "_", real(shared, name, prove)).replace("</w>", "<w>")
    check_subword_nmt(text, 1000 if prove else 40, random.Random(name), tmp_path)
