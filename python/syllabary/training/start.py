"""`train(..., start=tok)`: learning goes on from a tokenizer, with the engine.

Adds what the tokenizer decides of the options, the way of its text to the trainer (special and added tokens,
normalizer and pre-tokenizer are as in its `encode`), and the finished tokenizer. Leaves out: what all this
means (`reference.train_start`), and the training itself (`call`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from syllabary import splits
from syllabary._engine import Normalizer, Pretokenizer, Trainer
from syllabary.arguments import LARGEST, thread_count
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Part
from syllabary.errors import CorpusError, TrainingError
from syllabary.formats import recover_merges
from syllabary.piece_table import PieceTable
from syllabary.progress import Report
from syllabary.reference import train_start
from syllabary.reference.added import PLAIN, find
from syllabary.reference.check import token_bytes
from syllabary.reference.pipeline import later_names
from syllabary.reference.special import cut_by_policy
from syllabary.reference.symbols import utf8
from syllabary.reference.ties import Pair
from syllabary.spec import Form, TokenizerSpec, TrainOptions
from syllabary.tokenizer import Tokenizer
from syllabary.training.checkpoint import Checkpoint
from syllabary.training.counted import corpus_record, count_table
from syllabary.training.feed import Takes, feed, feed_runs, no_piece, uncut
from syllabary.training.learning import learn
from syllabary.training.memory import Room
from syllabary.training.watched import count

DECIDED = "start decides it, and has {own}: leave {name} out"


def take_start(
    start: Any, like: str | None, given: Mapping[str, Any], same: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of `train` with what `start` decides filled in.

    What is for the new merges alone (`min_frequency`, `tie_break`) is as given, else as the record of `start`
    has it. Raises `TrainingError` for what contradicts it, and for a tokenizer that cannot be continued.
    """
    if not isinstance(start, Tokenizer):
        raise TypeError(f"start is {type(start).__name__}: give a Tokenizer, as syllabary.load opens one")
    spec = start.spec
    train_start.check_start(spec)
    if like is not None and like != spec.record.get("like"):
        own = spec.record.get("like") or "no tool that is known"
        raise TrainingError(f"like={like!r} is not as start was trained (like {own}): leave like out")
    _check(spec, given, same)
    size = len(token_bytes(spec))
    if isinstance(same["vocab_size"], int) and same["vocab_size"] <= size:
        raise train_start.no_room(same["vocab_size"], size)
    every_byte = spec.unit != "byte" or len(spec.alphabet) >= 256
    decided = {
        "split": spec.split,
        "unit": spec.unit,
        "end_of_word": spec.end_of_word,
        "normalize": form_of(spec),
        "alphabet": "all" if every_byte else "seen",
        "cut_special": True,
        "byte_order": spec.record.get("byte_order", "raw"),
    }
    known = _record(spec)
    learned = {
        name: known[name]
        for name in ("min_frequency", "tie_break")
        if like is None and given[name] is ... and name in known
    }
    named = sorted(spec.special_tokens, key=spec.special_tokens.__getitem__)
    return (
        {**given, **decided, **learned},
        {**same, "special_tokens": tuple(named), "fallback": spec.fallback},
    )


def _record(spec: TokenizerSpec) -> Mapping[str, Any]:
    """Its record; where it was trained by options of Hugging Face's trainer, with what they say of pairs."""
    options = spec.record.get("options")
    if spec.record.get("like") != "huggingface" or not isinstance(options, Mapping):
        return spec.record
    least = options.get("min_frequency", 0)
    return {"min_frequency": max(least, 1)} | dict(spec.record) if isinstance(least, int) else spec.record


def _check(spec: TokenizerSpec, given: Mapping[str, Any], same: Mapping[str, Any]) -> None:
    """Raise `TrainingError` for an argument that is given and not as `start` has it."""
    own: dict[str, str | None] = {"unit": spec.unit, "byte_order": None, "alphabet": None}
    for name, value in own.items():
        if given[name] is not ... and given[name] != value:
            kept = f"{name}={value!r}" if value is not None else "its alphabet already"
            raise TrainingError(f"{name}={given[name]!r}: " + DECIDED.format(own=kept, name=name))
    if given["split"] is not ...:
        split = splits.get(given["split"])
        if replace(split, name=None) != replace(spec.split, name=None):
            kept = spec.split.name or spec.split.pattern or "none"
            raise TrainingError(f"split={given['split']!r}: " + DECIDED.format(own=kept, name="split"))
    for name, value in (("end_of_word", spec.end_of_word), ("normalize", form_of(spec))):
        if given[name] is not None and given[name] != value:
            kept = "none" if value is None else repr(value)
            raise TrainingError(f"{name}={given[name]!r}: " + DECIDED.format(own=kept, name=name))
    if same["fallback"] and not spec.fallback:
        raise TrainingError("fallback=True: " + DECIDED.format(own="fallback=False", name="fallback"))
    for token in same["special_tokens"]:
        if token not in spec.special_tokens:
            raise TrainingError(
                f"special_tokens: {token!r} is none of start's; add it first, with syllabary.surgery.add or "
                "`syllabary edit --add-special`"
            )


