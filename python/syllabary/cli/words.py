"""What the library says, in the words of the command line: `--split` for `split=`, and the way out.

The library speaks to those who call it from Python. `spoken` puts its sentences into options: by `OPTIONS`
where one has its argument's name, else by `PHRASES`; a test tells from the sources that none is missing or
left over (`test_cli_words_sources`). `hint` adds the way out where a sentence has none, or had Python's.
`plural` is the grammar. `printable` shows a file's name, whatever is in it. Leaves out: how errors look
(`common`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from syllabary import errors
from syllabary.reference import symbols
from syllabary.visible import printable as printable

# Options of other libraries that have no option of their own here, where a sentence begins with one.
OWN = (
    r"^(?=(?:(?:auto_)?character_coverage|input_sentence_size|input_format|max_sentence_length|required_chars"
    r"|seed_sentencepiece_size|shrinking_factor|num_sub_iterations|use_all_vocab|pretokenization_delimiter"
    r"|normalization_rule_name|(?:unk|bos|eos|pad)_id|limit_alphabet) (?:is|holds|needs|goes) "
    r"|dropout is .*: give a probability, from )"
)

UNDECODED = ": arguments are read as UTF-8, and this one is not; a file may have another encoding"

# What the library says otherwise than one would say it here, each sought in every sentence.
PHRASES: Sequence[tuple[str, str]] = (
    (r"\. To make it (?:its id|id \d+): special=.*", ""),  # the hint says it
    (r"; if it is one, name it with format=$", ""),  # as above
    (r"^the stream (is not UTF-8 at .*): decode it as .*", r"stdin \1"),  # as above
    (r'\bor like= of a tool, as "([\w-]+)"', r"or --like, as --like \1"),
    (r"\bname it in special_tokens=", "load it from Python, with special_tokens="),
    (r"\bname them in special_tokens= to", "load it from Python, with special_tokens=, to"),
    (r"\bspecial_tokens(?:(?= out\b|: ')|=(?= too\b))", "--special"),
    (r'\(alphabet="seen"\)', "(--like huggingface takes those seen)"),
    (r'\btrain with alphabet="all"', "train without --like huggingface"),
    (r"\bleave out split\b", "leave out --split"),
    (r'\bwith unit="byte" or "char"', "with --unit byte or char"),
    (r'\bneeds unit="char" or "word"', "needs --unit char or word"),
    (r'\bneeds unit="char"', "needs --unit char"),
    (r'\bdoes not go with unit="(word)"', r"does not go with --unit \1"),
    (
        r"^options: model_type is '(\w+)', but model='(\w+)': leave it out",
        r"--option: model_type is '\1', but --model is '\2': give --model \1 instead",
    ),
    (
        r"\bmodel='(\w+)'(?= is sent| for words| does not go with |, like=|: (?:leave|it|these|only) )",
        r"--model \1",
    ),
    (r"\bor with model='wordpiece' or 'wordlevel'$", "or with --model wordpiece or wordlevel"),
    (r"\band options: these say it, .*", "and --option, as pre_tokenizer=Whitespace"),
    (r": these say it, as \{.*", ": say it with --option, as pre_tokenizer=Whitespace"),
    (r"\bor like='huggingface' alone", "or huggingface"),
    (r"go into options, as \{'character_coverage': 1\.0\}", "go into --option character_coverage=1.0"),
    (r"\bset byte_fallback=True$", "give --option byte_fallback=true"),
    (r"^options: '", "--option: '"),
    (
        r"\bsay in options how the table was cut \(normalizer, pre_tokenizer\)$",
        "say how the table was cut, as --option normalizer=null --option pre_tokenizer=Whitespace",
    ),
    (r"^options are a tool's own, and", "--option is a tool's own, and can only"),
    (r"\bor lower character_coverage$", "or lower --option character_coverage=F"),
    (r"\bor hard_vocab_limit=False$", "or give --option hard_vocab_limit=false"),
    (r"\bor give the option (?=max_sentence_length=)", "or give --option "),
    (OWN, "--option "),
    (r"\bbeta_code=False leaves it", "--no-beta-code leaves it"),
    (r"\bend_of_word=(?=['\"])", "--end-of-word "),
    (r"\bcheckpoint=(?=checkpoint-\d)", "--checkpoint "),
    (r", or None(?: for all)?$", ""),
    (r"\bresume=False\b", "--restart"),
    (r"\bor cascade=True$", "or give --cascade"),
    (r"\bgive other text as held_out\b", "give other text (--held-out)"),
    (r"\b(as|give) held_out$", r"\1 --held-out FILE"),
    (r", and superwords reads the text twice", ", and --superwords reads the text twice"),
    (r"\babove vocab_size (?=\d)", "above --vocab-size "),
    (r"\bthe smallest of sizes, (.*), or sizes from", r"the smallest of --sizes, \1, or --sizes from"),
    (r"\bbut start has (?=[\d,]+ tokens?)", "but --start has "),
    (r"^memory_limit (?=['\"])", "--memory-limit "),
    (r"\btraining (without|under) memory_limit\b", r"training \1 --memory-limit"),
    (r"^several languages (?=and (?:checkpoint|memory_limit) do not go together)", "--parity "),
    (r"\bcheckpoint (do not go together).*", r"--resume \1"),
    (
        r"\bwith count_pieces\(memory_limit=\.\.\.\), and give its table as the texts$",
        "with `syllabary count-pieces --memory-limit`, and give the tables as FILES",
    ),
    (r"\bwith syllabary\.surgery\.add or `", "with `"),
    (r": draw a way by its score with sample\(alpha=\)$", "; from Python, tok.sample draws a way"),
    (r"^steps and epochs both say", "--steps and --epochs both say"),
    (r"^dropout is (?=.*: give a number (?!or ))", "--dropout is "),
    (r"; decode it properly, or replace it: text\.encode\(.*", UNDECODED),
    (r"; replace it, as by text\.encode\(.*", UNDECODED),
    (r': use errors="replace", or decode_bytes for the bytes$', ""),  # the hint says it
    (r"; encode\(\) cuts text to tokens$", "; `syllabary encode` cuts text to tokens"),
)

# Arguments that have an option of their name.
NAMES = (
    "accumulate|block_size|bytes|checkpoint|column|device|encoding|end_of_word|epochs|fallback|flops|force"
    "|format|learning_rate|like|max_token_length|memory_limit|min_frequency|normalize|num_merges"
    "|sizes|split|start|stride|superwords|temperature|tie_break|top_p|unit|vocab_size|warmup"
)
VALUED = "documents|end|errors|kind|like|normalize|positions|split|tie_break"  # with a word as their value

# Where such a name stands. Of a second group remains what it finds.
OPTIONS: Sequence[str] = (
    rf"^({NAMES})(?= is (?:[-\d'\"]|nan|inf|empty)| does not go with | cuts | cannot be |: lone surrogate )",
    (
        r"\b(vocab_size|num_merges|min_frequency|max_token_length|max_tokens|end_of_word)"
        r"(?= is \d| \(now |\)| mark )"
    ),
    rf"\b(?<!-)({NAMES})(?=(?: and [\w -]+)? do not go together)",
    rf"(?<=leave )({NAMES})(?= out\b)|(?<=does not go with )({NAMES})(?=: )",
    r"(?<=is given as )(\w+)=(?= too\b)",
    r"(?<= a smaller )(batch_size|block_size)\b|(?<=, a )(max_token_length)\b|(?<=\(and more )(accumulate)\b",
    rf"\b({NAMES})=(?:True\b|…|(?=[ ,)]|$))",
    r"\b(dropout|seed|val)=(\d)",
    rf"^(unit)=\"(\w+)\"|\b({VALUED})=\"([\w-]+)\"|(?<=.)\b({VALUED})='([\w-]+)'",
    rf"^({VALUED}|unit)=(['\"])",
)

# How a corpus is to be read, which only some verbs can be told: the others leave the advice out.
READING: Sequence[tuple[str, str]] = (
    (
        r', or declare its encoding \(encoding=…\)(?:; errors="replace" reads it with U\+FFFD there)?$',
        "",
    ),
    (r"(?:, and|; if its encoding is another,) declare it \(encoding=…\)$", ""),
    (r"; if the file does not declare its encoding, do \(encoding=…\)", ""),
    (r"(; the (?:plain )?columns are [^;]*) \(column=…\)$", r"\1"),
    (r" For an array give kind='json'$", " An array is read from a file called ….json"),
    (r"; beta_code=False leaves it$", ""),
    (r'; normalize="NFC" makes them one$', "; `syllabary train --normalize NFC` makes them one"),
)

# Kind of error, a part of its sentence -> the way out.
HINTS: Sequence[tuple[type[Exception], str, str]] = (
    (
        errors.SpecialTokenError,
        "",
        "`--special allow` gives special tokens their ids, `--special text` reads them as plain text",
    ),
    (
        errors.UnknownEncodingError,
        " is no file, ",
        "a tokenizer is given as its file or folder, or by a name, as cl100k_base or gpt-4o",
    ),
    (
        errors.FormatError,
        "of no known format (",
        "a file that does not show its format may by its name: tokenizer.json, ….tiktoken, …vocab.bpe",
    ),
    (
        errors.FormatError,
        "; convert it, which says all that is lost, or save as .syllabary.json",
        "`-o NAME.syllabary.json` keeps everything, then `syllabary convert NAME.syllabary.json OUT`",
    ),
    (
        errors.TextError,
        "the stream is not UTF-8 ",
        "without `--stream`, `--encoding` and `--errors` say how it is read",
    ),
    (errors.SplitError, "", "a bare word is the name of a split; anything else is a pattern"),
)


def spoken(sentence: str) -> str:
    """The sentence with options as one types them.

    >>> spoken("vocab_size is 10, but ...; give split=, a pattern or one of ...")
    '--vocab-size is 10, but ...; give --split, a pattern or one of ...'
    >>> spoken("vocab_size.txt: byte 0xFF")
    'vocab_size.txt: byte 0xFF'
    """
    for phrase, words in PHRASES:
        sentence = re.sub(phrase, words, sentence, flags=re.DOTALL)
    for place in OPTIONS:
        sentence = re.sub(place, _typed, sentence, flags=re.DOTALL)
    return sentence


def _typed(found: re.Match[str]) -> str:
    """The option of the name that was found, and its value."""
    name, *value = filter(None, found.groups())
    return " ".join(["--" + name.replace("_", "-"), *value])


def read_as_it_is(sentence: str) -> str:
    """The sentence of a corpus without the advice to say how it is to be read.

    >>> read_as_it_is("a.txt: not UTF-8; convert the file to UTF-8, or declare its encoding (encoding=…)")
    'a.txt: not UTF-8; convert the file to UTF-8'
    """
    for advice, words in READING:
        sentence = re.sub(advice, words, sentence)
    return sentence


@contextmanager
def told_of(flag: str, *names: str) -> Iterator[None]:
    """An error about the first word of which is one of these arguments is about the option that was given.

    >>> with told_of("--truncate", "size"):
    ...     raise errors.VocabularyError("size is 100, but ...")
    Traceback (most recent call last):
    syllabary.errors.VocabularyError: --truncate is 100, but ...
    """
    try:
        yield
    except (errors.TrainingError, errors.VocabularyError) as error:
        name, space, rest = str(error).partition(" is ")
        if name not in names:
            raise
        raise type(error)(flag + space + rest) from error


@contextmanager
def format_in(option: str | None) -> Iterator[None]:
    """A file's name that says no format is told of with the option that says it, or without one.

    >>> with format_in("--to"):
    ...     raise errors.FormatError("end the name in, or give format=, one of c")
    Traceback (most recent call last):
    syllabary.errors.FormatError: end the name in, or give --to, one of c
    """
    try:
        yield
    except errors.FormatError as error:
        sentence, ours = str(error), "" if option is None else f", or give {option},"
        if ", or give format=," not in sentence:
            raise
        raise type(error)(sentence.replace(", or give format=,", ours)) from error


def decoded(text: str, name: str = "the argument") -> str:
    """A text given as an argument, or as the option `name`; `TextError` that quotes what is no UTF-8.

    >>> decoded("é")
    'é'
    """
    text = reread(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        place = f"a lone surrogate at character {error.start}, which is no Unicode text"
        raise errors.TextError(f"{name} {symbols.shown(text)} has {place}{UNDECODED}") from error
    return text


def reread(text: str) -> str:
    """An argument that Python has read as ASCII (`LC_ALL=C`) as the UTF-8 that it is, if it is that."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        with suppress(UnicodeError):
            return os.fsencode(text).decode("utf-8")
    return text


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "piece"), plural(1200, "piece")
    ('1 piece', '1,200 pieces')
    """
    return symbols.plural(number, noun, ",")


def hint(error: Exception) -> str | None:
    """The way out of an error, if there is more to say than it does itself."""
    sentence = str(error)
    return next((words for kind, part, words in HINTS if isinstance(error, kind) and part in sentence), None)
