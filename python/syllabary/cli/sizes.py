"""`syllabary train --sizes`: one run, a tokenizer of each size, and what each makes of held-out text.

Adds sizes as one types them (`8k` is 8,000), the options of growth and of `--start`, the names of the files,
the table on stdout, and its picture. Leaves out: training and measuring (`syllabary.growth`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from syllabary import formats, growth
from syllabary.cli import common, values
from syllabary.cli.corpus_options import Share
from syllabary.cli.words import plural, printable, told_of
from syllabary.corpus.corpus import Corpus
from syllabary.errors import CorpusError, SyllabaryError, TrainingError
from syllabary.files import write_atomic
from syllabary.formats.record import Format
from syllabary.tokenizer import Tokenizer
from syllabary.training import train

THOUSAND = 1000
VAL = 0.05
PROBE = "xqz xqz"  # hardly a token yet
NAMES = ("sizes", "val", "held_out")


class Size(values.Number):
    """A number of tokens: `32000`, or `32k` for the same."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """`value` as an `int`; wrong usage if it is none, or outside."""
        if isinstance(value, str) and value[-1:] in ("k", "K") and value[:-1].isdecimal():
            value = int(value[:-1]) * THOUSAND
        return super().convert(value, param, ctx)


class Sizes(click.ParamType):  # type: ignore[type-arg]
    """Sizes between commas, ascending."""

    name = "sizes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """`value` as sizes, each once; wrong usage for what is none."""
        if isinstance(value, tuple):
            return value
        return tuple(sorted({Size(1).convert(one.strip(), param, ctx) for one in value.split(",")}))


def growth_options(command: Any) -> Any:
    """The options of continuing and of many sizes: the verb gets `start`, `sizes`, `val` and `held_out`."""
    options = (
        click.option(
            "--start", metavar="TOK", help="Learn further merges on top of this tokenizer, whose ids stay."
        ),
        click.option(
            "--sizes",
            type=Sizes(),
            metavar="N,N,…",
            help="One run, a tokenizer of each size (8k: 8,000): OUT-8000.json, …; and how long held-out "
            "text becomes, as table on stdout, in OUT-sizes.md and .json, and as curve in OUT-sizes.png.",
        ),
        click.option(
            "--val",
            type=Share("a number above 0, below 1", lambda number: 0 < number < 1),
            metavar="F",
            help="With --sizes: hold out this part, chosen by a hash of its text and --seed: documents, or "
            f"stretches of lines of long ones.  [default: {VAL}]",
        ),
        click.option("--held-out", metavar="FILE", help="Instead: measure on this file or folder."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def load_start(given: dict[str, Any]) -> None:
    """Open the tokenizer that `--start` names; `--split` is that of a bare rank file."""
    name = given.get("start")
    if name is not None:
        open_split = formats.leaves_open(name)
        given["start"] = common.load(name, given.get("split") if open_split else None)
        if open_split:
            given.pop("split", None)


def check_longer(form: Format, start: Tokenizer, path: Path) -> None:
    """Raise what saving `start` with one merge more raises."""
    longer = start
    with warnings.catch_warnings(), suppress(CorpusError):  # its split may drop what we try
        warnings.simplefilter("ignore")
        longer = train([PROBE], num_merges=1, min_frequency=1, start=start)
    form.files(longer.spec, path)


def growth_of(given: dict[str, Any]) -> dict[str, Any] | None:
    """What `--sizes` and its options say, taken out of `given`; wrong usage for what does not go together."""
    told = {name: given.pop(name) for name in NAMES if name in given}
    if "sizes" not in told:
        for name in told:
            raise click.UsageError(
                f"--{name.replace('_', '-')} goes with --sizes, which says what to measure"
            )
        return None
    for name in ("vocab_size", "num_merges"):
        if name in given:
            raise click.UsageError(f"--sizes and --{name.replace('_', '-')} both say the size: give one")
    if "val" in told and "held_out" in told:
        raise click.UsageError("--val and --held-out both say what is measured on: give one of them")
    return told


def grow(
    source: Any, told: Mapping[str, Any], output: str, file_format: str | None, quiet: bool, **given: Any
) -> Tokenizer:
    """Train, save a tokenizer of each size, write the report beside them; the largest tokenizer."""
    path, form = Path(output), formats.format_of(output, file_format)
    drawn = _can_draw()
    held_out = None
    if "held_out" in told:
        held_out = [one.text for one in Corpus(common.source_of([told["held_out"]])).read(normalized=True)]

    saved: list[str] = []

    def save(tokenizers: Mapping[int, Tokenizer]) -> None:
        for size, tok in tokenizers.items():
            tok.save(named(path, form, f"{size}"), format=file_format)
            saved.append(printable(named(path, form, f"{size}").name))

    with told_of("--sizes", "vocab_size", "size"), _saying(saved):
        found = growth.sizes(
            source, told["sizes"], held_out=held_out, val=told.get("val", VAL), trained=save, **given
        )
    table, words = found.table(), found.words()
    base = report_of(path, form)
    _write(path.with_name(f"{base}.md"), f"{table}\n{words}\n")
    _write(path.with_name(f"{base}.json"), json.dumps(found.record(), indent=1) + "\n")
    if drawn:
        found.draw(path.with_name(f"{base}.png"))
    common.data(table, nl=False)
    if not quiet:
        if isinstance(source, Corpus):
            common.talk_of(source)
        common.talk(words)
        names = ", ".join(saved)
        common.talk(
            f"{plural(len(saved), 'tokenizer')}: {names}; {printable(base)}.md, .json{', .png' * drawn}"
        )
    return found.tokenizers[max(found.tokenizers)]


@contextmanager
def _saying(saved: list[str]) -> Iterator[None]:
    """Where measuring fails, says which tokenizers are saved all the same; also if all else is quiet."""
    try:
        yield
    except SyllabaryError:
        if saved:
            names = ", ".join(saved)
            common.talk(f"{plural(len(saved), 'tokenizer')} saved, and not measured: {names}")
        raise


def _can_draw() -> bool:
    """Whether there is matplotlib; where not, it is said how to have it."""
    try:
        growth.CURVE.check()
    except TrainingError as error:
        common.talk(f"no picture: {error}")
        return False
    return True


def suffix_of(path: Path, form: Format) -> str:
    """The end of a name that says its format, else its suffix."""
    fitting = [suffix for suffix in form.suffixes if path.name.endswith(suffix)]
    return max(fitting, key=len, default=path.suffix)


def named(path: Path, form: Format, what: str) -> Path:
    """The file beside `path` for one size.

    >>> from syllabary.formats import format_of
    >>> named(Path("a/tok.syllabary.json"), format_of("tok.syllabary.json"), "8000").name
    'tok-8000.syllabary.json'
    """
    suffix = suffix_of(path, form)
    stem = path.name.removesuffix(suffix)
    if suffix and not suffix.startswith("."):  # `vocab.bpe` has no stem of its own
        return path.with_name(f"{stem}{what}-{suffix}")
    return path.with_name(f"{stem}-{what}{suffix}")


def report_of(path: Path, form: Format) -> str:
    """What the files of the report beside `path` are called, up to their suffixes.

    >>> from syllabary.formats import format_of
    >>> [report_of(Path(name), format_of(name)) for name in ("a/tok.json", "a/vocab.bpe", "my-vocab.txt")]
    ['tok-sizes', 'vocab-sizes', 'my-vocab-sizes']
    """
    suffix = suffix_of(path, form)
    own = "" if suffix.startswith(".") else suffix.partition(".")[0]
    return f"{path.name.removesuffix(suffix)}{own}-sizes"


def _write(path: Path, text: str) -> None:
    write_atomic(path, text.encode())