def form_of(spec: TokenizerSpec) -> Form | None:
    """The normal form that a tokenizer's normalizer is, if it is no more than that."""
    kinds = [step.kind for step in spec.normalizer if not step.options]
    return next((form for form in get_args(Form) if kinds == [form] and len(spec.normalizer) == 1), None)


class Continuing:
    """A training that goes on from a tokenizer: its text, its limits, its end.

    start: the tokenizer in local ids. options: as `train` has them.
    trainer_options: the same for the engine, which cuts at added tokens as well.
    """

    def __init__(self, tok: Tokenizer, options: TrainOptions) -> None:
        """Raises `TrainingError` if the vocabulary is larger than the size asked for."""
        spec = tok.spec
        merges = recover_merges(spec.tokens) if spec.merges is None and spec.scores is None else None
        self.start = train_start.start_of(spec, merges)
        self.options = options
        matching = {
            name: spec.matching.get(name, PLAIN) for name in (*spec.special_tokens, *spec.added_tokens)
        }
        found = tuple(name for name, rule in matching.items() if rule.stage != "never")
        steps = spec.pretokenizer or (spec.normalizer and form_of(spec) is None)
        self.plain = not steps and all(matching[name] == PLAIN for name in found)
        self.trainer_options = replace(
            options,
            split=spec.split,
            unit=spec.unit,
            special_tokens=found,
            cut_special=True,
            end_of_word=spec.end_of_word,
            fallback=spec.fallback,
            normalize=form_of(spec) if self.plain else None,
        )
        train_start.budget(options, self.start, 0)  # an hour of counting would not make it fit

    @property
    def engine_start(self) -> tuple[list[bytes], NDArray[np.uint32]]:
        """Tokens and merges as the engine takes them."""
        rows = np.array(self.start.merges, dtype=np.uint32).reshape(-1, 3)
        return self.start.tokens, rows

    def feed(self, trainer: Takes, read: Corpus, report: Report | None) -> int:
        """Hands every document to the engine; the bytes of text that there were, before normalizing."""
        normalized = bool(self.start.spec.normalizer)
        if self.plain:
            return feed(trainer, read.parts(normalized=normalized), self.trainer_options, report)
        runs = _Runs(self.start.spec)
        parts = runs.of(document.text for document in read.read(normalized))
        feed_runs(trainer, parts, runs, self.start.spec.end_of_word, report)
        return runs.bytes

    def without_whole(self, trainer: Trainer, make: Callable[[], Trainer]) -> Trainer:
        """The trainer without pieces that the tokenizer takes for a token which no merge makes."""
        whole = self.start.unmade if self.start.spec.whole_pieces else {}
        if not whole:
            return trainer
        data, ends, counts, firsts = trainer.counts_and_places()
        pieces = [data[begin:end] for begin, end in pairwise([0, *ends.tolist()])]
        order = np.argsort(firsts)
        kept = [at for at in order.tolist() if pieces[at] not in whole]
        if len(kept) == len(pieces):
            return trainer
        smaller = make()
        sizes = np.array([len(pieces[at]) for at in kept], dtype=np.uint64)
        joined = b"".join(pieces[at] for at in kept)
        smaller.feed_counts(joined, np.cumsum(sizes, dtype=np.uint64), counts[kept])
        return smaller

    @property
    def limits(self) -> tuple[int, int]:
        """The most tokens and the most merges for the engine; not all of them may be needed (`finish`)."""
        merges = LARGEST if self.options.num_merges is None else self.options.num_merges
        if self.options.vocab_size is None:
            return LARGEST, merges
        room = self.options.vocab_size - self.start.size
        return min(room + len(self.start.tokens) + len(self.start.unmade), LARGEST), merges

    def finish(
        self, tokens: list[bytes], pairs: list[Pair], counts: list[int], stacklevel: int = 2
    ) -> TokenizerSpec:
        """The tokenizer, with the counts of the new merges in its record; warns of an early stop.

        tokens: start's and the new symbols. pairs: in local ids; those for which there is no room are left.
        """
        symbols = tokens[len(self.start.tokens) :]
        spelled = list(tokens)
        for left, right in pairs:
            spelled.append(spelled[left] + spelled[right])
        room = train_start.budget(self.options, self.start, len(symbols))
        kept = train_start.kept(self.options, self.start, spelled[len(tokens) :], room)
        spec = train_start.continued(self.start, self.options, symbols, pairs[:kept])
        train_start.warn_early_stop(self.start, self.options, spec, stacklevel + 1)
        return replace(spec, record={**spec.record, "counts": counts[:kept]})


