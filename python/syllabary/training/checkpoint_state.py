"""What `checkpoint.json` says: the plan of a training, its corpus, and how far both are.

Adds the plan (whatever decides the result), the sentences about what differs, and the file: JSON with a
checksum, whose values are looked at before they are used. Leaves out: when it is written (`checkpoint`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from syllabary.corpus.corpus import Corpus
from syllabary.corpus.report import Report
from syllabary.errors import CheckpointError, FormatError
from syllabary.files import read_bounded
from syllabary.formats import syllabary_json
from syllabary.piece_table import PieceTable
from syllabary.reference.symbols import plural
from syllabary.reference.train_huggingface import BpeTrainerOptions
from syllabary.reference.train_sentencepiece_options import SentencePieceOptions
from syllabary.reference.train_unigram_huggingface import UnigramTrainerOptions
from syllabary.spec import TokenizerSpec, TrainOptions
from syllabary.training.checkpoint_files import unusable, way_out

STATE = "checkpoint.json"
FORMAT = "syllabary-training"
VERSION = 1
TABLE = re.compile(r"counts-(\d{1,18})\.bin")
MERGING = ("vocab_size", "num_merges", "min_frequency", "max_token_length", "tie_break")
# What a plan has only a hash of -> what an error calls it.
HASHED = {"start": "tokenizer to start from", "table of counts": "table of counts"}
LISTED = 10_000  # files, one by one; of more only a sum
WHOLE = 1 << 62  # bytes: a file of any size is one unit

Plan = dict[str, Any]
Options = TrainOptions | SentencePieceOptions | BpeTrainerOptions | UnigramTrainerOptions


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a corpus was read, in bytes of its text with one more byte at the end of each document.

    counted: so far it is in the table. read: so far its text is known, `crc` being its CRC-32.
    marks: the CRC-32 at every `watched.MARK` bytes before that.
    """

    counted: int = 0
    read: int = 0
    crc: int = 0
    marks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """What `checkpoint.json` says.

    run: a name that no other training has. plan: what decides the result. files: name, size and time of
    change of each, if the corpus is of files. whole: whether all is counted. table: the file of counts.
    size: bytes of the corpus, and report: its report, when all is counted. ordered: whether the table is in
    the order in which pieces were first seen.
    """

    run: str
    plan: Plan
    files: list[list[Any]] | None
    whole: bool
    table: str | None
    seen: Seen
    size: int = 0
    report: dict[str, Any] = dataclasses.field(default_factory=dict)
    ordered: bool = True


# ---- the plan ----


def plan_of(options: Options, source: Corpus | PieceTable, more: Mapping[str, object]) -> Plan:
    """Everything that decides the result but the text, as plain JSON values; of a table, what is in it."""
    if isinstance(source, PieceTable):
        digest = hashlib.blake2b(source.data.tobytes(), digest_size=16)
        for column in (source.ends, source.counts):
            digest.update(column.astype("<u8").tobytes())
        read: dict[str, object] = {"table of counts": digest.hexdigest()}
    else:
        read = {f"corpus's {name}": value for name, value in source.options().items()}
    from importlib.metadata import version  # slow to import, and only resumable training needs it

    plan = {"version": version("syllabary"), **dataclasses.asdict(options), **read, **more}
    found: Plan = json.loads(json.dumps(plan, default=repr))
    return found


def name_of(spec: TokenizerSpec) -> str:
    """What a plan calls a tokenizer: a hash of all that it is."""
    return hashlib.blake2b(syllabary_json.write(spec), digest_size=16).hexdigest()


def file_list(corpus: Corpus) -> list[list[Any]] | None:
    """Name, size and time of change in ns of each file; None if the corpus is not of plain files alone."""
    units = corpus.units(WHOLE)
    if not units:
        return None
    found: list[list[Any]] = []
    for name in (name for unit in units for name in unit.paths):
        try:
            status = os.stat(name)
        except OSError:  # reading it will say why
            found.append([os.path.basename(name), 0, 0])
        else:
            if not stat.S_ISREG(status.st_mode):
                return None  # a pipe has no size
            found.append([os.path.basename(name), status.st_size, status.st_mtime_ns])
    if len(found) <= LISTED:
        return json.loads(json.dumps(found))  # type: ignore[no-any-return]
    names = hashlib.blake2b(repr([file[0] for file in found]).encode("utf-8", "surrogatepass"), digest_size=8)
    return [
        [f"{len(found):,} files ({names.hexdigest()})", sum(file[1] for file in found), 0],
        ["their times", 0, sum(file[2] for file in found)],
    ]


