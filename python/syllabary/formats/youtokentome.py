"""YouTokenToMe's models: a text file of numbers, read.

    n m                     characters, rules
    codepoint id            n lines
    left right result       m lines, in the order of their rank
    unk pad bos eos         ids; -1: there is none

Source: YouTokenToMe 1.0.6, `cpp/utils.cpp` (`BPEState::load`) and `cpp/bpe.cpp` (`encode_sentence`). Words
are what stands between white space (six characters of ASCII) or `▁`; each begins with `▁`; characters of a
word in a row that are not in the vocabulary are one unknown token. Special tokens are never found in text;
their names are `<UNK>`, `<PAD>`, `<BOS>`, `<EOS>`. Leaves out: writing, dropout by its random numbers.
"""

from __future__ import annotations

from pathlib import Path

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.record import Format, Hints, checked
from syllabary.formats.signs import LONGEST_NUMBER, NUMBERS, SIGNS
from syllabary.reference.symbols import plural, shown
from syllabary.spec import Matching, SplitSpec, Step, StepValue, TokenizerSpec

NAME = "youtokentome"
SPACE = "\u2581"
SPECIAL = ("<UNK>", "<PAD>", "<BOS>", "<EOS>")


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of a model; `FormatError` with the line for what is no line of it."""
    hints.refuse(path, NAME)
    lines = read_bounded(path).split(b"\n")
    chars, rules = numbers(path, lines, 0, 2)
    if chars < 0 or rules < 0 or len(lines) < chars + rules + 2:
        raise FormatError(
            f"{path}: line 1: {plural(chars, 'character')} and {plural(rules, 'rule')}, in "
            f"{plural(len(lines), 'line')}"
        )
    tokens: dict[int, str] = {}
    for at in range(1, chars + 1):
        point, token_id = numbers(path, lines, at, 2)
        if not 0 <= point <= 0x10FFFF or 0xD800 <= point < 0xE000:
            raise wrong(path, lines, at, f"{point} is no character")
        add(path, lines, at, tokens, token_id, chr(point))
    if len(set(tokens.values())) < chars:
        raise FormatError(f"{path}: a character has two ids")
    alphabet = {text.encode(): token_id for token_id, text in tokens.items()}
    merges: list[tuple[int, int, int]] = []
    for at in range(chars + 1, chars + rules + 1):
        left, right, result = numbers(path, lines, at, 3)
        if left not in tokens or right not in tokens:
            raise wrong(path, lines, at, "a rule of tokens that no line before it makes")
        add(path, lines, at, tokens, result, tokens[left] + tokens[right])
        merges.append((left, right, result))
    ids = numbers(path, lines, chars + rules + 1, 4)
    after = next((at for at in range(chars + rules + 2, len(lines)) if lines[at].strip()), None)
    if after is not None:
        raise wrong(path, lines, after, "the model ends on the line of four ids, above")
    special = {name: token_id for name, token_id in zip(SPECIAL, ids, strict=True) if token_id != -1}
    if SPACE.encode() not in alphabet or alphabet[SPACE.encode()] == 0 or ids[0] == -1:
        raise FormatError(
            f"{path}: a model needs an unknown token, and {SPACE!r} as a character with an id above 0: "
            "YouTokenToMe itself loses tokens without"
        )
    return checked(to_spec(tokens, alphabet, merges, special), path)


def to_spec(
    tokens: dict[int, str],
    alphabet: dict[bytes, int],
    merges: list[tuple[int, int, int]],
    special: dict[str, int],
) -> TokenizerSpec:
    """The tokenizer that a model means."""
    cut: dict[str, StepValue] = {
        "pattern": f"[ \\t\\n\\x{{0B}}\\x{{0C}}\\r{SPACE}]+",
        "regex": True,
        "behavior": "removed",
        "invert": False,
    }
    mark: dict[str, StepValue] = {"replacement": SPACE, "prepend_scheme": "always", "split": False}
    replaced: dict[str, StepValue] = {"pattern": SPACE, "regex": False, "content": " "}
    return TokenizerSpec(
        unit="char",
        split=SplitSpec(None),
        tokens={token_id: text.encode() for token_id, text in tokens.items()},
        alphabet=alphabet,
        merges=tuple(merges),
        special_tokens=special,
        pretokenizer=(Step("Split", cut), Step("Metaspace", mark)),
        decoder=(
            Step("Replace", replaced),
            Step("Fuse"),
            Step("Strip", {"content": " ", "start": 1, "stop": 0}),
        ),
        matching=dict.fromkeys(special, Matching(stage="never")),
        unknown=special["<UNK>"],
        fuse_unknown=True,
    )


def numbers(path: Path, lines: list[bytes], at: int, count: int) -> list[int]:
    """The numbers of a line, of which there must be so many."""
    if at >= len(lines) or not NUMBERS.fullmatch(lines[at]):
        raise wrong(path, lines, at, f"{count} numbers should stand there")
    found = lines[at].split()
    if len(found) != count or max(map(len, found)) > LONGEST_NUMBER:
        raise wrong(path, lines, at, f"{count} numbers should stand there")
    return [int(number) for number in found]


def add(path: Path, lines: list[bytes], at: int, tokens: dict[int, str], token_id: int, text: str) -> None:
    """One more token; `FormatError` if it has no id of its own."""
    if token_id < 0 or token_id in tokens:
        raise wrong(path, lines, at, f"id {token_id} is {'negative' if token_id < 0 else 'there already'}")
    tokens[token_id] = text


def wrong(path: Path, lines: list[bytes], at: int, what: str) -> FormatError:
    """The error for a line."""
    line = lines[at] if at < len(lines) else b""
    return FormatError(f"{path}: line {at + 1}: {shown(line)}: {what}")


FORMAT = Format(SIGNS[NAME], read, None)
