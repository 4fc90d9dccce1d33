"""Where the files of published encodings lie on this machine: tiktoken's cache folders and our own.

A file's name there is `sha1(url)`, as in tiktoken's cache, so the two share what they fetch. Adds the
folders, finding a file (its SHA-256 is checked, so nobody's folder needs trust), keeping one, and whether
to stay offline. Leaves out: the connection (`download`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from syllabary.errors import UnknownEncodingError
from syllabary.on_demand import later

if TYPE_CHECKING:
    import hashlib
    import tempfile
else:
    later(globals(), hashlib="hashlib", tempfile="tempfile")

OURS = "SYLLABARY_CACHE_DIR"
TIKTOKENS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")  # the first that is set counts
OFFLINE = ("SYLLABARY_OFFLINE", "HF_HUB_OFFLINE")
LIMIT = 64 << 20  # bytes; the largest rank file published has 4 million


def cache_folders() -> list[Path]:
    """The folders to look in, in this order, none twice.

    `$SYLLABARY_CACHE_DIR`; `$TIKTOKEN_CACHE_DIR`, `$DATA_GYM_CACHE_DIR` and the temporary folder's
    `data-gym-cache`; the user's cache folder. `SYLLABARY_CACHE_DIR` takes the place of the last one. An empty
    variable switches off: the first of tiktoken's that is set all of tiktoken's folders, ours the user's.
    """
    given = [os.environ[name] for name in TIKTOKENS if name in os.environ]
    folders = [Path(folder) for folder in (os.environ.get(OURS), *given) if folder]
    if given and not given[0]:
        folders = [Path(os.environ[OURS])] if os.environ.get(OURS) else []
    else:
        folders.append(Path(tempfile.gettempdir(), "data-gym-cache"))
    if OURS not in os.environ and (own := _users_folder()) is not None:
        folders.append(own)
    return list(dict.fromkeys(folders))


def kept_in() -> Path | None:
    """The folder that a downloaded file is kept in, or `None`: the first that the environment names, else
    the user's cache folder.
    """
    for name in (OURS, TIKTOKENS[0], TIKTOKENS[1]):
        if os.environ.get(name):
            return Path(os.environ[name])
        if name in os.environ and name != OURS:
            break
    return None if OURS in os.environ else _users_folder()


def cache_name(url: str) -> str:
    """The name that tiktoken's cache gives to the file at a URL.

    >>> cache_name("https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken")
    '9b5ad71b2ce5302211f9c61530b329a4922fc6a4'
    """
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def find(url: str, digest: str) -> Path | None:
    """The file of a URL with this SHA-256, in the first folder that has it; damaged ones are passed over."""
    for path in _candidates(url):
        data = _read(path)
        if data is not None and hashlib.sha256(data).hexdigest() == digest:
            return path
    return None


def keep(url: str, data: bytes) -> None:
    """Put a file into the cache, whole or not at all.

    In a folder named by the environment a failure is an `OSError`; in the user's own, no matter: the file
    will be fetched again.
    """
    from syllabary.files import write_atomic  # not above: formats imports encodings

    folder = kept_in()
    if folder is None:
        return
    named = folder != _users_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / cache_name(url), data)
    except OSError:
        if named:
            raise


def offline() -> str | None:
    """The variable of the environment that forbids downloads (`1`, `on`, `yes`, `true`), or `None`."""
    true = ("1", "on", "yes", "true")
    return next((name for name in OFFLINE if os.environ.get(name, "").lower() in true), None)


def absent(
    name: str, url: str, digest: str, why: str | None = None, *, fetch: bool = False
) -> UnknownEncodingError:
    """The error for a file that cannot be had: why, and where to put which file.

    why: what went wrong with the download. fetch: whether the caller wanted one.
    """
    damaged = [f"; {path} is not that file (its SHA-256 is {other}, not {digest}): remove it"
               for path, other in _others(url, digest)]  # fmt: skip
    if why is None and fetch and (variable := offline()) is not None:
        why = f"and {variable}={os.environ[variable]} forbids fetching it"
    folder = kept_in() or next(iter(cache_folders()), None)
    place = f"at {folder / cache_name(url)}, " if folder is not None else ""
    where = "is another one on this machine" if damaged else "is not on this machine"
    return UnknownEncodingError(
        f"the file of {name!r} {where}{', ' + why if why else ''}: put {url} {place}"
        f"or set TIKTOKEN_CACHE_DIR to a folder that has it as {cache_name(url)}, or load the file by path"
        f"{''.join(damaged)}"
    )


def _others(url: str, digest: str) -> Iterator[tuple[Path, str]]:
    """Files by the name of a URL's file that have another SHA-256, and theirs."""
    for path in _candidates(url):
        data = _read(path)
        if data is not None and (other := hashlib.sha256(data).hexdigest()) != digest:
            yield path, other


def _candidates(url: str) -> list[Path]:
    return [folder / cache_name(url) for folder in cache_folders()]


def _read(path: Path) -> bytes | None:
    """The bytes of a file of the cache; `None` if it is no file, cannot be read or is too large."""
    with suppress(OSError):
        if not path.is_file():  # a pipe would never end
            return None
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
        return data if len(data) <= LIMIT else None
    return None


def _users_folder() -> Path | None:
    """Where programs of this system keep what they can fetch again; `None` where nobody has a home."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local", "syllabary", "cache")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches" / "syllabary"
    else:
        named = Path(os.environ.get("XDG_CACHE_HOME") or "")
        folder = (named if named.is_absolute() else home / ".cache") / "syllabary"
    return folder if folder.is_absolute() else None
