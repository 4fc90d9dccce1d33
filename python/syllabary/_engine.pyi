"""The compiled engine. Use `syllabary.Tokenizer` and `syllabary.train`: they hold policy and messages.

`policy` is `"raise"`, `"allow"`, `"text"` or the list of special ids allowed (others raise). `dropout` is the
probability of passing over a merge, `seed` (64 bits) decides which: the same seed gives the same ids, on any
number of threads.
"""

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from syllabary.reference.train_huggingface import BpeTrainerOptions
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.reference.train_unigram import UnigramSettings
from syllabary.spec import SplitSpec, Step, TokenizerSpec, TrainOptions
from syllabary.text_methods import Special

__all__ = [
    "Calls",
    "FullRows",
    "HuggingFaceTrainer",
    "IdMerges",
    "Learned",
    "Listed",
    "Merging",
    "Normalizer",
    "ParityTrainer",
    "Pretokenizer",
    "Ranks",
    "SentencePieceTrainer",
    "Split",
    "StepDecoder",
    "Tokenizer",
    "Trainer",
    "learn_unigram_of",
    "make_ready",
    "pairs",
    "plain_pieces",
    "read_own",
    "read_scored",
    "recover_merges",
    "sha256",
]

_Scored = tuple[builtins.bytes, NDArray[np.uint64], NDArray[np.float64]]
_PlanParts = tuple[list[tuple[int, int, int]], list[list[int]], list[tuple[bool, list[bool]]]]

@final
class Split:
    """A compiled split. Raises `PatternError`."""

    def __new__(cls, spec: SplitSpec) -> Split: ...
    @property
    def kind(self) -> str:
        """The scanner that runs it: a split's name, or `"regex"`."""

    def pieces(self, text: str) -> list[str]:
        """The pieces of `text`, in order."""

    def leaves(self, text: str, neighbours: list[str], inside: bool = False) -> int:
        """The most that two neighbours, before and after, do for a text: 0: no piece holds it; 1: one does;
        2: it is one.

        inside: look no further than for 1.
        """

@final
class Ranks:
    """Tokens by rank, no two alike, all single bytes among them. Immutable."""

    @staticmethod
    def read(data: bytes) -> Ranks | None:
        """Those of a rank file; `None` for a file that is wrong, or in which anything is unusual."""

    def __len__(self) -> int:
        """The number of tokens."""

    def get(self, rank: int) -> bytes | None:
        """The token of a rank from 0 to 2^32 - 1."""

    def rank(self, token: bytes) -> int:
        """The rank of a token. Raises `KeyError`."""

    def to_dict(self) -> dict[int, bytes]:
        """All tokens, by ascending rank."""

@final
class Listed:
    """Vocabulary and merges of a `tokenizer.json`, read by the engine. Immutable."""

    @staticmethod
    def read(data: bytes) -> Listed | None:
        """Those of a file whose model is an object with names and ids; `None` for a file that is wrong, or
        with anything unusual in the two.
        """

    @property
    def rest(self) -> str:
        """The JSON of the file, with an empty object and an empty list in their places."""

    @property
    def vocab(self) -> dict[str, int]:
        """Name -> id, as the file has them; always the same object."""

    @property
    def merges(self) -> tuple[tuple[int, int, int], ...]:
        """`(left id, right id, id of the result)`, always the same object; none if the file has no list."""

    def merged(self, ids: list[int]) -> list[int]:
        """Those of some ids that are in merges."""

    def unspelled(self) -> list[int]:
        """The ids of names that spell no bytes as GPT-2's files do."""

    def learned(self, without: list[int], spelled: bool, byte_tokens: dict[int, int]) -> Learned | None:
        """The names as tokens, but those of some ids; `None` if ids do not ascend, or a merge needs them.

        spelled: the bytes that they spell as GPT-2's files do, of those that spell any. byte_tokens: id ->
        byte of those that stand for one.
        """

