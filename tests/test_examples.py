"""The worked examples that people learn from, reproduced exactly by every implementation.

Each oracle is written here as its tutorial writes it, in its own few lines, and shares no code with ours.
Leaves out: the Hugging Face course as commonly run and word-level Latin (`test_examples_course`,
`test_examples_latin`).
"""

from __future__ import annotations

import io
import json
import lzma
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from implementations import Implementation, each, merges_of, train_merges
from published import ENDOFTEXT, cl100k, gpt2, gpt2_merges, ranks
from strategies import texts
from subword_nmt.learn_bpe import learn_bpe  # type: ignore[import-untyped]
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from syllabary import splits
from syllabary.reference import pieces
from syllabary.reference.bytes_to_unicode import spell
from syllabary.reference.merge import by_merges, merge, merge_states
from syllabary.reference.train import pair_table
from syllabary.spec import SplitSpec, TrainOptions

NO_SPLIT = SplitSpec(None)
TEXT = """Ｕｎｉｃｏｄｅ! 🅤🅝🅘🅒🅞🅓🅔‽ The very name strikes fear and awe into the hearts of programmers
worldwide. We all know we ought to "support" it in our software, whatever that means; aaaa aaaaa aaab.
Quae cum ita sint, 統一碼は文字を and the theory of the thing is that then they thought it through. """

# ---- minbpe ----

Ids = list[int]
Merges = dict[tuple[int, int], int]


def minbpe_stats(ids: Ids, counts: Merges | None = None) -> Merges:
    counts = {} if counts is None else counts
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def minbpe_merge(ids: Ids, pair: tuple[int, int], idx: int) -> Ids:
    new, i = [], 0
    while i < len(ids):
        here = ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]
        new.append(idx if here else ids[i])
        i += 2 if here else 1
    return new


def minbpe_train(chunks: list[str], vocab_size: int) -> Merges:
    ids, merges = [list(chunk.encode("utf-8")) for chunk in chunks], Merges()
    for idx in range(256, vocab_size):
        stats = Merges()
        for chunk_ids in ids:
            minbpe_stats(chunk_ids, stats)
        pair = max(stats, key=lambda pair: stats[pair])
        ids = [minbpe_merge(chunk_ids, pair, idx) for chunk_ids in ids]
        merges[pair] = idx
    return merges


def minbpe_encode(chunk: str, merges: Merges) -> Ids:
    ids = list(chunk.encode("utf-8"))
    while len(ids) >= 2:
        pair = min(minbpe_stats(ids), key=lambda pair: merges.get(pair, float("inf")))
        if pair not in merges:
            break
        ids = minbpe_merge(ids, pair, merges[pair])
    return ids


def minbpe_options(split: SplitSpec, vocab_size: int = 276) -> TrainOptions:
    return TrainOptions(split, vocab_size=vocab_size, min_frequency=1, tie_break="first-seen")


@each
@pytest.mark.parametrize("split", [NO_SPLIT, splits.get("gpt4")], ids=["basic", "regex"])
def test_minbpe_learns_the_same_merges_and_gives_the_same_ids(
    implementation: Implementation, split: SplitSpec
) -> None:
    spec = implementation.train([TEXT], minbpe_options(split))
    merges = minbpe_train(pieces(TEXT, split), 276)
    assert spec.merges is not None
    assert list(spec.merges) == [(left, right, result) for (left, right), result in merges.items()]
    assert [result for _left, _right, result in spec.merges] == list(range(256, 276))
    tok = implementation.tokenizer(spec)
    for text in (TEXT, "hello world!!!? (안녕하세요!) lol123 😉 the theory", "?", "aaaaa"):
        expected = [token for chunk in pieces(text, split) for token in minbpe_encode(chunk, merges)]
        assert tok.encode(text) == expected
        assert tok.decode(expected) == text


@each
def test_minbpe_wikipedia_example(implementation: Implementation) -> None:
    """`aaabdaaabac`: Z=aa, then Y=ab (here (Z, a), which is seen first), then the rest; 258 is `aaab`."""
    spec = implementation.train(["aaabdaaabac"], minbpe_options(NO_SPLIT, 259))
    tok = implementation.tokenizer(spec)
    assert merges_of(spec) == [(b"a", b"a"), (b"aa", b"a"), (b"aaa", b"b")]
    assert tok.encode("aaabdaaabac") == [258, 100, 258, 97, 99]


