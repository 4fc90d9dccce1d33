"""Saving a folder as `transformers` does, but so that files that are there stay whole.

Theirs opens the files in place: a full disk or Ctrl-C leaves half of one. Adds `save_whole`: they write into
a temporary folder, and what is there then takes the places; and `name_class`. Leaves out: what else stands in
the files.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from syllabary.files import write_files

CONFIG, TOKENIZER = "tokenizer_config.json", "tokenizer.json"
SAVED_AS = "PreTrainedTokenizerFast"  # what AutoTokenizer of every version knows

Save = Callable[[str], tuple[str, ...]]


def save_whole(place: str | os.PathLike[str], save: Save) -> tuple[str, ...]:
    """The files that `save`, given a folder, writes, put into this one; their paths.

    After any failure the old files are as they were, nothing else is left. Raises `OSError` with the path.
    """
    folder = Path(place)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is a file, not a folder", str(folder))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        with _as_os_error(Path(name)):
            files = save(name)
        found = {
            file.relative_to(name): file.read_bytes() for file in Path(name).rglob("*") if file.is_file()
        }
        told = [Path(file).relative_to(name) for file in files]
    with _made([folder, *(folder / file.parent for file in found)]):
        first = sorted(found, key=lambda file: not file.name.endswith(TOKENIZER))  # nothing is read without
        write_files({folder / file: found[file] for file in first})
    return tuple(os.path.join(place, file) for file in told)


def name_class(files: Iterable[str]) -> None:
    """Among files just written, have the configuration name the class that `AutoTokenizer` knows."""
    for file in map(Path, files):
        if file.name.endswith(CONFIG):
            config = {**json.loads(file.read_bytes()), "tokenizer_class": SAVED_AS}
            text = json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False)
            file.write_bytes(text.encode("utf-8") + b"\n")


@contextlib.contextmanager
def _made(folders: list[Path]) -> Iterator[None]:
    """Folders that are there inside; after a failure those that were made are gone."""
    new = list[Path]()
    try:
        for folder in folders:
            missing = [one for one in (folder, *folder.parents) if not one.exists()]
            for one in reversed(missing):
                one.mkdir(exist_ok=True)
                new.append(one)
        yield
    except BaseException:
        for one in reversed(new):
            with contextlib.suppress(OSError):
                one.rmdir()  # only if nothing is in it
        raise


@contextlib.contextmanager
def _as_os_error(path: Path) -> Iterator[None]:
    """What the compiled part of tokenizers says of a disk, as the `OSError` that it is: with the path."""
    try:
        yield
    except Exception as error:
        found = re.search(r"\(os error (\d+)\)$", str(error))
        if isinstance(error, OSError) or found is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from error
