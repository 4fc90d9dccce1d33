"""Which texts may be pieces: their length, their scripts, their digits, and where spaces may stand in them.

Source: sentencepiece 0.2.3, `trainer_interface.cc` (`IsValidSentencePiece`). Asked of texts that two pieces
make together; single characters are pieces whatever they are. Leaves out: the scripts themselves
(`train_sentencepiece_scripts`).
"""

from __future__ import annotations

from functools import lru_cache

from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.reference.train_sentencepiece_scripts import INHERITED, script_of

SPACE = "\u2581"
UNKNOWN_CHARACTER = "\u2585"  # stands in words for characters outside the alphabet
BOUNDARY = "\x1f"  # stands in sentences for symbols that were cut out
NEVER = frozenset(["\0", " ", BOUNDARY, UNKNOWN_CHARACTER])
DIGITS = frozenset("0123456789０１２３４５６７８９")
ANY = ""  # a script that goes with every other

script = lru_cache(maxsize=None)(script_of)


def is_valid(text: str, options: SentencePieceOptions) -> bool:
    """Whether a text of two characters or more may be a piece.

    >>> options = SentencePieceOptions()
    >>> [is_valid(text, options) for text in ("▁ab", "a▁b", "aб", "a1", "a\u0301б", "漢カ", "1.")]
    [True, False, False, False, False, True, True]
    """
    if len(text) > options.max_sentencepiece_length or not NEVER.isdisjoint(text):
        return False
    if options.split_digits and not DIGITS.isdisjoint(text):
        return False
    return spaces_fit(text, options) and (not options.split_by_unicode_script or scripts_fit(text, options))


def spaces_fit(text: str, options: SentencePieceOptions) -> bool:
    """Whether spaces stand where they may.

    Cut by whitespace: in front (or as a suffix, behind), one of them. Else: anywhere but behind (as a suffix:
    but in front). Alone, in a row, if `allow_whitespace_only_pieces`.

    >>> whole = SentencePieceOptions(split_by_whitespace=False)
    >>> [spaces_fit(text, whole) for text in ("a▁b", "▁a▁b", "a▁", "▁▁")]
    [True, True, False, False]
    """
    if SPACE not in text:
        return True
    if options.allow_whitespace_only_pieces and not text.strip(SPACE):
        return True
    if options.treat_whitespace_as_suffix:
        return SPACE not in (text[:-1] if options.split_by_whitespace else text[:1])
    return SPACE not in (text[1:] if options.split_by_whitespace else text[-1:])


def scripts_fit(text: str, options: SentencePieceOptions) -> bool:
    """Whether each character is of the script of the one before it.

    A combining mark (`Inherited`) takes the script before it. Without `split_by_number` a digit goes with any
    script, and so does what follows it; spaces are passed over.

    >>> scripts_fit("a1б", SentencePieceOptions(split_by_number=False))
    True
    """
    before = ANY
    for character in text:
        if character == SPACE:
            continue
        here = script(character)
        if not options.split_by_number and character in DIGITS:
            here = ANY
        elif here == INHERITED:
            here = before
        if ANY not in (here, before) and here != before:
            return False
        before = here
    return True