@each
def test_a_lone_continuation_byte_decodes_to_the_replacement_character(
    implementation: Implementation,
) -> None:
    tok = implementation.tokenizer(implementation.train([TEXT], minbpe_options(NO_SPLIT)))
    assert tok.decode([128]) == "\ufffd"
    assert tok.decode([128], errors="ignore") == ""
    assert tok.decode_bytes([128]) == b"\x80"


@each
def test_the_empty_text_has_no_ids(implementation: Implementation) -> None:
    tok = implementation.tokenizer(implementation.train([TEXT], minbpe_options(NO_SPLIT)))
    assert tok.encode("") == []
    assert tok.decode([]) == ""


# ---- low, lower, newest, widest ----

WORDS = "low lower newest widest"


def word_options(tie_break: str, num_merges: int = 1) -> TrainOptions:
    split = splits.get("whitespace-split")
    return TrainOptions(
        split,
        unit="char",
        num_merges=num_merges,
        min_frequency=1,
        tie_break="largest-pair" if tie_break == "largest-pair" else "first-seen",
        end_of_word="</w>",
    )


def subword_nmt_merges(text: str, num_merges: int, min_frequency: int) -> list[tuple[bytes, bytes]]:
    out = io.StringIO()
    learn_bpe(io.StringIO(text), out, num_merges, min_frequency=min_frequency)
    lines = out.getvalue().splitlines()[1:]
    return [(left.encode(), right.encode()) for left, right in (line.split(" ") for line in lines)]


@each
def test_the_initial_vocabulary_has_11_symbols(implementation: Implementation) -> None:
    spec = implementation.train([WORDS], word_options("largest-pair"))
    symbols = {symbol.decode() for symbol in spec.alphabet}
    assert symbols == {"l", "o", "w", "w</w>", "e", "r</w>", "n", "s", "t</w>", "i", "d"}
    assert list(spec.alphabet.values()) == list(range(11))


def test_the_pair_table_has_12_rows() -> None:
    table = pair_table([WORDS], word_options("largest-pair"))
    assert [(left.decode(), right.decode(), count) for (left, right), count in table.items()] == [
        ("l", "o", 2), ("o", "w</w>", 1), ("o", "w", 1), ("w", "e", 2), ("e", "r</w>", 1), ("n", "e", 1),
        ("e", "w", 1), ("e", "s", 2), ("s", "t</w>", 2), ("w", "i", 1), ("i", "d", 1), ("d", "e", 1),
    ]  # fmt: skip


def test_the_pair_table_after_the_first_merge() -> None:
    table = pair_table([WORDS], word_options("largest-pair"), after=1)
    assert (b"w", b"e") not in table
    assert table[b"we", b"r</w>"] == table[b"we", b"s"] == table[b"e", b"we"] == table[b"o", b"we"] == 1
    assert table[b"e", b"s"] == 1  # that of `widest`


@each
def test_the_first_merge_is_the_largest_pair_and_the_encoding_after_it(
    implementation: Implementation,
) -> None:
    spec = implementation.train([WORDS], word_options("largest-pair"))
    assert merges_of(spec) == [(b"w", b"e")]
    tok = implementation.tokenizer(spec)
    cut = [
        "l",
        "o",
        "w</w>",
        "l",
        "o",
        "we",
        "r</w>",
        "n",
        "e",
        "we",
        "s",
        "t</w>",
        "w",
        "i",
        "d",
        "e",
        "s",
        "t</w>",
    ]
    assert [token.decode() for token in tok.tokens(WORDS)] == cut
    assert tok.decode(tok.encode(WORDS)) == WORDS


@each
def test_by_first_seen_the_first_merge_is_another(implementation: Implementation) -> None:
    assert train_merges(implementation, [WORDS], word_options("first-seen")) == [(b"l", b"o")]


@each
@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize("min_frequency", [1, 2, 3])
@pytest.mark.parametrize("text", [WORDS, TEXT, TEXT * 2 + WORDS], ids=["words", "text", "both"])
def test_subword_nmt_learns_the_same_merges(
    implementation: Implementation, text: str, min_frequency: int
) -> None:
    text = " ".join(text.split())
    expected = subword_nmt_merges(text, 60, min_frequency)
    options = TrainOptions(
        splits.get("whitespace-split"),
        unit="char",
        num_merges=60,
        min_frequency=min_frequency,
        tie_break="largest-pair",
        end_of_word="</w>",
    )
    assert train_merges(implementation, [text], options) == expected


# ---- GPT-2's path ----

HELLO = "Hello how are you hope you are well"


