"""Greek in beta code (`mh=nin a)/eide qea`) -> Unicode (`μῆνιν ἄειδε θεα`), NFC.

The letters, the codes of sigma (`s1`, `s2`, `s3`, `j`) and the signs `:` and `#` are those of the library
`beta-code`. Mended around it: marks in any order (`i/+` = `i+/`, `*)/a` = `*a)/`, `*)/u`, `w=)|`), digamma
(`v`), vowels marked long and short (`a_`, `a^`; a `_` after anything else is a dash), the apostrophe (`'` ->
’), parentheses that are no breathings (`(o( a)nh/r)`), words in capitals and small letters that are no beta
code (`Hom.`), and final sigma before every sign (`s]`) but a hyphen and an apostrophe (`o(/s'` -> ὅσ’), also
where an element ends in the middle of a word.

Left as they are: the escapes of the Thesaurus Linguae Graecae for fonts, pages, brackets and rarer signs
(`$`, `&1`, `@`, `%2`, `"3`, `[1`, `#5` …), the dot below (`?`), numbers, and everything outside of ASCII.
Words of another language in small letters come out in Greek ones: their language has to be marked.
"""

from __future__ import annotations

import functools
import importlib
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from syllabary.errors import CorpusError

# In the order in which Unicode composes: length, diaeresis, breathing, accent, iota below.
MARKS = {
    "_": "\u0304",
    "^": "\u0306",
    "+": "\u0308",
    ")": "\u0313",
    "(": "\u0314",
    "/": "\u0301",
    "\\": "\u0300",
    "=": "\u0342",
    "|": "\u0345",
}
ORDER = {mark: index for index, mark in enumerate(MARKS)}
APOSTROPHE = "\u2019"
DIGAMMA = {"v": "\u03dd", "*v": "\u03dc"}  # the library does not know it

WORD = re.compile(r"[A-Za-z*](?:[A-Za-z*()/\\=|+_^]|(?<=[Ss])[123](?!\d))*")
LETTER = re.compile(
    r"(?P<sigma>\*?[Ss][123])"
    r"|\*(?P<before>[()/\\=|+]*)(?P<capital>[A-Za-z])(?P<after>[()/\\=|+_^]*)"
    r"|(?P<vowel>[AEHIOUWRaehiouwr])(?P<marks>[()/\\=|+_^]+)"
    r"|(?P<plain>[A-Za-z])"
)
STARRED = re.compile(r"\*[()/\\=|+]*[A-Za-z]")
MAY_END_IN_BREATHING = re.compile(r"\*?[^AEHIOUWaehiouw()]*[AEHIOUWRaehiouwr/\\=|+_^]+")
OTHER = re.compile(r"[:'_]|#(?!\d)")
SIGNS = re.compile(r"[AEHIOUWRaehiouwr][()/\\=|+]|\*[()/\\=|+]*[A-Za-z]")
GREEK_LETTER = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")
FINAL = re.compile(r"(?<=[^\W\d_])([\u0300-\u036f]*)σ(?=_|[^\w\u0300-\u036f'-])")
ENOUGH = 20_000  # letters that are looked at to tell beta code from Unicode


class Converted(str):
    """A string that was beta code: a sigma at its end waits for what follows."""

    __slots__ = ()


def is_beta(strings: Iterable[str]) -> bool:
    """Whether Greek text is in beta code: more ASCII letters than Greek ones, a mark to each ten or more.

    A string with Greek letters in it is none of beta code's, whatever else it holds.

    >>> is_beta(["mh=nin a)/eide"]), is_beta(["μῆνιν ἄειδε"]), is_beta(["menin aeide"])
    (True, False, False)
    """
    latin = greek = signs = 0
    for string in strings:
        if letters := len(GREEK_LETTER.findall(string)):
            greek += letters
        else:
            latin += sum(letter.isascii() and letter.isalpha() for letter in string)
            signs += len(SIGNS.findall(string))
        if latin + greek > ENOUGH:
            break
    return latin > greek and signs * 10 >= latin


