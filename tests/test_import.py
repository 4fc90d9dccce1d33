"""What `import syllabary` loads: little at first, and never the network, other libraries or a corpus."""

from __future__ import annotations

import copy
import inspect
import os
import subprocess
import sys
import textwrap
from importlib import metadata
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from click.testing import CliRunner

import syllabary
from syllabary import formats
from syllabary.cli import VERBS, main
from syllabary.formats.signs import SIGNS
from syllabary.on_demand import later
from syllabary.spec import TokenizerSpec
from syllabary.streaming import chunking

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


def formats_of(script: str) -> set[str]:
    """The modules of formats that are loaded after `script`, without what all formats share."""
    found = {name.removeprefix("syllabary.formats.") for name in loaded(script)}
    return found & {signs.module for signs in SIGNS.values()}


@pytest.mark.parametrize(
    "name, module",
    [("t.syllabary.json", "syllabary_json"), ("tokenizer.json", "huggingface"), ("t.tiktoken", "tiktoken"),
     ("t.model", "sentencepiece")],
)  # fmt: skip
def test_opening_a_file_loads_its_own_format_alone(name: str, module: str, tmp_path: Path) -> None:
    """Nor what only other calls need: `regex`, the reference, what lays out full encodings, writers."""
    options: dict[str, Any] = {"split": "gpt2", "vocab_size": 262}
    if module == "sentencepiece":
        options = {"like": "sentencepiece", "vocab_size": 16}
    syllabary.train(["low lower lowest"] * 9, **options).save(tmp_path / name)
    told = ", split='gpt2'" if module == "tiktoken" else ""
    script = f"import syllabary; syllabary.load({os.fspath(tmp_path / name)!r}{told}).encode('low')"
    assert formats_of(script) == {module}
    unneeded = """reference.tokenizer reference.train streaming framing full
    formats.transformers_folder formats.sentencepiece_write formats.gguf_write""".split()
    unneeded = [f"syllabary.{one}" for one in unneeded]
    assert not {*unneeded, "regex", "zipfile", "tempfile"} & loaded(script)


def test_every_format_is_in_the_table_with_its_own_signs() -> None:
    assert [form.name for form in formats.FORMATS] == formats.names() == list(SIGNS)
    for name, form in zip(SIGNS, formats.FORMATS, strict=True):
        assert form is formats.Format.named(name)
        assert form.signs is SIGNS[name]
        assert form is getattr(formats, SIGNS[name].module).FORMAT


def test_a_module_that_comes_later_makes_way_for_itself() -> None:
    names: dict[str, Any] = {}
    later(names, text="textwrap", other="no_such_module")
    stand_in = names["text"]
    assert not hasattr(stand_in, "__wrapped__")
    assert copy.copy(stand_in) is textwrap
    assert names["text"] is stand_in  # looked at, not asked
    assert stand_in.dedent is textwrap.dedent
    assert names["text"] is textwrap
    names["text"] = None
    assert stand_in.dedent is textwrap.dedent
    assert names["text"] is None  # what somebody else put there stays
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        names["other"].name  # noqa: B018


def test_what_is_replaced_in_a_module_that_comes_later_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    later(names, text="textwrap")
    with monkeypatch.context() as patch:
        patch.setattr(names["text"], "dedent", str.upper)
        assert textwrap.dedent("a") == names["text"].dedent("a") == "A"
    assert textwrap.dedent(" a") == "a"


def test_modules_are_modules_before_they_are_asked_for() -> None:
    """A stand-in by a module's name would give way to that one."""
    script = """if True:
    import sys
    from pkgutil import iter_modules
    from types import ModuleType as Module
    import syllabary.formats
    for package in map(sys.modules.get, ("syllabary.encodings", "syllabary.formats")):
        later = {name for name, one in vars(package).items() if type(one).__name__ == "_Later"}
        assert later and not later & {one.name for one in iter_modules(package.__path__)}
    from syllabary.encodings import gpt2_pair
    from syllabary.formats import tiktoken, hf_named, transformers_folder
    assert {type(one) for one in (gpt2_pair, tiktoken, hf_named, transformers_folder)} == {Module}
    """
    subprocess.run([sys.executable, "-c", script], check=True)


def test_types_of_arguments_can_be_asked_for() -> None:
    """By `typing.get_type_hints`: what an annotation names is there when the module has been imported."""
    found = [getattr(syllabary, name) for name in syllabary.__all__]
    for one in [one for one in found if inspect.isclass(one)]:
        members = [getattr(one, name) for name in dir(one) if not name.startswith("_")]
        found += [getattr(member, "fget", member) for member in members]
    functions = [one for one in found if inspect.isfunction(one)]
    assert {syllabary.train, syllabary.Tokenizer.encode_full} <= {*functions}
    for function in functions:
        assert get_type_hints(function).keys() == function.__annotations__.keys()


def test_modules_are_found_without_running_anything() -> None:
    """As PyInstaller looks for what goes into one program: those of formats too, imported by their names."""
    finder = ModuleFinder([os.fspath(Path(syllabary.__file__).parents[1])])
    finder.import_hook("syllabary")
    wanted = {f"syllabary.formats.{signs.module}" for signs in SIGNS.values()}
    assert wanted <= finder.modules.keys()


def test_help_of_the_command_loads_no_verb() -> None:
    """What it says of them is said in one place; the version is the package's."""
    shown = CliRunner().invoke(main, ["--help"]).stdout
    assert all(f"  {verb} " in shown and about in shown for verb, about in VERBS.items())
    script = "from syllabary.cli import main; main(['--help'], standalone_mode=False)"
    verbs = {f"syllabary.cli.{verb.replace('-', '_')}" for verb in VERBS}
    assert not (verbs | {"importlib.metadata", "regex"}) & loaded(script)
    assert syllabary.__version__ == metadata.version("syllabary")


def test_a_type_checker_knows_every_name_and_no_other() -> None:
    """In a program that imports the package alone."""
    pytest.importorskip("mypy")
    program = """
import syllabary
reveal_type(syllabary.shards.write)
syllabary.laod
syllabary.reference.mrege
"""
    # In a process of its own: it would leave three million objects, through which each collection then goes.
    options = ["--no-error-summary", "--no-incremental", "--config-file=", "-c", program]
    said = subprocess.run([sys.executable, "-m", "mypy", *options], text=True, capture_output=True).stdout
    assert "-> syllabary.shards.reading.Shards" in said, said
    assert said.count('has no attribute "laod"') == said.count('has no attribute "mrege"') == 1, said


def test_chunks_are_cut_at_all_places_that_there_are() -> None:
    default = inspect.signature(syllabary.Tokenizer.chunks).parameters["boundaries"].default
    assert default == tuple(chunking.LEVELS)


def test_every_public_name_is_there_and_no_other() -> None:
    assert not [name for name in syllabary.__all__ if not hasattr(syllabary, name)]
    assert {*syllabary.__all__, "surgery", "convert", "inspecting"} <= {*dir(syllabary)}
    assert not {"Any", "sys", "on_demand", "TYPE_CHECKING"} & {*dir(syllabary)}  # what a prompt completes
    assert loaded("import syllabary; syllabary.surgery.add") >= {"syllabary.surgery"}
    assert syllabary.spec.TokenizerSpec is TokenizerSpec
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        syllabary.nothing  # noqa: B018