def train_on(
    source: Corpus | PieceTable,
    options: TrainOptions,
    start: Tokenizer,
    *,
    like: str | None,
    threads: int | None,
    report: Report | None,
    kept: Checkpoint | None = None,
    room: Room | None = None,
) -> Tokenizer:
    """Learn on top of `start`, with a checkpoint if there is one.

    The early-stop warning points at the caller's caller's caller.
    """
    going = Continuing(start, options)

    def made() -> Trainer:
        return Trainer(uncut(going.trainer_options), thread_count(threads), room)

    trainer = made()
    if isinstance(source, PieceTable):
        if not going.plain:
            raise TrainingError(
                "start cuts or rewrites text by steps of its own: give text, no table of counts"
            )
        size = count_table(trainer, source, going.trainer_options, like, kept)
    else:
        size = count(
            trainer,
            source,
            bool(start.spec.normalizer),
            lambda takes: going.feed(takes, source, report),
            kept,
        )
    if trainer.distinct_pieces == 0:
        raise no_piece(size)
    trainer = going.without_whole(trainer, made)
    if trainer.distinct_pieces == 0:
        raise CorpusError(train_start.NOTHING_NEW)
    symbols, merges, counts = learn(
        trainer, going.trainer_options, going.limits, report, kept, going.engine_start
    )
    pairs = [(left, right) for left, right in merges.tolist()]
    spec = going.finish(symbols, pairs, counts.tolist(), stacklevel=4)
    known = {"like": like, "corpus_bytes": size, "counts": spec.record["counts"]}
    return Tokenizer(replace(spec, record={**spec.record, **known, **corpus_record(source)}))


class _Runs:
    """Documents as the tokenizer's steps rewrite and cut them, with the engine's own steps.

    number: of the document that is on its way. bytes: of all that were, before normalizing.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self.spec = spec
        self.later = later_names(spec, {**spec.special_tokens, **spec.added_tokens})
        stages = spec.matching
        self.frozen = [text for text, name in self.later.items() if stages[name].stage == "frozen"]
        self.normalizer = Normalizer(spec.normalizer) if spec.normalizer else None
        self.pretokenizer = Pretokenizer(spec.pretokenizer) if spec.pretokenizer else None
        self.number, self.bytes = 0, 0

    def of(self, texts: Iterable[str]) -> Iterator[Part]:
        """Each part of each text, as a document of its own."""
        for text in texts:
            self.bytes += len(utf8(text, f"document {self.number}"))
            for part in self._runs(text):
                for piece in [part] if self.pretokenizer is None else self._cut(part):
                    yield piece, True
            self.number += 1

    def _runs(self, text: str) -> Iterator[str]:
        """The runs between special and added tokens, normalized."""
        spec = self.spec
        for run in cut_by_policy(text, spec.special_tokens, spec.added_tokens, "allow", spec.matching):
            if run.token is not None:
                continue
            rewritten = run.text
            if self.normalizer is not None and self.frozen:
                rewritten = self.normalizer.normalize(rewritten, self.frozen)[0]
            elif self.normalizer is not None:
                rewritten = self.normalizer.plain(rewritten)
            at = 0
            for match in find(rewritten, self.later, spec.matching):
                yield rewritten[at : match.start]
                at = match.end
            yield rewritten[at:]

    def _cut(self, part: str) -> list[str]:
        assert self.pretokenizer is not None
        return [text for text, _span in self.pretokenizer.cut(part)]
