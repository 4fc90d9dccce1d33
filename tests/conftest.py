"""What all tests share: the folder of corpora and vocabularies, and how hard Hypothesis looks.

`shared` skips a test, saying so, where that folder does not stand beside the repository: nothing is
downloaded. In continuous integration (`CI` set) Hypothesis tries the same examples each time.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from syllabary.reference import train_sentencepiece_rules
from syllabary.unicode.charsmaps import charsmap_of

ROOT = Path(__file__).resolve().parent.parent

os.environ["SYLLABARY_OFFLINE"] = "1"  # a test that wants a download serves it itself
# Else each process that a test starts compiles the package anew, which takes as long as all else it does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# torch, here and in what tests start: threads that wait in a circle take the cores from other tests.
# One is faster for models as small as these.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Begun in the background of a shell: what tests start and interrupt would inherit "ignored".
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default", deadline=None, max_examples=45, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


def pytest_configure(config: pytest.Config) -> None:
    """Where workers share the tests, the second imports their modules from the last one on.

    Else all of them rewrite the assertions of one file at a time: now they meet in the middle, and what one
    has rewritten the other finds beside the file.
    """
    if getattr(config, "workerinput", {}).get("workerid") != "gw1":
        return
    sys.path.insert(0, str(ROOT / "tests"))
    for path in sorted((ROOT / "tests").glob("test_*.py"), reverse=True):
        with contextlib.suppress(Exception, pytest.skip.Exception):  # which collecting will say
            importlib.import_module(path.stem)


def pytest_collection_finish() -> None:
    """What is imported stays: Python's collector need not look through it again, nor as often as it would."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 20)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `../shared` with `corpora/` and `vocabs/`."""
    folder = ROOT.parent / "shared"
    if not (folder / "vocabs").is_dir():
        pytest.skip(f"no folder {folder.name}/ with corpora and vocabularies beside the repository")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _rules_that_are_kept() -> Iterator[None]:
    """The reference takes some seconds in each process to compute sentencepiece's rules: those kept serve.

    That they are what it computes, `test_train_sentencepiece_rules` shows.
    """
    computed = train_sentencepiece_rules._of_name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_sentencepiece_rules, "_of_name", lambda name: charsmap_of(name) or computed(name))
        yield


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run the command in, with no say in its colours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curves of a run, which take longer to draw than small models to train, are a few bytes."""

    def written(_entries: object, path: Path) -> None:
        path.write_bytes(b"\x89PNG\r\n")

    monkeypatch.setattr("syllabary.gpt.loop.loss_curves", written)


@pytest.fixture(scope="session")
def prove() -> bool:
    """Whether to test everything (`make prove`) where a sample does for every day."""
    return bool(os.environ.get("SYLLABARY_PROVE"))
