"""sentencepiece's vocabulary files (`.vocab`): `piece TAB score LF`, in the order of the ids.

The file says neither the normalizer nor what the pieces are for, so it is no tokenizer alone: it is read with
the `.model` of the same name beside it, whose pieces and scores it must have, and written together with it.
sentencepiece writes such pairs itself; files without scores (`vocabulary_output_piece_score=false`) are read
too. Leaves out: the model (`sentencepiece`).
"""

from __future__ import annotations

from pathlib import Path

from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats import sentencepiece
from syllabary.formats.record import Format, Hints
from syllabary.formats.sentencepiece_proto import Model, parse
from syllabary.formats.sentencepiece_reduce import reduce
from syllabary.formats.sentencepiece_write import to_model
from syllabary.formats.signs import SCORED_LINE, SIGNS
from syllabary.reference.symbols import shown
from syllabary.spec import TokenizerSpec

NAME = "sentencepiece-vocab"


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of the `.model` beside it.

    Raises `FormatError` if there is none, and with the line for a piece or score that is not the model's.
    """
    hints.refuse(path, NAME)
    model_path = path.with_suffix(".model")
    if model_path == path or not model_path.exists():
        raise FormatError(
            f"{path}: a .vocab file says neither the normalizer nor the types of its pieces, and "
            f"{path.with_suffix('.model').name} is not beside it: put it there, or open the .model"
        )
    spec = sentencepiece.read(model_path, hints)
    _compare(read_bounded(path), parse(read_bounded(model_path), model_path), path)
    return spec


def write_files(spec: TokenizerSpec, path: Path) -> dict[Path, bytes]:
    """The vocabulary file and the model beside it; `FormatError` names what they cannot hold."""
    if path.suffix != ".vocab":
        raise FormatError(f"{path}: end the name in .vocab; the .model is written beside it")
    model = to_model(spec)
    return {path: b"".join(lines(model)), path.with_suffix(".model"): model.write()}


def lines(model: Model, scores: bool = True) -> list[bytes]:
    """The line of each piece; the score in six digits, as sentencepiece prints it.

    >>> lines(Model(texts=["<unk>", "ab"], scores=[0.0, -1234567.0]))
    [b'<unk>\\t0\\n', b'ab\\t-1.23457e+06\\n']
    """
    if not scores:
        return [f"{text}\n".encode() for text in model.texts]
    pairs = zip(model.texts, model.scores, strict=True)
    return [f"{text}\t{score:g}\n".encode() for text, score in pairs]


def _compare(data: bytes, model: Model, path: Path) -> None:
    """Line by line; pieces with line ends or tabs in them are compared whole like any other."""
    if not data.endswith(b"\n"):
        raise FormatError(f"{path}: the last line has no end: cut short")
    if data in (b"".join(lines(model)), b"".join(lines(model, scores=False))):
        return
    at = 0
    expected = lines(model, scores=SCORED_LINE.match(data) is not None)
    for token_id, line in enumerate(expected):
        if not data.startswith(line, at):
            found = data[at : data.find(b"\n", at) + 1]
            number = data.count(b"\n", 0, at) + 1
            raise FormatError(
                f"{path}: line {number}: {shown(found)}, but piece {token_id} of "
                f"{path.with_suffix('.model').name} is {shown(line)}"
            )
        at += len(line)
    number = data.count(b"\n", 0, at) + 1
    raise FormatError(f"{path}: line {number}: more pieces than the {len(model.texts)} of the model")


FORMAT = Format(
    SIGNS[NAME],
    read,
    None,
    sentencepiece.refuses,
    write_files,
    reduce=reduce,
    models=sentencepiece.FORMAT.models,
)