@final
class Learned:
    """The tokens of an alphabet and of merges, spelled by the engine. Immutable."""

    def __new__(cls, symbols: list[bytes], pairs: NDArray[np.uint32], first: int) -> Learned:
        """pairs: local ids, shape (n, 2); merge k makes local id len(symbols) + k. first: the lowest id.

        Raises `TrainingError` for a pair of tokens that are not there yet, `VocabularyError` for ids too
        far above their number.
        """

    @property
    def merges(self) -> tuple[tuple[int, int, int], ...]:
        """`(left id, right id, id of the result)`, always the same object."""

    def __len__(self) -> int:
        """The number of tokens."""

    def get(self, rank: int) -> bytes | None:
        """The token of an id from 0 to 2^32 - 1."""

    def to_dict(self) -> dict[int, bytes]:
        """All tokens, by ascending id."""

@final
class FullRows:
    """Tokens of texts, to be laid out once as rows; see `full.batch.Rows`."""

    def lay_out(
        self,
        units: NDArray[np.int64],
        words: bool,
        plans: tuple[_PlanParts | None, _PlanParts | None],
        truncation: tuple[int, int, int, bool] | None,
        padding: tuple[int | None, int, int, int, bool] | None,
        overflow: bool,
    ) -> list[int | None] | None:
        """`None`, or how many tokens a text and its pair have that cannot be truncated so.

        units: texts or words of each text and its pair, -1 for no pair, shape (texts, 2). truncation: length,
        stride, strategy (0: longest first, 1: the text, 2: its pair), whether on the left. padding: length or
        None, multiple, id, type id, whether on the left.
        """

    def bounds(self) -> NDArray[np.int64]:
        """Where each row begins, and the end, shape (rows + 1,)."""

    def samples(self) -> NDArray[np.int64]:
        """The text of each row, shape (rows,)."""

    def lengths(self) -> NDArray[np.int64]:
        """The tokens of each row without padding, shape (rows,)."""

    def parts(self) -> NDArray[np.int64]:
        """How many parts each text and each pair has, shape (texts, 2)."""

    def field(self, name: str) -> NDArray[np.int64]:
        """A field of all rows, shape (n,)."""

    def lists(self, name: str) -> list[list[int]]:
        """The same as lists, one a row."""

    def unknown(self) -> list[tuple[int, str]]:
        """Where tokens stand in all rows that are spelled as they were found, and the normalized text.

        Empty if tokens were not located.
        """

    def spans(self, ends: NDArray[np.uint32] | None = None) -> NDArray[np.int64]:
        """Offsets of all rows, shape (n, 2). ends: white space of each token, by id, to be left out."""

@disjoint_base
class Calls:
    """What `syllabary.Tokenizer` is a child of: its methods that are called once a text.

    What they are given but rarely, and all before `_call`, they hand on to the child's methods `_encode`,
    `_encode_array` and `_count`.
    """

    def __new__(cls, *_args: Any, **_named: Any) -> Self: ...
    def _call(self, engine: Tokenizer) -> None:
        """From now on the usual calls go to this engine. `TypeError` the second time."""

    def encode(
        self, text: str, special: Special = "raise", dropout: float | None = None, seed: int | None = None
    ) -> list[int]:
        """The ids of `text`. No BOS, no template: nothing is added.

        special: what a special token in the text means: "raise" (`SpecialTokenError`), "allow" (its id),
        "text" (ordinary text), or a set of names to allow. dropout: the probability of passing over a merge.
        seed: the same one gives the same ids. Raises `TextError` (a lone surrogate), `UnknownSymbolError`.
        """

    def encode_array(
        self, text: str, special: Special = "raise", dropout: float | None = None, seed: int | None = None
    ) -> NDArray[np.uint32]:
        """The ids of `text`, shape (n,), uint32. Arguments and errors are those of `encode`."""

    def count(self, text: str, special: Special = "raise") -> int:
        """The number of ids of `text`, without making them a list. Errors are those of `encode`."""

