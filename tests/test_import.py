"""What `import syllabary` loads: little at first, and never the network, other libraries or a corpus."""

from __future__ import annotations

import subprocess
import sys

import pytest

import syllabary
from syllabary.spec import TokenizerSpec

HEAVY = "ssl urllib.request http.client lxml click tiktoken tokenizers sentencepiece huggingface_hub torch"


def test_importing_loads_little() -> None:
    assert not {*HEAVY.split()} & loaded("from syllabary import *")


def loaded(script: str) -> set[str]:
    """The modules that are loaded after `script`, in a process of its own."""
    script += "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True)
    return set(done.stdout.split())


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    first = loaded("import syllabary")
    assert {"numpy", "syllabary._engine"} <= first  # Ctrl-C in a first call is not to meet their import
    assert not {"syllabary.tokenizer", "syllabary.reference", "syllabary.corpus"} & first
    encoding = loaded("import syllabary; syllabary.load")
    assert "syllabary.tokenizer" in encoding
    assert not {"syllabary.training", "syllabary.counts", "syllabary.truncation"} & encoding
    assert not [name for name in encoding if name.startswith("syllabary.reference.train_sentencepiece")]
    verb = loaded("from syllabary.cli import main; main.get_command(None, 'encode')")
    assert "syllabary.cli.encode" in verb
    assert not {"syllabary.cli.train", "syllabary.training"} & verb


def test_every_public_name_is_there_and_no_other() -> None:
    assert not [name for name in syllabary.__all__ if not hasattr(syllabary, name)]
    assert {*syllabary.__all__} <= {*dir(syllabary)}
    assert syllabary.spec.TokenizerSpec is TokenizerSpec
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        syllabary.nothing  # noqa: B018
