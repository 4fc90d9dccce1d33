"""From sentences to words: which sentences count, normalized, with symbols cut out, and the alphabet.

Adds `read_sentences`, `alphabet_of`, `read_words` and `LeftOut`, in the order in which sentencepiece does it:
  1. A sentence without its line end is passed over if it is empty, longer than `max_sentence_length` bytes,
     or holds U+2585, which stands for unknown characters later on.
  2. `input_sentence_size`: the first so many, or a sample.
  3. It is normalized; then each text of a meta piece in it, the longest first, and after that each
     `pretokenization_delimiter`, becomes a boundary: U+001F, which is in no piece.
  4. Characters are counted, boundaries among them. The alphabet is the required ones and then the most
     frequent, until `character_coverage` of all is reached. All others become U+2585.
  5. `split_by_whitespace`: sentences are cut into words, so that pieces cross no space.
The order of sentences does not matter after that: pieces depend on words and their counts.

sentencepiece 0.2.3 draws its sample (step 2) with `absl::BitGen`, whose numbers are salted anew in each
process: two runs give two models. Here it is drawn by algorithm R with the Mersenne twister, seeded with
12345678, as releases before 0.2.2 did; which numbers they made of it was left to the C++ library.
Source: sentencepiece 0.2.3, `trainer_interface.cc` (`LoadSentences`, `SplitSentencesByWhitespace`) and
`model_interface.cc` (`SplitIntoWords`). Leaves out: reading files, and callbacks that cut sentences.
"""

from __future__ import annotations

import random
import re
import warnings
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from syllabary.errors import CorpusError, CorpusWarning, TrainingError, outside
from syllabary.reference.symbols import plural, shown, there_are, utf8
from syllabary.reference.train_sentencepiece_normalize import Normalizer
from syllabary.reference.train_sentencepiece_options import Meta, SentencePieceOptions
from syllabary.reference.train_sentencepiece_valid import BOUNDARY, SPACE, UNKNOWN_CHARACTER

SEED = 12345678
COUNT = re.compile(r"[ \t\v\f\r]*\+?([0-9]+)[ \t\v\f\r]*")
MAX_COUNT = 2**63 - 1


@dataclass(slots=True)
class LeftOut:
    """Sentences that are longer than `limit` bytes: how many, their bytes, and those of the longest."""

    limit: int
    sentences: int = 0
    bytes: int = 0
    longest: int = 0

    def note(self, size: int) -> None:
        """A sentence of so many bytes was read."""
        if size > self.limit:
            self.sentences += 1
            self.bytes += size
            self.longest = max(self.longest, size)

    def warn(self) -> None:
        """All was read: `CorpusWarning` if any was left out."""
        if self.sentences:
            many = "1 sentence" if self.sentences == 1 else f"{self.sentences:,} sentences"
            warnings.warn(
                f"left out as longer than max_sentence_length, {self.limit} bytes: {many} of {self.bytes:,} "
                f"bytes in all; cut them by line ends, or give the option max_sentence_length={self.longest}",
                CorpusWarning,
                stacklevel=outside(),
            )


def read_sentences(
    sentences: Iterable[str | bytes], options: SentencePieceOptions, meta: Meta, rules: bytes
) -> dict[str, int]:
    """The sentences, normalized by compiled rules, with boundaries in them -> how often.

    `CorpusError` for sentences of another type, a line of a table that has no count, and no sentence at all;
    `TextError` for a lone surrogate. Warns `CorpusWarning` if some are longer than `max_sentence_length`.
    """
    found = Counter[str]()
    for text, count in normalized(sentences, options, meta, rules):
        found[text] += count
    if not found:
        raise CorpusError("the corpus is empty: no sentence is left to train on")
    return found


def normalized(
    sentences: Iterable[str | bytes], options: SentencePieceOptions, meta: Meta, rules: bytes
) -> Iterator[tuple[str, int]]:
    """The same one by one."""
    if isinstance(sentences, (str, bytes)):
        raise CorpusError("sentences is one string: training reads many, so give a list of them, as [text]")
    normalizer = Normalizer(options, rules)
    symbols = sorted((text for text, _kind in meta.values()), key=len, reverse=True)
    cut = re.compile("|".join(map(re.escape, symbols))) if symbols else None
    for sentence, count in chosen(sentences, options):
        text = normalizer.normalize(sentence)
        if cut is not None:
            text = cut.sub(BOUNDARY, text)
        if options.pretokenization_delimiter:
            text = text.replace(options.pretokenization_delimiter, BOUNDARY)
        yield text, count


def chosen(
    sentences: Iterable[str | bytes],
    options: SentencePieceOptions,
    kept: list[tuple[str, int]] | None = None,
) -> Iterable[tuple[str, int]]:
    """The sentences that are trained on, each with how often; undecodable bytes are lone surrogates.

    kept: an empty list, in which those of a sample are held meanwhile.
    """
    return _selected(_usable(sentences, options), options, [] if kept is None else kept)


def _usable(sentences: Iterable[str | bytes], options: SentencePieceOptions) -> Iterator[tuple[str, int]]:
    """The sentences that count, each with how often; undecodable bytes are lone surrogates."""
    left_out = LeftOut(options.max_sentence_length)
    for index, given in enumerate(sentences):
        if not isinstance(given, (str, bytes)):
            raise CorpusError(f"sentence {index} is of type {type(given).__name__}: give str or bytes")
        data = utf8(given, f"sentence {index}") if isinstance(given, str) else given
        data, count = data.rstrip(b"\r\n"), 1
        if options.input_format == "tsv":
            data, count = _counted(data, index)
        left_out.note(len(data))
        text = data.decode("utf-8", "surrogateescape")
        if data and len(data) <= options.max_sentence_length and UNKNOWN_CHARACTER not in text:
            yield text, count
    left_out.warn()