@final
class Tokenizer:
    """An immutable tokenizer. Raises `VocabularyError`, `PatternError`."""

    def __new__(cls, spec: TokenizerSpec) -> Tokenizer: ...
    @property
    def split_kind(self) -> str:
        """See `Split.kind`."""

    def encode(
        self, text: str, policy: str | list[int] = "raise", dropout: float = 0.0, seed: int = 0
    ) -> list[int]:
        """The ids of `text`."""

    def encode_array(
        self, text: str, policy: str | list[int] = "raise", dropout: float = 0.0, seed: int = 0
    ) -> NDArray[np.uint32]:
        """The same, shape (n,)."""

    def encode_batch(
        self,
        texts: Iterable[str],
        policy: str | list[int],
        threads: int,
        dropout: float = 0.0,
        seed: int = 0,
    ) -> list[list[int]]:
        """The ids of every text; each has coins of its own. Signals are looked at."""

    def encode_batch_array(
        self,
        texts: Iterable[str],
        policy: str | list[int],
        threads: int,
        dropout: float = 0.0,
        seed: int = 0,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """All ids, shape (n,), and where each text begins and the last ends, shape (texts + 1,)."""

    def full_rows(
        self,
        texts: Iterable[str],
        policy: str | list[int],
        want: str,
        threads: int,
        dropout: float = 0.0,
        seed: int = 0,
    ) -> FullRows:
        """The tokens of texts. want: `"ids"` only, or where they are in `"char"` or `"byte"`."""

    def encode_files(
        self,
        paths: Sequence[str | os.PathLike[str]],
        separator: str | None,
        policy: str | list[int],
        threads: int,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The same for files, cut into documents at `separator`."""

    def count(self, text: str, policy: str | list[int] = "raise") -> int:
        """The number of ids of `text`."""

    def count_batch(self, texts: Iterable[str], policy: str | list[int], threads: int) -> NDArray[np.int64]:
        """The number of ids of every text, shape (texts,)."""

    def encode_behind(
        self, text: str, guard: str, score: float, policy: str | list[int]
    ) -> tuple[NDArray[np.uint32], float]:
        """The ids of what stands behind `guard` in `text`, `score` being that of all before; that of all."""

    def encode_nbest(self, text: str, policy: str | list[int], count: int) -> list[tuple[list[int], float]]:
        """The best ways and their scores."""

    def sample(self, text: str, policy: str | list[int], alpha: float, seed: int) -> list[int]:
        """The ids of a way drawn at random (Unigram)."""

    def sample_batch(
        self, texts: Iterable[str], policy: str | list[int], threads: int, alpha: float, seed: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The same of every text, as `encode_batch_array`."""

    def offsets(self, text: str, policy: str | list[int], characters: bool) -> NDArray[np.int64]:
        """Start and end of every token in bytes or characters of `text`, shape (n, 2)."""

    def decode_bytes(self, ids: Iterable[int] | NDArray[np.integer]) -> bytes:
        """The bytes of the ids' tokens, joined; with steps (`spec.decoder`), the UTF-8 of the text."""

    def decode(self, ids: Iterable[int] | NDArray[np.integer], errors: str = "replace") -> str:
        """The text of the ids by the steps; without any, of their bytes: `errors` as in `bytes.decode`."""

@final
class Trainer:
    """Counts a corpus; not to be shared between threads."""

    def __new__(
        cls, options: TrainOptions, threads: int, memory: tuple[int, os.PathLike[str]] | None = None
    ) -> Trainer:
        """memory: bytes that counting and learning may take, and a folder for what exceeds them."""

    @property
    def bytes(self) -> int:
        """Bytes of text taken so far."""

    @property
    def distinct_pieces(self) -> int:
        """Distinct pieces counted; ends the text as `finish` does."""

    @property
    def pending(self) -> int:
        """Bytes of the document under way that are taken and not counted."""

    def feed(self, documents: Iterable[str]) -> None:
        """Counts whole documents."""

    def feed_part(self, part: str, last: bool) -> None:
        """Takes the next part of a long document."""

    def feed_file(
        self,
        path: os.PathLike[str],
        start: int,
        most: int,
        characters: int,
        see: Callable[[str], tuple[bool, bool]] | None = None,
    ) -> int:
        """Takes the next part of a long document from a file of UTF-8: from byte `start` on, up to about
        `most` bytes, the end, or bytes that are not UTF-8. The place behind it; `start`: nothing was taken.

        see: is given the text, in slices of so many `characters`, counted from where each 64 KiB of the file
            begin, but no slice that is in NFC and NFD for sure; answers whether the text may yet be in NFC,
            and in NFD, and is asked no more about what it has ruled out.
        """

    def feed_counts(self, data: builtins.bytes, ends: NDArray[np.uint64], counts: NDArray[np.uint64]) -> None:
        """Adds pieces counted elsewhere: piece i is `data[ends[i - 1]:ends[i]]`, shapes (n,)."""

    def feed_ids(self, ids: NDArray[np.uint32], ends: NDArray[np.uint64]) -> None:
        """Adds sequences of integers, sequence i being `ids[ends[i - 1]:ends[i]]`; for unit "word".

        Each integer is a word of eight hexadecimal digits.
        """

    def finish(self) -> None:
        """Ends the text and waits until all of it is counted."""

    def counts(self) -> tuple[builtins.bytes, NDArray[np.uint64], NDArray[np.uint64]]:
        """The pieces by their bytes, back to back; where each ends, and how often it occurred, shapes (n,).

        Of all that was fed but `pending` bytes.
        """

    def counts_and_places(
        self,
    ) -> tuple[builtins.bytes, NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
        """The same, and where each piece was first seen, shape (n,): less is earlier."""

    def hand_counts(
        self,
        take: Callable[[builtins.bytes, NDArray[np.uint64], NDArray[np.uint64]], object],
        by_frequency: bool,
        most: tuple[int, int],
    ) -> None:
        """The same as `counts`, given to `take` in batches of `most` pieces and bytes, or of one piece.

        by_frequency: the most frequent pieces first, equals by their bytes. It is then the last call: what
        is on disk is in another order afterwards.
        """

    @property
    def total(self) -> int:
        """The counts of all pieces together."""

    def merging(
        self,
        spec: TrainOptions,
        max_tokens: int,
        max_merges: int,
        start: tuple[list[builtins.bytes], NDArray[np.uint32]] | None = None,
    ) -> Merging:
        """Begins to learn; what was counted is used up.

        start: tokens that are there already, and merges, shape (k, 3): left, right, result as places in
        these tokens, in the order in which they merge. Initial symbols not among them come after them.
        """

@final
class Merging:
    """Training under way; not to be shared between threads."""

    @property
    def tokens(self) -> list[bytes]:
        """What is known before the first merge, by local id; learned tokens follow."""

    @property
    def done(self) -> bool:
        """Whether no further merge will come."""

    def step(
        self, seconds: float, at_most: int | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
        """Merges learned in about that time, in local ids, shape (n, 2), and their counts, shape (n,).

        At least one, unless it is done. Signals are looked at.
        """

# Pieces back to back, where each ends in them, and how often it occurs.
_Table = tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]

@final
class ParityTrainer:
    """Learns merges for several languages from their counted pieces; not to be shared between threads.

    `reference.train_parity` says what each argument means.
    """

    def __new__(
        cls,
        spec: TrainOptions,
        alphabet: Sequence[builtins.bytes],
        global_merges: int,
        window: int | None,
        alpha: float,
    ) -> ParityTrainer:
        """alphabet: the initial symbols by local id; all text must be spelled with them."""

    def add(self, corpus: _Table, dev: _Table | None, ratio: float) -> None:
        """Adds a language. dev: the text to judge it by, else its own, with `ratio`.

        Raises `TrainingError` for a table that contradicts itself.
        """

    def learn(
        self, max_merges: int, callback: Callable[[int, int], object] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint64]]:
        """For which language each merge was chosen (-1: all), shape (n,), the merges in local ids, shape
        (n, 2), and their counts there, shape (n,).

        `callback(merges done, count of the last)` is called now and then, and signals are looked at.
        """

    @property
    def tokens(self) -> list[tuple[int, int]]:
        """Of each language, the tokens of its corpus and of the text that it is judged by."""

@final
class IdMerges:
    """Merges of integers. Immutable. Raises `VocabularyError` for contradictions."""

    def __new__(cls, symbols: NDArray[np.uint32], pairs: NDArray[np.uint32]) -> IdMerges:
        """symbols: by id, shape (n,). pairs: those that merge, shape (m, 2); pair k makes id n + k."""

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """How many symbols each id stands for, shape (n + m,)."""

    def encode(self, sequence: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The ids of a sequence. Raises `UnknownSymbolError`."""

    def decode(self, ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The symbols of ids. Raises `UnknownTokenError`, `TextError` for 2^32 symbols or more."""

@final
class HuggingFaceTrainer:
    """Counts words and learns merges as Hugging Face's trainer; not to be shared between threads.

    `reference.train_huggingface` is the definition. lines: each line of a document, with its end, is a
    document of its own. memory: as of `Trainer`.
    """

    def __new__(
        cls,
        normalizer: Iterable[Step],
        pretokenizer: Iterable[Step],
        split: SplitSpec,
        lines: bool,
        threads: int,
        memory: tuple[int, os.PathLike[str]] | None = None,
    ) -> HuggingFaceTrainer: ...
    @property
    def bytes(self) -> int:
        """Bytes of text taken so far."""

    def feed(self, documents: Iterable[str]) -> None:
        """Counts whole documents."""

    def feed_part(self, part: str, last: bool) -> None:
        """Takes the next part of a long document."""

    def feed_counts(
        self,
        data: builtins.bytes | NDArray[np.uint8],
        ends: NDArray[np.uint64],
        counts: NDArray[np.uint64],
    ) -> None:
        """Adds words that were counted elsewhere, back to back in `data`; word i ends at `ends[i]`.

        Raises `TrainingError` for arrays that do not fit together.
        """

    def counts_and_places(
        self,
    ) -> tuple[builtins.bytes, NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
        """The words counted so far, where each ends, its count, and its place in an order; none under a
        limit of memory."""

    @property
    def distinct_pieces(self) -> int:
        """How many distinct words are counted so far; under a limit of memory 1 if there is text."""

    @property
    def pending(self) -> int:
        """Bytes of a document that are taken and not counted yet."""

    def finish(self) -> int:
        """How many distinct words there are; nothing can be fed after that."""

    def learn(
        self,
        options: BpeTrainerOptions,
        byte_level: bool,
        callback: Callable[[int, int], object] | None,
        likelihood: bool = False,
        known: tuple[NDArray[np.uint32], NDArray[np.uint64]] | None = None,
        keep: tuple[Callable[[NDArray[np.uint32], NDArray[np.uint64]], object], float] | None = None,
    ) -> tuple[list[str], int, NDArray[np.uint32], NDArray[np.uint64]]:
        """Names by id; how many there were before merging; every merge noted, as (left, right, result), shape
        (n, 3); their counts, shape (n,).

        byte_level: the words are bytes, still to be spelled in GPT-2's characters. `callback(merges noted,
        count of the last)` is called now and then, and signals are looked at. likelihood: pairs merge by what
        they gain (`reference.train_wordpiece`), else by how often they occur. known: pairs, (n, 2), that an
        earlier training has merged, with their counts: it goes on from there. keep: a function that is given
        the new ones, and how often, in seconds.
        Raises `TrainingError` for known pairs that are not of these words, or too little memory.
        """

    def first_names(self, options: BpeTrainerOptions, byte_level: bool) -> list[str]:
        """The names that there are before the first merge, by id."""

    def most_frequent(self, least: int, most: int) -> list[tuple[str, int]]:
        """The words that occur `least` times or more, with their counts: the most frequent first, equal ones
        by their characters; `most` of them."""

    def characters(self) -> list[tuple[str, int]]:
        """The characters of all words with their counts, by code point."""

    def learn_unigram(
        self,
        settings: UnigramSettings,
        callback: Callable[[int, int], object] | None = None,
        known: _Scored | None = None,
        keep: Callable[[builtins.bytes, NDArray[np.uint64], NDArray[np.float64]], object] | None = None,
    ) -> list[tuple[str, float]]:
        """The pieces of a unigram model of the words, which are used up, with their scores, as
        `learn_unigram_of`."""

@final
class SentencePieceTrainer:
    """Counts sentences and learns pieces as sentencepiece does; not to be shared between threads.

    `reference.train_sentencepiece` says what each means.
    """

    def __new__(
        cls,
        step: Step,
        options: SentencePieceOptions,
        symbols: Sequence[str],
        words_apart: bool,
        threads: int,
        ends: bool,
        memory: tuple[int, os.PathLike[str]] | None = None,
    ) -> SentencePieceTrainer:
        """step: the normalizer, of the kind `SentencePiece`. symbols: texts that become boundaries.

        words_apart: whether its rules never reach over a space or make a `▁`. ends: words that end sentences
        are kept apart, as `learn_unigram` needs. memory: as of `Trainer`.
        """

    @property
    def bytes(self) -> int:
        """Bytes of text taken so far."""

    def feed(self, documents: Iterable[str]) -> None:
        """Counts whole documents; their lines are the sentences."""

    def feed_part(self, part: str, last: bool) -> None:
        """Takes the next part of a long document."""

    def feed_counts(self, data: builtins.bytes, ends: NDArray[np.uint64], counts: NDArray[np.uint64]) -> None:
        """Takes what `counts_and_places` of another has given."""

    def counts_and_places(
        self,
    ) -> tuple[builtins.bytes, NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
        """All that is counted by now, the number of sentences too: texts back to back, where each ends, its
        count, and its place here. Not under a limit of memory."""

    @property
    def distinct_pieces(self) -> int:
        """The number of distinct words that are counted by now, as they stand in the text."""

    @property
    def pending(self) -> int:
        """Bytes of the line under way, which are not counted yet."""

    def add(self, sentence: str, count: int) -> None:
        """Counts one sentence that was chosen already, so often."""

    def finish(self) -> tuple[int, list[tuple[str, int]]]:
        """How many sentences there were, and the characters of their words with their counts."""

    def frequent_words(self, alphabet: Sequence[str], most: int) -> tuple[list[tuple[str, int]], int]:
        """The most frequent words over an alphabet with their counts, and how often any word occurs."""

    def learn(
        self,
        alphabet: Sequence[tuple[str, int, bool]],
        room: int,
        callback: Callable[[int, int], object] | None,
        known: tuple[NDArray[np.uint32], NDArray[np.uint64]] | None = None,
        keep: tuple[Callable[[NDArray[np.uint32], NDArray[np.uint64]], object], float] | None = None,
    ) -> tuple[list[str], list[int]]:
        """At most `room` pieces and their counts, after `finish`.

        known: pairs that were joined before, (n, 2), and their counts, (n,); ids are those of characters that
        pieces may hold, then those of pairs. keep: what takes the next of them, and how often, in seconds.

        alphabet: characters, each with its script (0 any, 1 inherited, else a number) and whether no piece
        of two characters or more may hold it. `callback` as in `Trainer.train`.
        """

    def learn_unigram(
        self,
        alphabet: Sequence[tuple[str, int, bool]],
        options: UnigramSettings,
        callback: Callable[[int, int], object] | None,
        known: _Scored | None = None,
        keep: Callable[[builtins.bytes, NDArray[np.uint64], NDArray[np.float64]], object] | None = None,
    ) -> list[tuple[str, float]]:
        """The pieces of a unigram model with their scores, after `finish`; what was counted is used up.

        `callback(pieces left, 0)` is called now and then. `keep` is given the pieces of each round: their
        UTF-8, where each ends, their scores; `known` are such pieces, to begin with.
        `reference.train_unigram` says what is learned.
        """

def learn_unigram_of(
    trainer: Trainer,
    settings: UnigramSettings,
    callback: Callable[[int, int], object] | None = None,
    known: _Scored | None = None,
    keep: Callable[[builtins.bytes, NDArray[np.uint64], NDArray[np.float64]], object] | None = None,
) -> list[tuple[str, float]]:
    """The same of what a trainer has counted, which is used up.

    Raises `TrainingError` for more than its memory holds, and for `known` that are not of these words.
    """

@final
class Normalizer:
    """Some normalizing steps alone. Raises `VocabularyError`, `PatternError`."""

    def __new__(cls, steps: Iterable[Step]) -> Normalizer: ...
    def normalize(self, text: str, frozen: Sequence[str] | None = None) -> tuple[str, list[tuple[int, int]]]:
        """The normalized text and, of each of its characters, the range of characters of `text`.

        frozen: tokens that a step `SentencePiece` leaves alone.
        Raises `SyllabaryError` should the text differ without alignment.
        """

    def plain(self, text: str) -> str:
        """The normalized text, made without alignment."""

@final
class Pretokenizer:
    """Some cutting steps alone. Raises `VocabularyError`, `PatternError`."""

    def __new__(cls, steps: Iterable[Step]) -> Pretokenizer: ...
    def cut(self, text: str, before: Normalizer | None = None) -> list[tuple[str, tuple[int, int]]]:
        """The parts, each with its range of characters of `text`; `before` normalizes it first.

        Raises `SyllabaryError` should the parts differ without alignment.
        """

    def count(self, text: str) -> int:
        """How many parts there are, made without alignment."""

@final
class StepDecoder:
    """Some decoding steps alone. Raises `VocabularyError`, `PatternError`."""

    def __new__(cls, steps: Iterable[Step]) -> StepDecoder: ...
    def decode(self, tokens: Sequence[str], classes: Sequence[str] | None = None) -> str:
        """The text of tokens.

        classes: of each token `"normal"`, `"byte"`, `"control"` or `"unknown"`, which a step `SentencePiece`
            looks at; without them a token that is spelled `<0x0A>` is a byte.
        """

def pairs(flat: NDArray[np.int64], bounds: NDArray[np.int64]) -> list[list[tuple[int, int]]]:
    """The pairs of `flat`, shape (n, 2), in rows, from each of `bounds`, shape (rows + 1,), to the next.
    `ValueError` for bounds that are no places of pairs."""

def plain_pieces(
    data: builtins.bytes, at: int, most: int
) -> tuple[int, list[int], list[str], list[float], builtins.bytes, builtins.bytes]:
    """Up to `most` pieces of a sentencepiece model, from `at` on: of up to 127 bytes, as it writes them.

    Gives where the first other thing begins; of each piece where it begins, its text, its score, its type,
    and 1 if that is written.
    """

def read_own(data: builtins.bytes) -> tuple[Learned, bool, bool, str] | None:
    """Tokens and merges of a `.syllabary.json`, whether it has merges, whether no two tokens are alike, and
    the JSON of the file with an empty list in the place of each; `None` for a file that is wrong or unusual
    in the two: ids that do not ascend, merges that join otherwise.
    """

def read_scored(data: builtins.bytes) -> tuple[list[str], list[float], str] | None:
    """Names and scores of a `tokenizer.json` whose vocabulary lists these, and the JSON of the file with an
    empty list in its place; `None` for another file, and for one that is wrong or unusual in that.
    """

def make_ready(size: int) -> None:
    """See to memory for so many bytes of objects made next: large pages, where the system has some."""

def sha256(data: builtins.bytes) -> str:
    """SHA-256 in hexadecimal, as `hashlib` has it."""

def recover_merges(tokens: Sequence[bytes]) -> list[tuple[int, int, int]]:
    """`reference.rank_merges` of tokens in the order of their ranks, ids being places in the list."""