def compare(folder: Path, state: State, plan: Plan, files: list[list[Any]] | None, merging: bool) -> None:
    """`CheckpointError` that names the options or files that are others than those of then.

    merging: whether merging has begun; before, its options (`MERGING`) may change.
    """
    free = () if merging else MERGING
    before, now = (
        {name: value for name, value in each.items() if name not in free} for each in (state.plan, plan)
    )
    if before != now:
        raise CheckpointError(
            f"{folder}: a checkpoint of a training with another {_difference(before, now)}; ask for what it "
            f"began with to go on, or {way_out(folder)}"
        )
    if files is None or state.files is None:
        return
    then, here = ([(name, size) for name, size, _time in each] for each in (state.files, files))
    if then != here:
        pairs = zip_longest(then, here, fillvalue=("no file", 0))
        old, new = next((old, new) for old, new in pairs if old != new)
        raise CheckpointError(
            f"{folder}: a checkpoint of another corpus: {_file(*old)} then, {_file(*new)} now; give the "
            f"corpus as it was, or {way_out(folder)}"
        )


def _file(name: str, size: int) -> str:
    return f"{name} ({plural(size, 'byte', ',')})" if size or name != "no file" else name


def _difference(old: Plan, new: Plan) -> str:
    """The names of what differs, with the values."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return " and ".join(HASHED.get(name) or f"{name} {_both(old.get(name), new.get(name))}" for name in names)


def _both(old: object, new: object) -> str:
    """Two values, by their names if they have any that differ."""
    before, now = _named(old), _named(new)
    return f"({_cut(old)}, now {_cut(new)})" if before == now else f"({before}, now {now})"


def _named(value: object) -> str:
    """Of a split its name, or else its pattern; of another value its JSON."""
    if isinstance(value, dict) and {"name", "pattern"} <= value.keys():
        return str(value["name"]) if value["name"] else _cut(value["pattern"])
    return _cut(value)


def _cut(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:100] + "…"


# ---- `checkpoint.json` ----


def state_bytes(state: State) -> bytes:
    """The state as a file, with a checksum."""
    body = {"format": FORMAT, "format_version": VERSION, **dataclasses.asdict(state)}
    return json.dumps({**body, "check": _check(body)}).encode("ascii")


def _check(body: Mapping[str, Any]) -> str:
    data = json.dumps(body, sort_keys=True).encode("ascii")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def read_state(folder: Path) -> State | None:
    """The state in a folder; None if there is none. `CheckpointError` if it is damaged."""
    path = folder / STATE
    try:
        found = json.loads(read_bounded(path))
        if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
            raise unusable(path, "is no checkpoint of training")
        if found.pop("format_version", None) != VERSION:
            raise unusable(path, f"is of another version than {VERSION}, which this syllabary reads")
        check = found.pop("check", None)
        if check != _check({"format": FORMAT, "format_version": VERSION, **found}):
            raise unusable(path, "is damaged (its checksum differs)")
        return _checked(State(**{**found, "seen": Seen(**found["seen"])}), path)
    except FileNotFoundError:
        return None
    except CheckpointError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError, FormatError) as error:
        raise unusable(path, "is damaged, or no checkpoint of training") from error


def _checked(state: Any, path: Path) -> State:
    """The state, if each value is one that can be."""
    seen: Any = state.seen
    numbers = (seen.counted, seen.read, seen.crc, state.size, *seen.marks)
    files = [] if state.files is None else state.files
    fits = (
        all(isinstance(number, int) and number >= 0 for number in numbers)
        and seen.counted <= seen.read
        and isinstance(state.run, str)
        and isinstance(state.plan, dict)
        and isinstance(state.whole, bool)
        and isinstance(state.ordered, bool)
        and (state.table is None or TABLE.fullmatch(state.table) is not None)
        and all(isinstance(file, list) and len(file) == 3 for file in files)
    )
    if not fits:
        raise unusable(path, "contradicts itself")
    if state.whole:
        Report.of(state.report)  # raises TypeError, KeyError or ValueError
    checked: State = dataclasses.replace(state, seen=dataclasses.replace(seen, marks=tuple(seen.marks)))
    return checked
