"""Training in the reference: equal to counting everything again for each merge, and to the peers.

Leaves out: the worked examples (`test_examples`) and what may be wrong with options (`test_reference`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
import rustbpe  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, few
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from syllabary import splits
from syllabary.errors import EarlyStopWarning
from syllabary.reference import ReferenceTokenizer, pieces, train_steps
from syllabary.reference.bytes_to_unicode import spell
from syllabary.reference.merge import count_pairs, merge
from syllabary.reference.places import Places
from syllabary.reference.train import train
from syllabary.spec import SplitSpec, TieBreak, TrainOptions, Unit

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

GPT2 = splits.get("gpt2")
TIES: list[TieBreak] = ["smallest-ids", "first-seen", "largest-pair"]
Pair = tuple[int, int]


def naive_merge(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    out: list[int] = []
    for item in ids:
        if out and (out[-1], item) == pair:
            out[-1] = new_id
        else:
            out.append(item)
    return out


def naive_train(
    sequences: Sequence[list[int]], spelling: list[bytes], options: TrainOptions
) -> list[tuple[Pair, int]]:
    """Every merge and its count, by counting all of the corpus again: nothing is deduplicated."""
    sequences, spelling, sizes = list(sequences), list(spelling), [1] * len(spelling)
    learned: list[tuple[Pair, int]] = []
    for _ in range(options.num_merges or 0):
        counts: dict[Pair, int] = {}  # in order of first occurrence
        for ids in sequences:
            for pair in pairwise(ids):
                counts[pair] = counts.get(pair, 0) + 1
        limit = options.max_token_length
        counts = {
            pair: n for pair, n in counts.items() if limit is None or sizes[pair[0]] + sizes[pair[1]] <= limit
        }
        best = max(counts.values(), default=0)
        if best < options.min_frequency:
            break
        tied = [pair for pair in counts if counts[pair] == best]
        by_string = {pair: (spelling[pair[0]], spelling[pair[1]]) for pair in tied}
        chosen = {
            "first-seen": tied[0],
            "smallest-ids": sorted(tied)[0],
            "largest-pair": sorted(tied, key=by_string.__getitem__)[-1],
        }[options.tie_break]
        sequences = [naive_merge(ids, chosen, len(spelling)) for ids in sequences]
        spelling.append(spelling[chosen[0]] + spelling[chosen[1]])
        sizes.append(sizes[chosen[0]] + sizes[chosen[1]])
        learned.append((chosen, best))
    return learned


def naive_sequences(
    documents: list[str], unit: Unit, split: SplitSpec
) -> tuple[list[list[int]], list[bytes]]:
    """All sequences of the corpus in order, and the alphabet: sorted, for bytes all 256."""
    cut = [pieces(document, split) for document in documents]
    if unit == "byte":
        return [list(piece.encode()) for row in cut for piece in row], [bytes([n]) for n in range(256)]
    rows = cut if unit == "word" else [list(piece) for row in cut for piece in row]
    alphabet = sorted({symbol.encode() for row in rows for symbol in row})
    return [[alphabet.index(symbol.encode()) for symbol in row] for row in rows], alphabet


@pytest.mark.parametrize("unit", ["byte", "char", "word"])
@pytest.mark.parametrize("tie_break", TIES)
@few(30)
@given(
    documents=corpora().filter(any),
    split=st.sampled_from([GPT2, splits.get("latin"), splits.get("none")]),
    num_merges=st.integers(0, 25),
    min_frequency=st.integers(1, 3),
    max_token_length=st.none() | st.integers(1, 5),
)
def test_training_equals_a_recount_of_everything(
    unit: Unit,
    tie_break: TieBreak,
    documents: list[str],
    split: SplitSpec,
    num_merges: int,
    min_frequency: int,
    max_token_length: int | None,
) -> None:
    options = TrainOptions(
        split,
        unit=unit,
        num_merges=num_merges,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        tie_break=tie_break,
    )
    sequences, alphabet = naive_sequences(documents, unit, split)
    steps = list(train_steps(documents, options))
    assert [(step.pair, step.count) for step in steps] == naive_train(sequences, alphabet, options)
    assert [step.rank for step in steps] == list(range(len(steps)))
    assert [step.new_id for step in steps] == [len(alphabet) + rank for rank in range(len(steps))]
    spelling = alphabet + [step.left + step.right for step in steps]
    assert [(step.left, step.right) for step in steps] == [
        (spelling[step.pair[0]], spelling[step.pair[1]]) for step in steps
    ]


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4)), max_size=6),
    st.lists(st.integers(0, 1000), max_size=8),
)
def test_places_keep_their_law(counted: list[tuple[list[int], int]], choices: list[int]) -> None:
    """After any merges, in any order, counts and sequences are those of `count_pairs` and `merge`."""
    sequences = [ids for ids, _times in counted]
    starts = [sum(map(len, sequences[:k])) for k in range(len(sequences))]
    places = Places(sequences, [times for _ids, times in counted])
    for new_id, choice in enumerate(choices, start=4):
        if not places.counts:
            break
        pair = sorted(places.counts)[choice % len(places.counts)]
        places.merge(pair, new_id)
        sequences = [merge(ids, pair, new_id) for ids in sequences]
        expected: Counter[Pair] = Counter()
        for ids, (_first, times) in zip(sequences, counted, strict=True):
            expected.update({pair: count * times for pair, count in count_pairs(ids).items()})
        assert places.counts == expected
        assert {count: set(pairs) for count, pairs in places.by_count.items()} == {
            count: {pair for pair in expected if expected[pair] == count} for count in set(expected.values())
        }
        for start, ids in zip(starts, sequences, strict=True):
            assert not ids or places.sequence(start) == ids


# ---- the peers ----

RUSTBPE_PATTERN = splits.get("gpt4").pattern


@given(corpora().filter(any), st.integers(0, 40))
def test_rustbpe_learns_the_same(documents: list[str], num_merges: int) -> None:
    """rustbpe: smallest ids over raw bytes, no floor on the count."""
    peer = rustbpe.Tokenizer()
    peer.train_from_iterator(iter(documents), 256 + num_merges, pattern=RUSTBPE_PATTERN)
    ranks = sorted((rank, bytes(token)) for token, rank in peer.get_mergeable_ranks())
    options = TrainOptions(splits.get("gpt4"), vocab_size=256 + num_merges, min_frequency=1)
    spec = train(documents, options)
    assert sorted(spec.tokens.items()) == ranks


def hugging_face(
    documents: list[str], vocab_size: int, min_frequency: int, specials: list[str], alphabet: list[str]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """vocab and merges of `BpeTrainer` over GPT-2's byte level."""
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=specials,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    peer.train_from_iterator(documents, trainer)
    model = json.loads(peer.to_str())["model"]
    return model["vocab"], [(left, right) for left, right in model["merges"]]