def convert(string: str) -> str:
    """One string of beta code -> `Converted`, of which `join` makes text; with Greek letters in it: itself.

    Raises `CorpusError` where the library is not installed.

    >>> join([convert("a)/ndra moi e)/nnepe, *mou=sa: polla/ d' o(/ g' e)n po/ntw|")])
    'ἄνδρα μοι ἔννεπε, Μοῦσα· πολλά δ’ ὅ γ’ ἐν πόντῳ'
    """
    if GREEK_LETTER.search(string):
        return string
    letters = FINAL.sub(r"\1ς", WORD.sub(_word_there, string))
    return Converted(unicodedata.normalize("NFC", OTHER.sub(lambda match: _sign(match[0]), letters)))


def join(strings: Iterable[str]) -> str:
    """The strings as one, NFC where one was beta code, with sigma at a converted one's end as its word asks.

    >>> join([convert("lo/gos"), " "]), join([convert("lo/gos"), convert("i")]), join([convert("o(/s'")])
    ('λόγος ', 'λόγοσι', 'ὅσ’')
    """
    joined: list[str] = []
    waiting, before = False, ""  # whether the last string ends in a sigma of beta code; the character before
    converted = False
    for string in strings:
        if not string:
            continue
        if waiting and before.isalpha() and not _goes_on(string):
            joined[-1] = joined[-1][:-1] + "ς"
        waiting = isinstance(string, Converted) and string.endswith("σ")
        converted = converted or isinstance(string, Converted)
        if waiting:
            before = string[-2:-1] or (joined[-1][-1:] if joined else "")
        joined.append(string)
    if waiting and before.isalpha():
        joined[-1] = joined[-1][:-1] + "ς"
    text = "".join(joined)
    return unicodedata.normalize("NFC", text) if converted else text


def _goes_on(string: str) -> bool:
    """Whether a word with a sigma before this string goes on, or is cut off by an apostrophe of beta code."""
    if isinstance(string, Converted) and string[0] == APOSTROPHE:
        return True
    return string[0].isalpha() or unicodedata.combining(string[0]) > 0 or string[0] == "-"


def _word_there(match: re.Match[str]) -> str:
    word = match[0]
    if word.endswith(")") and match.string[max(0, match.start() - 1) : match.start()] == "(":
        return _word(word[:-1]) + ")"
    return _word(word)


@functools.lru_cache(maxsize=1 << 16)
def _word(word: str) -> str:
    unstarred = STARRED.sub("", word)
    if unstarred != unstarred.lower() and unstarred != unstarred.upper():
        return word
    if word.endswith(")") and not MAY_END_IN_BREATHING.fullmatch(word[:-1]):
        return LETTER.sub(_letter, word[:-1]) + ")"
    return LETTER.sub(_letter, word)


def _letter(match: re.Match[str]) -> str:
    if plain := match["plain"] or match["sigma"]:
        return _composed(plain, "")
    if match["capital"]:
        return _composed("*" + match["capital"], match["before"] + match["after"])
    return _composed(match["vowel"], match["marks"])


@functools.lru_cache(maxsize=4096)
def _composed(letter: str, marks: str) -> str:
    """A letter of beta code and its marks, in any order, as Unicode; a mark twice is one."""
    base = DIGAMMA.get(letter.lower()) or _library()(letter.lower())
    ordered = sorted(set(marks), key=ORDER.__getitem__)
    # The library takes a sigma that is alone for one at the end of a word.
    base = "σ" if letter.lower() in ("s", "s1") else base
    return unicodedata.normalize("NFC", base + "".join(map(MARKS.__getitem__, ordered)))


@functools.cache
def _sign(sign: str) -> str:
    return APOSTROPHE if sign == "'" else _library()(sign)


@functools.cache
def _library() -> Callable[[str], str]:
    try:
        module: Any = importlib.import_module("beta_code")
    except ImportError as error:
        raise CorpusError(
            "Greek in beta code needs beta-code: pip install 'syllabary[corpus]'; beta_code=False leaves it"
        ) from error
    convert_letters: Callable[[str], str] = module.beta_code_to_greek
    return convert_letters