def _counted(line: bytes, index: int) -> tuple[bytes, int]:
    """`sentence TAB count`."""
    parts = line.split(b"\t")
    count = COUNT.fullmatch(parts[1].decode("latin-1")) if len(parts) == 2 else None
    if count is None or not 0 < int(count[1]) <= MAX_COUNT:
        raise CorpusError(f"sentence {index}: {shown(line)} is not: text, a tab, a count of 1 or more")
    return parts[0], int(count[1])


def _selected(
    sentences: Iterator[tuple[str, int]], options: SentencePieceOptions, kept: list[tuple[str, int]]
) -> Iterable[tuple[str, int]]:
    """The first `input_sentence_size`, or so many drawn from all."""
    size = options.input_sentence_size
    if size == 0:
        return sentences
    numbers = _twister(SEED)
    for total, sentence in enumerate(sentences, 1):
        if len(kept) < size:
            kept.append(sentence)
        elif not options.shuffle_input_sentence:
            break
        elif (place := _below(total, numbers)) < size:
            kept[place] = sentence
    return kept


def _twister(seed: int) -> random.Random:
    """The generator that C++ calls `std::mt19937(seed)`."""
    state = [seed]
    for place in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + place) & 0xFFFFFFFF)
    numbers = random.Random(0)
    numbers.setstate((3, (*state, 624), None))
    return numbers


def _below(limit: int, numbers: random.Random) -> int:
    """A number below `limit` (of 32 bits), each as likely: Lemire's way, as libstdc++ has it."""
    while True:
        product = numbers.getrandbits(32) * limit
        if product & 0xFFFFFFFF >= (1 << 32) % limit:
            return product >> 32


def alphabet_of(sentences: Mapping[str, int], options: SentencePieceOptions) -> dict[str, int]:
    """The characters that are pieces -> their counts; `{}` with `auto_character_coverage`.

    >>> alphabet_of({"▁a▁a▁b": 1}, SentencePieceOptions(character_coverage=0.98, required_chars="z"))
    {'z': 0, '▁': 3, 'a': 2, 'b': 1}
    """
    counts = Counter[str]()
    for sentence, count in sentences.items():
        for character, times in Counter(sentence).items():
            counts[character] += times * count
    return alphabet_of_counts(counts, options)


def alphabet_of_counts(found: Mapping[str, int], options: SentencePieceOptions) -> dict[str, int]:
    """The same of characters with their counts."""
    if options.auto_character_coverage:
        return {}
    counts = {character: count for character, count in found.items() if character != "\0"}
    total, reached = sum(counts.values()), 0
    if not 0 < total <= MAX_COUNT:
        why = "is empty: no sentence has a character" if not total else f"is counted {total} times: too large"
        raise CorpusError(f"the corpus {why}")
    required = set(options.required_chars) - {"\0"}
    order = sorted({*counts, *required}, key=lambda char: (char not in required, -counts.get(char, 0), char))
    alphabet = dict[str, int]()
    for character in order:
        if not options.use_all_vocab and _float32(reached / total) >= _float32(options.character_coverage):
            break
        reached += counts.get(character, 0)
        if character != BOUNDARY:
            alphabet[character] = counts.get(character, 0)
    return alphabet


def _float32(number: float) -> float:
    return array("f", [number])[0]


def check_size(alphabet: Mapping[str, int], meta: Meta, options: SentencePieceOptions) -> int:
    """How many pieces are left to learn; `TrainingError` if the vocabulary cannot hold what must be in it."""
    if clash := next((text for text, _kind in meta.values() if text in alphabet), None):
        raise TrainingError(f"the symbol {shown(clash)} is a character of the alphabet too (required_chars)")
    least = len(alphabet) + len(meta)
    if least > options.vocab_size:
        raise TrainingError(
            f"vocab_size is {options.vocab_size}, but the alphabet has {plural(len(alphabet), 'character')} "
            f"and {there_are(len(meta), 'meta piece')}: set it to {least} or more, or lower "
            "character_coverage"
        )
    return options.vocab_size - least


def read_words(sentences: Mapping[str, int], options: SentencePieceOptions) -> dict[str, int]:
    """The words of the sentences -> how often; without `split_by_whitespace` the sentences themselves.

    >>> read_words({"▁to▁be": 2, "▁be": 1}, SentencePieceOptions())
    {'▁to': 2, '▁be': 3}
    """
    found = Counter[str]()
    for sentence, count in sentences.items():
        for text in cut_words(sentence, options):
            found[text] += count
    return dict(found)


def cut_words(sentence: str, options: SentencePieceOptions) -> list[str]:
    """The words of one sentence.

    >>> cut_words("▁to▁be", SentencePieceOptions(treat_whitespace_as_suffix=True))
    ['▁', 'to▁', 'be']
    """
    if not options.split_by_whitespace:
        return [sentence]
    some = f"{SPACE}+" if options.allow_whitespace_only_pieces else SPACE
    if options.treat_whitespace_as_suffix:
        return re.findall(f"[^{SPACE}]*{some}|[^{SPACE}]+", sentence)
    return re.findall(f"{some}[^{SPACE}]*|[^{SPACE}]+", sentence)