@given(
    documents=corpora().filter(any),
    num_merges=st.integers(0, 40),
    min_frequency=st.integers(1, 3),
    specials=st.sampled_from([[], ["<pad>"], ["<pad>", "<unk>"]]),
    whole_alphabet=st.booleans(),
)
def test_hugging_face_learns_the_same(
    documents: list[str], num_merges: int, min_frequency: int, specials: list[str], whole_alphabet: bool
) -> None:
    """Hugging Face: smallest ids over GPT-2's order of the bytes, special tokens first, in the text plain."""
    symbols = 256 if whole_alphabet else len({byte for text in documents for byte in text.encode()})
    options = TrainOptions(
        GPT2,
        vocab_size=len(specials) + symbols + num_merges,
        min_frequency=min_frequency,
        special_tokens=tuple(specials),
        special_first=True,
        cut_special=False,
        byte_order="gpt2",
        alphabet="all" if whole_alphabet else "seen",
    )
    initial = pre_tokenizers.ByteLevel.alphabet() if whole_alphabet else []
    vocab, merges = hugging_face(documents, options.vocab_size or 0, min_frequency, specials, initial)
    spec = train(documents, options)
    assert {spell(token): token_id for token_id, token in spec.tokens.items()} | dict(
        spec.special_tokens
    ) == vocab
    assert spec.merges is not None
    assert [(spell(spec.tokens[a]), spell(spec.tokens[b])) for a, b, _ in spec.merges] == merges


# ---- what training promises ----


@given(corpora().filter(any), st.sampled_from(TIES))
def test_the_same_corpus_gives_the_same_tokenizer(documents: list[str], tie_break: TieBreak) -> None:
    options = TrainOptions(GPT2, num_merges=20, tie_break=tie_break)
    assert train(documents, options) == train(iter(documents), options)


def test_special_tokens_are_boundaries_and_never_counted() -> None:
    options = TrainOptions(SplitSpec(None), num_merges=9, min_frequency=1, special_tokens=("<s>",))
    merges = [(step.left, step.right) for step in train_steps(["ab<s>ab<s>"], options)]
    assert merges == [(b"a", b"b")]
    plain = [
        step.left + step.right for step in train_steps(["ab<s>ab<s>"], replace(options, cut_special=False))
    ]
    assert plain[0] == b"<s"


def test_training_stops_early_and_says_at_which_size() -> None:
    with pytest.warns(EarlyStopWarning, match="after 1 of 44 merges with a vocabulary of 257"):
        spec = train(["abab"], TrainOptions(SplitSpec(None), vocab_size=300))
    assert len(spec.tokens) == 257


def test_the_length_limit_is_inclusive() -> None:
    options = TrainOptions(SplitSpec(None), num_merges=50, max_token_length=4)
    assert max(map(len, train(["abcdefgh" * 20], options).tokens.values())) == 4
    one = train(["abcdefgh" * 20], replace(options, max_token_length=1))
    assert one.merges == ()


def test_word_merges_never_cross_documents_or_special_tokens() -> None:
    options = TrainOptions(
        splits.get("latin"), unit="word", num_merges=9, min_frequency=1, special_tokens=("<s>",)
    )
    spec = train(["arma virum", " cano<s> Troiae"], options)
    assert [spec.tokens[result] for _left, _right, result in spec.merges or ()] == [b"arma virum"]
    tok = ReferenceTokenizer(spec)
    assert tok.tokens(" cano<s> Troiae", special="allow") == [b" cano", b"<s>", b" Troiae"]
