"""What the library says, in the words of the command line: `--split` for `split=`, and the way out.

The library speaks to those who call it from Python. `spoken` puts its sentences into options; `hint` adds
the way out where a sentence has none, or had Python's. `plural` is the grammar.
`printable` shows a file's name, whatever is in it. Leaves out: how errors look (`common`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from syllabary import errors
from syllabary.reference import symbols
from syllabary.visible import printable as printable

# An option's name where the library speaks of it; elsewhere it may be a file's name, or text that is quoted.
OPTION = re.compile(
    r"\b(vocab_size|num_merges|min_frequency|max_token_length|end_of_word)"
    r"(?= is (?:\d|empty)| \(now |\)| mark )"
)

# Those of other libraries that have no option of their own here, where a sentence begins with one.
OWN = (
    r"^(?=(?:(?:auto_)?character_coverage|input_sentence_size|input_format|max_sentence_length|required_chars"
    r"|seed_sentencepiece_size|shrinking_factor|num_sub_iterations|use_all_vocab|pretokenization_delimiter"
    r"|normalization_rule_name|(?:unk|bos|eos|pad)_id|limit_alphabet) (?:is|holds|needs|goes) "
    r"|dropout is .*: give a probability, from )"
)

UNDECODED = ": arguments are read as UTF-8, and this one is not; a file may have another encoding"

# The library's own phrases, each sought in every sentence.
PHRASES: Sequence[tuple[str, str]] = (
    (r"\. To make it (?:its id|id \d+): special=.*", ""),  # the hint says it
    (r"; if it is one, name it with format=$", ""),  # as above
    (r"^the stream (is not UTF-8 at .*): decode it as .*", r"stdin \1"),  # as above
    (r'\bgive split=, or like= of a tool, as "([\w-]+)"', r"give --split, or --like, as --like \1"),
    (r"\bgive (format|split)=, ", r"give --\1, "),
    (r'^unit="([\w-]+)" cannot be learned', r"--unit \1 cannot be learned"),
    (r'^tie_break="([\w-]+)" cannot be learned', r"--tie-break \1 cannot be learned"),
    (r'\bwith unit="byte" or "char"', "with --unit byte or char"),
    (r"\bleave special_tokens out\b", "leave --special out"),
    (r"\b(training|than|text again) like='([\w-]+)'", r"\1 --like \2"),
    (r"\bleave out split\b", "leave out --split"),
    (r"\bname it in special_tokens=", "load it from Python, with special_tokens="),
    (r"\bname them in special_tokens= to", "load it from Python, with special_tokens=, to"),
    (r"\bname(d?)( it)? in split=", r"name\1\2 in --split"),
    (r"\bgive split='([\w-]+)' or split='([\w-]+)', or", r"give --split \1 or --split \2, or"),
    (r"; split='whitespace-split' drops", "; --split whitespace-split drops"),
    (r"\bwith split= it is read", "with --split it is read"),
    (r"(under )memory_limit(, .*: )tie_break='first-seen' ", r"\1--memory-limit\2--tie-break first-seen "),
    (r'\(alphabet="seen"\)', "(--like huggingface takes those seen)"),
    (r'\btrain with alphabet="all"', "train without --like huggingface"),
    (r"\bfallback=True\b", "--fallback"),
    (r'\bneeds unit="char" or "word"', "needs --unit char or word"),
    (r'\bneeds unit="char"', "needs --unit char"),
    (r"\bend_of_word=(?=['\"])", "--end-of-word "),
    (r"^like=(?=['\"])", "--like "),
    (
        r"^model='(\w+)' is sentencepiece's: give like='(\w+)' too, or model='(\w+)'",
        r"--model \1 is sentencepiece's: give --like \2 too, or --model \3",
    ),
    (r"^(?=(?:split|unit|alphabet|normalize|superwords|start|fallback) does not go with)", "--"),
    (r"\bdoes not go with model='(\w+)'", r"does not go with --model \1"),
    (r"^model='(\w+)' does not go with sizes", r"--model \1 does not go with --sizes"),
    (r"^(min|num|tie)_(\w+) does not go with", r"--\1-\2 does not go with"),
    (r"^end_of_word does not go with", "--end-of-word does not go with"),
    (r"^superwords(?= is \d|(?: and \w+| and several languages) do not)", "--superwords"),
    (r"^(--superwords is \d+, above )vocab_size", r"\1--vocab-size"),
    (r"^(--superwords is \d+, above the smallest of )sizes(.*, or )sizes", r"\1--sizes\2--sizes"),
    (r"^--superwords and checkpoint do not.*", "--superwords and --resume do not go together"),
    (r"^--superwords and memory_limit do not.*", "--superwords and --memory-limit do not go together"),
    (r"^checkpoint is empty", "--checkpoint is empty"),
    (r"^memory_limit (?=['\"].* is (?:no size|[\d,]+ bytes))", "--memory-limit "),
    (r"\bof a training without memory_limit\b", "of a training without --memory-limit"),
    (r"\bgoe?s? with like='(\w+)'", r"go with --like \1"),
    (r"(--like \w+) and options: these .*", r"\1 and --option, as pre_tokenizer=Whitespace"),
    (r"\bor like='huggingface' alone", "or huggingface"),
    (r"\bor with model='wordpiece' or 'wordlevel'$", "or with --model wordpiece or wordlevel"),
    (r"go into options, as \{'character_coverage': 1\.0\}", "go into --option character_coverage=1.0"),
    (
        r"^options: model_type is '(\w+)', but model='(\w+)': leave it out",
        r"--option: model_type is '\1', but --model is '\2': give --model \1 instead",
    ),
    (r"\bis given as special_tokens= too", "is given as --special too"),
    (r"\bis given as max_token_length= too", "is given as --max-token-length too"),
    (r"\bis given as (vocab|min)_(\w+)= too", r"is given as --\1-\2 too"),
    (r"\bis given as (\w+)= too", r"is given as --\1 too"),
    (r"\bset byte_fallback=True$", "give --option byte_fallback=true"),
    (r"^options: '", "--option: '"),
    (
        r"\bsay in options how the table was cut \(normalizer, pre_tokenizer\)$",
        "say how the table was cut, as --option normalizer=null --option pre_tokenizer=Whitespace",
    ),
    (r"^options are a tool's own, and", "--option is a tool's own, and can only"),
    (r'\bnormalize="NFC" makes', "--normalize NFC makes"),
    (r"\((encoding|column)=…\)", r"(--\1)"),
    (r"\bbeta_code=False leaves it", "--no-beta-code leaves it"),
    (r'\berrors="replace" reads', "--errors replace reads"),
    (r"\bgive kind='json'", "give --kind json"),
    (r", or None(?: for all)?$", ""),
    (r"\bresume=False\b", "--restart"),
    (r"\bremove (it|them) too, or cascade=True$", r"remove \1 too, or give --cascade"),
    (r"\bforce=True\b", "--force"),
    (r"\bcheckpoint=(?=checkpoint-\d+\.safetensors is another)", "--checkpoint "),
    (r'\bpositions="learned"', "--positions learned"),
    (r"\bval=(?=\d)", "--val "),
    (r"give text to measure on, as held_out$", "give text to measure on, as --held-out FILE"),
    (r"\bgive held_out$", "give --held-out FILE"),
    (r"\bgive other text as held_out\b", "give other text (--held-out)"),
    (r"\bgive True or False$", "give true or false"),
    (r"^(unit|split|normalize)=(?='.*: start decides it)", r"--\1 "),
    (r"(--superwords|several languages) and (like|start) do not", r"\1 and --\2 do not"),
    (r"^several languages and checkpoint do not.*", "--parity and --resume do not go together"),
    (r"^several languages and memory_limit do not", "--parity and --memory-limit do not"),
    (r"\bleave memory_limit out\b", "leave --memory-limit out"),
    (
        r"\bwith count_pieces\(memory_limit=\.\.\.\), and give its table as the texts$",
        "with `syllabary count-pieces --memory-limit`, and give the tables as FILES",
    ),
    (r"\bor lower character_coverage$", "or lower --option character_coverage=F"),
    (r"\bor hard_vocab_limit=False$", "or give --option hard_vocab_limit=false"),
    (r"^(?=superwords cuts the text twice)", "--"),
    (r", and (?=superwords reads the text twice)", ", and --"),
    (r": leave (unit|split|normalize|fallback|like|start) out$", r": leave --\1 out"),
    (r": leave end_of_word out$", ": leave --end-of-word out"),
    (r"^special_tokens: (?='.* is none of start's)", "--special: "),
    (r"\bwith syllabary\.surgery\.add or `", "with `"),
    (r"\bseed=(?=\d)", "--seed "),
    (r"^dropout=(?=.* passes over merges)", "--dropout "),
    (r": draw a way by its score with sample\(alpha=\)$", "; from Python, tok.sample draws a way"),
    (r"^steps and epochs both say", "--steps and --epochs both say"),
    (r"^split(?=: lone surrogate )", "--split"),
    (r"^end_of_word(?=: lone surrogate )", "--end-of-word"),
    (r"^learning_rate is ", "--learning-rate is "),
    (r"^(dropout|epochs|bytes|flops) is (?=.*: give a number (?!or ))", r"--\1 is "),
    (r"^(accumulate|warmup) is (?=.*: give a whole number)", r"--\1 is "),
    (
        r"; (?:decode it properly, or replace it:|replace it, as by) text\.encode\(.*",
        UNDECODED,
    ),
    (r"^end=(?=['\"])", "--end "),
    (OWN, "--option "),
    (r"\bor give the option (?=max_sentence_length=)", "or give --option "),
    (r"^max_tokens is ", "--max-tokens is "),
    (r'\(of plain text: documents="line"\)$', "(of plain text: --documents line)"),
    (r"^(?=temperature is )", "--"),
    (r"^top_p is ", "--top-p is "),
    (r"^block_size is ", "--block-size is "),
    (r"^(?=(?:stride|device) is )", "--"),
    (r"\bbut start has (?=[\d,]+ tokens?)", "but --start has "),
    (r"; encode\(\) cuts text to tokens$", "; `syllabary encode` cuts text to tokens"),
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
    return OPTION.sub(lambda found: "--" + found[1].replace("_", "-"), sentence)


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