def test_gpt2_step_by_step(shared: Path) -> None:
    """Split, UTF-8, bytes to unicode, merges by rank, ids: all with the pieces of the reference."""
    cut = pieces(HELLO, splits.get("gpt2"))
    assert cut == ["Hello", " how", " are", " you", " hope", " you", " are", " well"]
    spelled = [spell(piece.encode("utf-8")) for piece in cut]
    assert spelled == ["Hello", "Ġhow", "Ġare", "Ġyou", "Ġhope", "Ġyou", "Ġare", "Ġwell"]

    ids: dict[str, int] = json.loads((shared / "vocabs" / "gpt2_encoder.json").read_text(encoding="utf-8"))
    rule = by_merges((ids[left], ids[right], ids[left + right]) for left, right in gpt2_merges(shared))
    token = {number: spelling for spelling, number in ids.items()}
    states = [list(merge_states([ids[character] for character in word], rule)) for word in spelled]
    assert [[token[i] for i in state] for state in states[0]] == [
        ["H", "e", "l", "l", "o"],
        ["H", "e", "ll", "o"],
        ["H", "ell", "o"],
        ["H", "ello"],
        ["Hello"],
    ]
    assert [number for word in states for number in word[-1]] == [15496, 703, 389, 345, 2911, 345, 389, 880]


@each
def test_gpt2_gives_its_ids(implementation: Implementation, shared: Path) -> None:
    tok = implementation.tokenizer(gpt2(shared))
    assert tok.encode(HELLO) == [15496, 703, 389, 345, 2911, 345, 389, 880]
    assert tok.decode([15496, 703, 389, 345, 2911, 345, 389, 880]) == HELLO
    assert tok.encode(f"{HELLO}{ENDOFTEXT}", special="allow")[-1] == 50256


# ---- small prints ----


def test_merge_as_minbpe_prints_it() -> None:
    assert merge([5, 6, 6, 7, 9, 1], (6, 7), 99) == [5, 6, 99, 9, 1]


def test_gpt2_pattern_as_printed() -> None:
    gpt2_split = splits.get("gpt2")
    assert pieces("Hello've world123 how's are you!!!?", gpt2_split) == [
        "Hello", "'ve", " world", "123", " how", "'s", " are", " you", "!!!?",
    ]  # fmt: skip
    assert pieces("This is a test to find how this regex234 work346s", gpt2_split) == [
        "This", " is", " a", " test", " to", " find", " how", " this", " regex", "234", " work", "346", "s",
    ]  # fmt: skip


@each
def test_cl100k_as_printed(implementation: Implementation, shared: Path) -> None:
    tok = implementation.tokenizer(cl100k(shared))
    assert tok.encode("Random tes2345t string!!") == [14326, 51309, 11727, 20, 83, 925, 3001]


# ---- cl100k against tiktoken ----


@pytest.fixture(scope="module")
def tiktoken_cl100k(shared: Path) -> tiktoken.Encoding:
    """tiktoken's own cl100k_base, pattern and all, over the file in `shared`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            openai_public,
            "load_tiktoken_bpe",
            lambda *_args, **_kwargs: ranks(shared, "cl100k_base.tiktoken"),
        )
        return tiktoken.Encoding(**openai_public.cl100k_base())


CORPORA = ["chinese", "code", "english", "greek", "japanese", "latin", "multilingual", "wikitext2_valid"]


@each
@pytest.mark.parametrize("name", CORPORA)
def test_cl100k_on_the_corpora(
    implementation: Implementation, shared: Path, tiktoken_cl100k: tiktoken.Encoding, name: str
) -> None:
    with lzma.open(shared / "corpora" / f"{name}.txt.xz") as file:
        text = file.read(2_000_000).decode("utf-8", "ignore")[: implementation.corpus_characters]
    tok = implementation.tokenizer(cl100k(shared))
    assert tok.encode(text, special="text") == tiktoken_cl100k.encode_ordinary(text)


@each
def test_cl100k_on_generated_text(
    implementation: Implementation, shared: Path, tiktoken_cl100k: tiktoken.Encoding
) -> None:
    tok = implementation.tokenizer(cl100k(shared))

    @given(texts())
    def same_ids(text: str) -> None:
        ids = tok.encode(text, special="text")
        assert ids == tiktoken_cl100k.encode_ordinary(text)
        assert tok.decode(ids) == text

    same_ids()


def test_the_oracles_count_as_counter_does() -> None:
    ids = list(TEXT.encode())
    assert minbpe_stats(ids) == Counter(pairwise(ids))
