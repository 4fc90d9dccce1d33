"""subword-nmt's `apply_bpe`: words -> segments, by codes.

Adds `BPE` and the functions around it under their names, with their arguments. Leaves out: how codes are
learned (`learn_bpe`) and the command (`subword_nmt`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from syllabary.cached import cached_property
from syllabary.compat.subword_nmt.parsers import apply_parser as create_parser
from syllabary.compat.subword_nmt.segmenter import Segmenter
from syllabary.errors import FormatError, VocabularyError
from syllabary.formats.subword_nmt_codes import HEADER, MARK

__all__ = [
    "BPE", "check_vocab_and_split", "create_parser", "encode", "get_byte_mode", "isolate_glossary",
    "read_vocabulary", "recursive_split",
]  # fmt: skip

MAX_CACHED = 1 << 20  # words
Version = tuple[int, ...]


class Codes(dict[Any, int]):
    """Pair -> rank, and the engine that runs them."""

    version: Version = (0, 2)

    @cached_property
    def segmenter(self) -> Segmenter | None:
        """`None` for codes that the engine would run in another order."""
        pairs = sorted(self, key=self.__getitem__)
        if pairs and isinstance(pairs[0][0], bytes):
            pairs = [(left.decode("latin-1"), right.decode("latin-1")) for left, right in pairs]
        try:
            return Segmenter(pairs, self.version == (0, 1))
        except (VocabularyError, ValueError):
            return None


class BPE:
    """Codes, and how to write what they cut.

    codes: a file object, text or (for codes of the kind `0.2 byte`) bytes; words are of the same type.
    merges: use only the first so many lines; -1 all.
    vocab: segments that are not in it are cut again. glossaries: regular expressions of what is never cut.
    Raises `FormatError` with the line for what is no merge.
    """

    def __init__(
        self,
        codes: IO[Any],
        merges: int = -1,
        separator: Any = "@@",
        vocab: Collection[Any] | None = None,
        glossaries: Sequence[Any] | None = None,
        is_bytes: bool = False,
    ) -> None:
        codes.seek(0)
        first = codes.readline()
        self.is_bytes = is_bytes or isinstance(first, bytes)
        self.version, headed = _version(first, self.is_bytes, codes)
        if not headed:
            codes.seek(0)
        end = b"\n" if self.is_bytes else "\n"
        lines = codes.read().rstrip(end).split(end)
        self.bpe_codes = _read_codes(lines, merges, self.version, 1 + headed, codes)
        self.bpe_codes_reverse = {left + right: (left, right) for left, right in reversed(self.bpe_codes)}
        self.separator = _of_type(separator, self.is_bytes)
        self.vocab = vocab
        self.glossaries = [_of_type(glossary, self.is_bytes) for glossary in glossaries or []]
        joined = _of_type("|", self.is_bytes).join(self.glossaries)
        around = (b"^(", b")$") if self.is_bytes else ("^(", ")$")
        self.glossaries_regex = re.compile(around[0] + joined + around[1]) if self.glossaries else None
        self.cache: dict[Any, Any] = {}
        self._lines = _Cut(self)

    def process_lines(self, filename: str, outfile: Any, dropout: float = 0, num_workers: int = 1) -> None:
        """Cut a file, line by line, into `outfile` (an open file, or a path). The workers are not needed."""
        if num_workers < 1:
            raise ValueError(f"num_workers is {num_workers}: give 1 or more")
        if isinstance(outfile, (str, Path)):
            with _open(outfile, "w", self.is_bytes) as out:
                return self.process_lines(filename, out, dropout)
        with _open(filename, "r", self.is_bytes) as lines:
            outfile.writelines(self.process_line(line, dropout) for line in lines)
        return None

    def process_line(self, line: Any, dropout: float = 0) -> Any:
        """Cut a line; the white space at its ends stays as it is."""
        white = b"\r\n " if self.is_bytes else "\r\n "
        leading = len(line) - len(line.lstrip(white))
        trailing = len(line) - len(line.rstrip(white)) if leading < len(line) else 0
        return line[:leading] + self.segment(line, dropout) + line[len(line) - trailing :]

    def segment(self, sentence: Any, dropout: float = 0) -> Any:
        """Cut the words of a sentence, which U+0020 parts."""
        white, space = (b"\r\n ", b" ") if self.is_bytes else ("\r\n ", " ")
        words = sentence.strip(white).split(space)
        if dropout:
            return space.join(self.segment_tokens(words, dropout))
        return space.join([self._lines[word] for word in words if word])

    def segment_tokens(self, tokens: Iterable[Any], dropout: float = 0) -> list[Any]:
        """Cut each word of a list; every segment but the last of a word bears the separator."""
        return [part for word in tokens if word for part in self._segment_word(word, dropout)]

    def _segment_word(self, word: Any, dropout: float) -> list[Any]:
        parts = [
            part
            for segment in self._isolate_glossaries(word)
            if segment
            for part in encode(
                segment,
                self.bpe_codes,
                self.bpe_codes_reverse,
                self.vocab,
                self.separator,
                self.version,
                self.cache,
                self.glossaries_regex,
                dropout,
            )
        ]
        return [*(part + self.separator for part in parts[:-1]), *parts[-1:]]

    def _isolate_glossaries(self, word: Any) -> list[Any]:
        segments = [word]
        for glossary in self.glossaries:
            segments = [part for segment in segments for part in isolate_glossary(segment, glossary)]
        return segments


class _Cut(dict[Any, Any]):
    """Word -> its segments as a line has them; a word is cut when it is first asked for."""

    def __init__(self, bpe: BPE) -> None:
        super().__init__()
        self.bpe = bpe

    def __missing__(self, word: Any) -> Any:
        if len(self) >= MAX_CACHED:
            self.clear()
            self.bpe.cache.clear()
        line = self[word] = (b" " if self.bpe.is_bytes else " ").join(self.bpe._segment_word(word, 0))
        return line


def encode(
    orig: Any,
    bpe_codes: Mapping[Any, int],
    bpe_codes_reverse: Mapping[Any, Any],
    vocab: Collection[Any] | None,
    separator: Any,
    version: Version,
    cache: MutableMapping[Any, Any],
    glossaries_regex: re.Pattern[Any] | None = None,
    dropout: float = 0,
) -> Any:
    """The segments of one word, a tuple without marks.

    dropout: each pair of neighbours is passed over with this probability in each round, as `random.random()`
        says; what comes of it is not put into `cache`.
    """
    if not dropout and orig in cache:
        return cache[orig]
    if len(orig) == 1 or (glossaries_regex is not None and glossaries_regex.match(orig)):
        return (orig,)
    segmenter = bpe_codes.segmenter if isinstance(bpe_codes, Codes) and not dropout else None
    if segmenter is None:
        segments = _merge(orig, bpe_codes, version, dropout)
    elif isinstance(orig, bytes):
        found = segmenter.segments(orig.decode("latin-1"))
        segments = tuple(part.encode("latin-1") for part in found)
    else:
        segments = segmenter.segments(orig)
    if vocab:
        segments = tuple(check_vocab_and_split(segments, bpe_codes_reverse, vocab, separator))
    if not dropout:
        cache[orig] = segments
    return segments


def _merge(orig: Any, codes: Mapping[Any, int], version: Version, dropout: float) -> tuple[Any, ...]:
    """One word in plain Python: in each round every occurrence of the pair of lowest rank is merged."""
    mark = _of_type(MARK, isinstance(orig, bytes))
    word = [orig[at : at + 1] for at in range(len(orig))]
    if version == (0, 1):
        word.append(mark)
    else:
        word[-1] += mark
    while len(word) > 1:
        places: dict[Any, list[int]] = {}
        for at, pair in enumerate(pairwise(word)):
            if (not dropout or random.random() > dropout) and pair in codes:
                places.setdefault(pair, []).append(at)
        if not places:
            break
        best = min(places, key=codes.__getitem__)
        merged, done = [], 0
        for at in places[best]:
            if at >= done:
                merged += [*word[done:at], best[0] + best[1]]
                done = at + 2
        word = merged + word[done:]
    word[-1] = word[-1].removesuffix(mark)
    return tuple(word if word[-1] else word[:-1])


def check_vocab_and_split(
    orig: Sequence[Any], bpe_codes: Mapping[Any, Any], vocab: Collection[Any], separator: Any
) -> list[Any]:
    """The segments of a word, those that are not in the vocabulary cut again by the merges that made them.

    bpe_codes: what a merge makes -> its pair (`BPE.bpe_codes_reverse`).
    """
    output: list[Any] = []
    last = len(orig) - 1
    for place, segment in enumerate(orig):
        if (segment if place == last else segment + separator) in vocab:
            output.append(segment)
        else:
            output += recursive_split(segment, bpe_codes, vocab, separator, place == last)
    return output


def recursive_split(
    segment: Any, bpe_codes: Mapping[Any, Any], vocab: Collection[Any], separator: Any, final: bool = False
) -> Iterator[Any]:
    """The parts of a segment, cut until each is in the vocabulary or no merge made it."""
    mark = _of_type(MARK, isinstance(segment, bytes))
    left_over = [(segment, final, False)]  # a part, whether it ends the word, whether it may stay whole
    while left_over:
        part, last, may_stay = left_over.pop()
        pair = bpe_codes.get(part + mark if last else part)
        if pair is None or (may_stay and (part if last else part + separator) in vocab):
            yield part
            continue
        left, right = pair
        right = right.removesuffix(mark) if last else right
        if not right:  # version 0.1: the mark alone was merged to what ends the word
            left_over.append((left, False, True))
            continue
        left_over += [(right, last, True), (left, False, True)]


def read_vocabulary(vocab_file: Iterable[Any], threshold: int | None) -> set[Any]:
    """The tokens of a vocabulary file's lines `token count` with at least so high a count.

    Raises `FormatError` with the line for what is none.
    """
    vocabulary = set()
    for number, line in enumerate(vocab_file, start=1):
        white, space = (b"\r\n ", b" ") if isinstance(line, bytes) else ("\r\n ", " ")
        try:
            token, count = line.strip(white).split(space)
            frequency = int(count)
        except ValueError as error:
            name = getattr(vocab_file, "name", "vocabulary")
            raise FormatError(f"{name}: line {number}: {line[:80]!r} is not a token and a count") from error
        if threshold is None or frequency >= threshold:
            vocabulary.add(token)
    return vocabulary


def isolate_glossary(word: Any, glossary: Any) -> list[Any]:
    """A word cut before and after whatever the regular expression `glossary` matches in it.

    >>> isolate_glossary("1934USABUSA", "USA")
    ['1934', 'USA', 'B', 'USA']
    """
    pattern = re.compile(glossary)
    if pattern.fullmatch(word) or not pattern.search(word):
        return [word]
    parts, end = [], 0
    for match in pattern.finditer(word):
        parts += [word[end : match.start()], match.group()]
        end = match.end()
    parts.append(word[end:].strip(b"\r\n " if isinstance(word, bytes) else "\r\n "))
    return [part for part in parts if part]


def get_byte_mode(code_file_name: str) -> bool:
    """Whether the first line of a codes file says that its symbols are bytes."""
    with Path(code_file_name).open("rb") as file:
        found = HEADER.match(file.readline(256))
    return found is not None and bool(found[2])


def _read_codes(lines: Iterable[Any], merges: int, version: Version, first: int, codes: object) -> Codes:
    """Pair -> rank of its first line. `FormatError` for a line that is no pair."""
    ranks = Codes()
    ranks.version = version
    for place, line in enumerate(lines):
        if merges not in (-1,) and place >= merges:
            break
        white, space = (b"\r\n ", b" ") if isinstance(line, bytes) else ("\r\n ", " ")
        pair = tuple(line.strip(white).split(space))
        if len(pair) != 2 or not all(pair):
            if place == 0 and not line:
                break  # no merges at all
            raise FormatError(
                f"{getattr(codes, 'name', 'codes')}: line {first + place}: {line[:80]!r} is not two symbols "
                "with one space between them"
            )
        ranks.setdefault(pair, place)
    return ranks


def _version(first: Any, is_bytes: bool, codes: object) -> tuple[Version, bool]:
    """Version of the codes and whether their first line says it."""
    line = first.encode("utf-8", "replace") if isinstance(first, str) else bytes(first)
    if not line.startswith(b"#version:"):
        return ((0, 2) if is_bytes else (0, 1)), False
    found = HEADER.fullmatch(line.rstrip(b"\n"))
    numbers = tuple(map(int, re.sub(rb"(?:\.0+)+$", b"", found[1]).split(b"."))) if found else ()
    name = getattr(codes, "name", "codes")
    if found is None or numbers not in ((0, 1), (0, 2)):
        raise FormatError(f"{name}: line 1: {first[:80]!r} is no version of codes: known are 0.1 and 0.2")
    if found[2] and not is_bytes:
        raise FormatError(f"{name}: line 1: codes of bytes: open the file in binary mode ('rb')")
    return numbers, True


def _of_type(text: Any, as_bytes: bool) -> Any:
    return text.encode() if as_bytes and isinstance(text, str) else text


def _open(path: Any, mode: str, is_bytes: bool) -> IO[Any]:
    """A file as `process_lines` there reads and writes it: CR and CRLF are read as LF."""
    if is_bytes:
        return Path(path).open(mode + "b")
    return Path(path).open(mode, encoding="utf-8", newline=None if mode == "r" else "")
