"""Tokenizers of the Hugging Face Hub by their id, `org/name`, through `huggingface_hub` if it is installed.

Adds `is_id`, `is_kept` and `fetch`, which brings the first tokenizer file that a repository has into that
library's own cache, and `fetch_beside`: roles of special tokens, the chat template. Leaves out: reading it
(`formats`), tokens and mirrors (`huggingface_hub` has settings for them).
"""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syllabary.encodings.cache import offline
from syllabary.errors import FormatError, UnknownEncodingError
from syllabary.on_demand import later

if TYPE_CHECKING:
    from syllabary.formats import transformers_folder
else:
    later(globals(), transformers_folder="syllabary.formats.transformers_folder")

# The first that a repository has: what says most comes first.
FILES = (("tokenizer.json",), ("tekken.json",), ("tokenizer.model",), ("vocab.json", "merges.txt"))
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
SUFFIXES = (".json", ".model", ".tiktoken", ".txt", ".bpe", ".codes", ".vocab", ".gguf", ".pkl")


def is_id(name: str) -> bool:
    """Whether a name that is no file here may be an id of the Hub: two words, not a path into what is here.

    >>> is_id("Qwen/Qwen3-8B"), is_id("models/tokenizer.json"), is_id("../Qwen"), is_id("gpt2")
    (True, False, False, False)
    """
    return (
        ID.fullmatch(name) is not None
        and not name.endswith(SUFFIXES)
        and not os.path.lexists(name.partition("/")[0])
    )


def is_kept(repository: str) -> bool:
    """Whether the Hub's cache on this machine has a tokenizer file of a repository; raises as `fetch`."""
    library, _errors = _library(repository)
    firsts = [names[0] for names in FILES]
    return any(isinstance(library.try_to_load_from_cache(repository, name), str) for name in firsts)


def fetch(repository: str, revision: str | None = None) -> Path:
    """The tokenizer file of a repository, on this machine; of several versions as `transformers` chooses.

    Downloaded unless it is in the Hub's cache, or `SYLLABARY_OFFLINE` or `HF_HUB_OFFLINE` is set.
    Raises `UnknownEncodingError`, which says what to do: without `huggingface_hub`, for a repository that is
    not there or not open to you, that has no such file, or that cannot be reached.
    """
    library, errors = _library(repository)
    unreachable: Exception | None = None
    local = bool(offline())
    for names in FILES:
        try:
            paths = [
                library.hf_hub_download(repository, name, revision=revision, local_files_only=local)
                for name in names
            ]
            return _newest(repository, revision, Path(paths[0]), local)
        except errors.LocalEntryNotFoundError as error:
            # The other names are looked for in the cache alone, and then say less.
            unreachable, local = unreachable or error, True
        except errors.EntryNotFoundError:
            continue
        except (UnknownEncodingError, FormatError):
            raise
        except Exception as error:
            raise _failed(
                repository, f"the Hugging Face Hub did not give it ({_first_line(error)})"
            ) from error
    if unreachable is None:
        listed = ", ".join(" + ".join(names) for names in FILES)
        raise _failed(repository, f"the repository has none of {listed}")
    variable = offline()
    why = "it is not in the Hub's cache on this machine, and "
    why += (
        f"{variable} forbids fetching it"
        if variable
        else f"the Hub cannot be reached ({_first_line(unreachable)})"
    )
    raise _failed(repository, why) from unreachable


def _newest(repository: str, revision: str | None, file: Path, local: bool) -> Path:
    """The file that the settings list for the newest version of `transformers` that counts, else `file`."""
    library, errors = _library(repository)
    if file.name != FILES[0][0]:
        return file
    try:
        config = library.hf_hub_download(
            repository, transformers_folder.CONFIG, revision=revision, local_files_only=local
        )
    except errors.EntryNotFoundError:
        return file
    texts = {transformers_folder.CONFIG: transformers_folder.text(Path(config))}
    for name in transformers_folder.versions(texts, Path(repository)):
        try:
            return Path(library.hf_hub_download(repository, name, revision=revision, local_files_only=local))
        except errors.LocalEntryNotFoundError as error:
            raise _failed(repository, f"{name}, which counts there, cannot be had now") from error
        except errors.EntryNotFoundError:
            continue
    return file


def fetch_beside(repository: str, revision: str | None = None) -> dict[str, str]:
    """What a repository whose tokenizer was fetched says beside it: file name -> text.

    Chat templates other than the default one are not looked for. Raises `UnknownEncodingError` where the Hub
    fails, `FormatError` for a file that is damaged.
    """
    library, errors = _library(repository)
    texts = {}
    for name in transformers_folder.FILES:
        try:
            path = library.hf_hub_download(
                repository, name, revision=revision, local_files_only=bool(offline())
            )
        except errors.EntryNotFoundError:
            continue
        except Exception as error:
            raise _failed(
                repository, f"the Hugging Face Hub did not give {name} ({_first_line(error)})"
            ) from error
        texts[name] = transformers_folder.text(Path(path))
    return transformers_folder.checked(texts, Path(repository))


def _library(repository: str) -> tuple[Any, Any]:
    """`huggingface_hub` and its exceptions."""
    try:
        return importlib.import_module("huggingface_hub"), importlib.import_module("huggingface_hub.errors")
    except ImportError as error:
        raise UnknownEncodingError(
            f"{repository!r} is no file; to load it from the Hugging Face Hub: pip install 'syllabary[hub]'"
        ) from error


def _failed(repository: str, why: str) -> UnknownEncodingError:
    return UnknownEncodingError(
        f"{repository!r} is no file here, and as a repository: {why}. "
        f"Try `hf download {repository}` where there is a network, or load the file by its path"
    )


def _first_line(error: Exception) -> str:
    """What went wrong, on one line of bounded length."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
