"""Training of unigram models: the engine gives what the specification does, and what sentencepiece does."""

from __future__ import annotations

import io
import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
import sentencepiece

import syllabary
from syllabary import PieceCounts
from syllabary.errors import CorpusError, EarlyStopWarning, TrainingError
from syllabary.formats.sentencepiece_write import write
from syllabary.reference import train_unigram_own, train_unigram_sentencepiece
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.spec import TokenizerSpec, TrainOptions
from syllabary.splits import get

SYLLABLES = ["ba", "na", "to", "be", "or", "not", "θεά", "μῆ", "νιν", "漢", "字", "q", "ing", "-"]


def drawn(seed: int, lines: int = 120) -> list[str]:
    """Lines of made-up words, some of them often."""
    source = random.Random(seed)
    words = ["".join(source.choices(SYLLABLES, k=source.randint(1, 4))) for _word in range(60)]
    return [" ".join(source.choices(words, k=source.randint(1, 9))) for _line in range(lines)]


def theirs(lines: Sequence[str], **options: Any) -> bytes:
    """The file that sentencepiece writes."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type="unigram",
        minloglevel=3,
        hard_vocab_limit=False,
        **options,
    )
    return written.getvalue()


OPTIONS: list[dict[str, Any]] = [
    {"vocab_size": 90},
    {"vocab_size": 70, "num_threads": 1, "character_coverage": 0.98},
    {"vocab_size": 400, "byte_fallback": True, "num_sub_iterations": 1},
    {"vocab_size": 90, "user_defined_symbols": ["na", "<x>"], "shrinking_factor": 0.6},
    {"vocab_size": 100, "split_by_unicode_script": False},
    {"vocab_size": 80, "max_sentencepiece_length": 4, "split_digits": True, "num_threads": 3},
]


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_as_sentencepiece_to_the_byte(number: int) -> None:
    lines, told = drawn(number), OPTIONS[number]
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}
    expected = theirs(lines, **told)
    tok = syllabary.train(
        ["\n".join(lines)],
        model="unigram",
        like="sentencepiece",
        options={**options, "hard_vocab_limit": False},
    )
    assert write(tok.spec) == expected
    own = SentencePieceOptions(model_type="unigram", hard_vocab_limit=False, **options)
    assert write(train_unigram_sentencepiece.train(lines, own)) == expected


@pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")
def test_the_part_that_a_round_keeps_is_reckoned_in_32_bits() -> None:
    """0.7 of 30 pieces are 21 there, and 20.999999 in 64 bits; so it comes to another model here."""
    source = random.Random(2)
    words = ["".join(source.choices(SYLLABLES, k=source.randint(1, 6))) for _word in range(200)]
    lines = [" ".join(source.choices(words, k=source.randint(1, 9))) for _line in range(400)]
    expected = theirs(lines, vocab_size=60, shrinking_factor=0.7)
    told = {"vocab_size": 60, "shrinking_factor": 0.7, "hard_vocab_limit": False}
    tok = syllabary.train(["\n".join(lines)], model="unigram", like="sentencepiece", options=told)
    assert write(tok.spec) == expected
    own = SentencePieceOptions(model_type="unigram", **told)
    assert write(train_unigram_sentencepiece.train(lines, own)) == expected


def same(left: TokenizerSpec, right: TokenizerSpec) -> None:
    """The same tokens; scores but for the rounding of 64 bits, as the engine adds probabilities."""
    assert left.tokens == right.tokens
    assert left.special_tokens == right.special_tokens
    assert dict(left.scores or {}) == pytest.approx(dict(right.scores or {}), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_our_own_is_that_of_the_specification(seed: int) -> None:
    lines = drawn(seed)
    tok = syllabary.train(lines, 330, model="unigram", special_tokens=["<end>"])
    counts = {piece.decode() if isinstance(piece, bytes) else piece: count for piece, count in
              PieceCounts.of(lines, special_tokens=["<end>"]).most_common()}  # fmt: skip
    options = TrainOptions(get("o200k"), vocab_size=330, special_tokens=("<end>",), alphabet="seen")
    same(tok.spec, train_unigram_own.train(counts, options))
    assert tok.spec.model == "unigram"
    for line in [*lines[:9], "unseen: Ψ \t\n  🙂 "]:
        assert tok.decode(tok.encode(line)) == line


def test_where_single_characters_are_dropped_it_is_that_of_the_specification() -> None:
    source = random.Random(5)
    triples = ["".join(map(chr, range(0x4E00 + 3 * n, 0x4E03 + 3 * n))) for n in range(30)]
    words = ["".join(source.choices(triples, k=source.randint(1, 3))) for _word in range(50)]
    lines = [" ".join(source.choices(words, k=6)) for _line in range(150)]
    with pytest.warns(EarlyStopWarning):
        tok = syllabary.train(lines, 256 + 100, model="unigram")
    counts = {piece.decode() if isinstance(piece, bytes) else piece: count for piece, count in
              PieceCounts.of(lines).most_common()}  # fmt: skip
    options = TrainOptions(get("o200k"), vocab_size=356, alphabet="seen")
    with pytest.warns(EarlyStopWarning):
        same(tok.spec, train_unigram_own.train(counts, options))
    learned = {text.decode() for token_id, text in tok.spec.tokens.items() if token_id >= 256}
    assert not set("".join(triples)) <= learned


def test_probabilities_of_what_is_learned_sum_to_one() -> None:
    tok = syllabary.train(drawn(11, 400), 340, model="unigram")
    scores = [score for token_id, score in (tok.spec.scores or {}).items() if token_id >= 256]
    assert len(scores) == 340 - 256
    assert sum(map(math.exp, scores)) == pytest.approx(1, rel=1e-9)


def test_it_warns_below_the_size_asked_for() -> None:
    lines = ["to be or not to be, that is the question " * 3] * 3
    says = r"training ended with a vocabulary of 268, not 10000; give more text, or ask for another size"
    with pytest.warns(EarlyStopWarning, match=says) as told:
        tok = syllabary.train(lines, 10_000, model="unigram", special_tokens=["<end>"])
    assert tok.vocab_size == 268
    assert [one.filename for one in told] == [__file__]
    with pytest.warns(EarlyStopWarning, match=says):
        train_unigram_own.train(
            {str(text): count for text, count in PieceCounts.of(lines).most_common()},
            TrainOptions(get("o200k"), vocab_size=10_000, special_tokens=("<end>",), alphabet="seen"),
        )


@pytest.mark.parametrize("like", [None, "sentencepiece"])
def test_threads_change_nothing(like: str | None) -> None:
    lines = ["\n".join(drawn(7, 400))]
    made = [
        syllabary.train(lines, 300 if like is None else 60, model="unigram", like=like, threads=threads).spec
        for threads in (1, 2, 7)
    ]
    assert made[0] == made[1] == made[2]


def test_a_table_of_counts_gives_the_same() -> None:
    lines = drawn(3)
    whole = syllabary.train(lines, 300, model="unigram")
    table = syllabary.train(PieceCounts.of(lines), 300, model="unigram")
    assert whole.spec.tokens == table.spec.tokens
    assert whole.spec.scores == table.spec.scores


def test_more_characters_than_room() -> None:
    text = "".join(map(chr, range(0x4E00, 0x5200))) * 2
    with pytest.warns(EarlyStopWarning, match=r"a vocabulary of \d+, not 300"):
        tok = syllabary.train([text], 300, model="unigram")
    assert tok.vocab_size <= 300
    assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize(
    "told, message",
    [
        ({"vocab_size": 256}, "leave no room for a token: set it to 257"),
        ({"unit": "byte"}, "unit does not go with model='unigram'"),
        ({"fallback": True}, "fallback does not go"),
        ({"options": {"a": 1}}, "options are a tool's own"),
        ({"like": "rustbpe"}, "only like='sentencepiece' and like='huggingface' do"),
        ({"like": "sentencepiece", "vocab_size": 4}, "vocab_size is 4, but the alphabet has"),
        ({"like": "sentencepiece", "vocab_size": 5000}, "gives no more than"),
        ({"like": "sentencepiece", "options": {"shrinking_factor": 0.1}}, "sentencepiece takes 0.5 to 0.95"),
        ({"like": "sentencepiece", "options": {"model_type": "bpe"}}, "leave it out"),
        (
            {"like": "sentencepiece", "options": {"auto_character_coverage": True, "byte_fallback": True}},
            "goes with BPE alone",
        ),
    ],
)
def test_what_does_not_go(told: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        syllabary.train(["to be or not to be"], model="unigram", **told)


@pytest.mark.parametrize("like", [None, "sentencepiece"])
def test_nothing_to_learn_from(like: str | None) -> None:
    with pytest.raises(CorpusError, match="empty"):
        syllabary.train([""], model="unigram", like=like)


def test_progress_is_told_and_ends_it() -> None:
    seen = list[str]()

    def report(now: Any) -> None:
        seen.append(now.stage)
        raise KeyError("enough")

    with pytest.raises(KeyError):
        syllabary.train(drawn(1, 4000), 300, model="unigram", progress=report)
    assert seen
