"""What the library says, in the words of the command line: `--split` for `split=`, and the way out.

The library speaks to those who call it from Python. `spoken` puts its sentences into options; `hint` adds
the way out where a sentence has none, or had Python's. `plural` is the grammar.
`printable` shows a file's name, whatever is in it. Leaves out: how errors look (`common`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from syllabary import errors

# An option's name where the library speaks of it; elsewhere it may be a file's name, or text that is quoted.
OPTION = re.compile(
    r"\b(vocab_size|num_merges|min_frequency|max_token_length|end_of_word)"
    r"(?= is (?:\d|empty)| \(now |\)| mark )"
)

# The library's own phrases, each sought in every sentence.
PHRASES: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(phrase, re.DOTALL), words)
    for phrase, words in (
        (r"\. To make it (?:its id|id \d+): special=.*", ""),  # the hint says it
        (r"; if it is one, name it with format=$", ""),  # as above
        (r"\bgive (format|split)=, ", r"give --\1, "),
        (r"\bleave out split\b", "leave out --split"),
        (r"\bname it in special_tokens=", "load it from Python, with special_tokens="),
        (r'\(alphabet="seen"\)', "(--like huggingface takes those seen)"),
        (r'\btrain with alphabet="all"', "train without --like huggingface"),
        (r"\bfallback=True\b", "--fallback"),
        (r'\bneeds unit="char" or "word"', "needs --unit char or word"),
        (r'\bneeds unit="char"', "needs --unit char"),
        (r"\bend_of_word=(?=['\"])", "--end-of-word "),
        (r"^like=(?=['\"])", "--like "),
        (r"^(?=(?:split|unit|alphabet|normalize) does not go with)", "--"),
        (r"^(min|num|tie)_(\w+) does not go with", r"--\1-\2 does not go with"),
        (r"^end_of_word does not go with", "--end-of-word does not go with"),
        (r"\bgoe?s? with like='sentencepiece'", r"go with --like sentencepiece"),
        (r"go into options, as \{'character_coverage': 1\.0\}", "go into --option character_coverage=1.0"),
        (r"^options: '", "--option: '"),
        (r"^options are sentencepiece's, and", "--option is sentencepiece's, and can only"),
        (r'\bnormalize="NFC" makes', "--normalize NFC makes"),
        (r"\((encoding|column)=…\)", r"(--\1)"),
        (r"\bbeta_code=False leaves it", "--no-beta-code leaves it"),
        (r"\bgive kind='json'", "give --kind json"),
        (r", or None$", ""),
        (r"\bresume=False\b", "--restart"),
        (r"\bforce=True\b", "--force"),
        (r'\bpositions="learned"', "--positions learned"),
        (r"\bval=(?=\d)", "--val "),
        (r"\bseed=(?=\d)", "--seed "),
        (r"^end=(?=['\"])", "--end "),
    )
)

# What a terminal obeys or a line ends at; the last two: the order of characters on the screen.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

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
        "`-t` takes a tokenizer's file or folder, or the name of a published encoding",
    ),
    (
        errors.FormatError,
        "of no known format (",
        "a file that does not show its format may by its name: tokenizer.json, ….tiktoken, …vocab.bpe",
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
        sentence = phrase.sub(words, sentence)
    return OPTION.sub(lambda found: "--" + found[1].replace("_", "-"), sentence)


def printable(text: str, keep: str = "") -> str:
    r"""The text with characters of control as escapes, so that a file's name can neither end a line nor talk
    to the terminal. keep: those that stay.

    >>> print(printable("a\nb\x1b[31m.txt"), printable("a\nb\r", keep="\n").splitlines())
    a\nb\x1b[31m.txt ['a', 'b\\r']
    """
    return CONTROL.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "piece"), plural(1200, "piece")
    ('1 piece', '1,200 pieces')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def hint(error: Exception) -> str | None:
    """The way out of an error, if there is more to say than it does itself."""
    sentence = str(error)
    return next((words for kind, part, words in HINTS if isinstance(error, kind) and part in sentence), None)
