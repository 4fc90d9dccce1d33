"""`syllabary train`: text to a tokenizer's file.

An option not given is not passed on, so that defaults stay where they belong: in `syllabary.train`, or in
the tool that `--like` names. Leaves out: a tokenizer in memory without a file.
"""

from __future__ import annotations

import dataclasses
import errno
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import syllabary
from syllabary import formats
from syllabary.arguments import MAX_THREADS
from syllabary.cli import common
from syllabary.cli.corpus_options import care_options, corpus_options
from syllabary.cli.words import plural, printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.errors import FormatError
from syllabary.formats.record import Format
from syllabary.training import LIKE, OURS, SENTENCEPIECE, TOOLS
from syllabary.training import train as learn
from syllabary.training_sentencepiece import read_option


@click.command(
    short_help="Text to a tokenizer's file.",
    epilog="""\b
Examples:
  $ syllabary train corpus.txt -o tok.json --vocab-size 1000
  $ syllabary train corpus.txt more.txt -o gpt4.tiktoken --split gpt4
  $ cat *.txt | syllabary train - -o words.syllabary.json --unit word
  $ syllabary train corpus.txt -o t.json --special "<user>" --special "<end>"
  $ syllabary train corpus.txt -o hf.json --like huggingface --vocab-size 400
  $ syllabary train corpus.txt -o m.model --like sentencepiece --vocab-size 99
  $ syllabary train corpus.txt -o c.bpe --like subword-nmt --num-merges 20
  $ syllabary train . --include "*.txt" --normalize NFC -o n.json --unit char
""",
)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="The file to write; its suffix is its format."
)
@click.option(
    "--vocab-size", type=common.Number(1), metavar="N", help="Tokens in all, at most.  [default: 32000]"
)
@click.option("--num-merges", type=common.Number(0), metavar="N", help="Instead: merges, at most.")
@click.option(
    "--split",
    metavar="NAME|PATTERN",
    help="How text is cut into pieces, as o200k, gpt2 or none.  [default: o200k]",
)
@click.option(
    "--unit", type=click.Choice(["byte", "char", "word"]), help="What merges begin with.  [default: byte]"
)
@click.option(
    "--special", "special_tokens", multiple=True, metavar="TEXT", help="A special token (repeatable)."
)
@click.option(
    "--min-frequency", type=common.Number(1), metavar="N", help="Rarer pairs never merge.  [default: 2]"
)
@click.option(
    "--max-token-length", type=common.Number(1), metavar="N", help="Longest token, in initial symbols."
)
@click.option(
    "--tie-break",
    type=click.Choice(["smallest-ids", "first-seen", "largest-pair"]),
    help="Which of the pairs that are equally frequent merges.  [default: smallest-ids]",
)
@click.option("--end-of-word", metavar="MARK", help="Mark of the last character of a piece, as </w>.")
@click.option("--fallback", is_flag=True, default=None, help="Spell unseen symbols with smaller ones.")
@click.option("--like", metavar="TOOL", help=f"Train as that tool does: {', '.join(TOOLS)}.")
@click.option(
    "--option",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --like sentencepiece: an option of its own, as byte_fallback=true (repeatable).",
)
@click.option(
    "--threads",
    type=common.Number(1, MAX_THREADS),
    metavar="N",
    help="Threads that count.  [default: one a core]",
)
@click.option("--format", "file_format", metavar="FORMAT", help="The format of OUT, if not by its suffix.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
@corpus_options
@care_options
def train(
    files: tuple[str, ...],
    output: str,
    file_format: str | None,
    quiet: bool,
    reading: Reading,
    care: Care,
    pairs: tuple[str, ...],
    **options: Any,
) -> None:
    """Train a tokenizer on FILES and save it.

    FILES are text, JSON Lines, tables, TEI and other XML, HTML; packed or not; archives and folders of them;
    `-` is stdin. Nothing is written before training has ended well.

    --normalize goes into the tokenizer, which then does the same to every text. Of --fraction, a format
    other than .syllabary.json keeps no record: `shard --rest` is told F again.
    """
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if care.normalize is not None:
        given["normalize"] = care.normalize
    if pairs:
        given["options"] = dict(map(_pair, pairs))
    form = check_output(Path(output), file_format, given)
    corpus = Corpus(common.source_of(files), reading, dataclasses.replace(care, normalize=None))
    start = time.perf_counter()
    tok = syllabary.train(corpus, progress=not quiet and common.draws(), **given)
    tok.save(output, format=file_format)
    if not quiet:
        common.talk_of(corpus)
        if care.fraction is not None and form != "syllabary":
            common.talk(
                f"{printable(output)} keeps no record of the fraction, as a .syllabary.json would: its rest "
                f"is --rest {care.fraction}" + (f" --seed {care.seed}" if care.seed else "")
            )
        seconds = time.perf_counter() - start
        # A model by scores has none; what `tok.merges` gives then is found again from its tokens.
        merges = "" if tok.spec.scores is not None else f"{plural(len(tok.merges), 'merge')}, "
        common.talk(
            f"{plural(tok.vocab_size, 'token')}, {merges}{seconds:.1f} s: saved as {printable(output)}"
        )


def _pair(text: str) -> tuple[str, object]:
    """`NAME=VALUE` as name and value; wrong usage for what is none."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    return name, read_option(name, value)


def check_output(path: Path, file_format: str | None, options: Mapping[str, Any]) -> str:
    """The format's name; raises at once, not after an hour, if what is trained so cannot be saved there."""
    form = formats.format_of(path, file_format)
    tool = options.get("like", "")
    settings = OURS | ({"unit": "char"} if tool == SENTENCEPIECE else LIKE.get(tool, {})) | dict(options)
    told = {name: settings[name] for name in ("unit", "fallback", "end_of_word") if name in settings}
    if sentence := formats.refusal(form.name, alphabet=settings["alphabet"], **told):
        raise FormatError(sentence)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if "normalize" in options and tool != SENTENCEPIECE:
        _check_normalizer(form, options)
    return form.name


def _check_normalizer(form: Format, options: Mapping[str, Any]) -> None:
    """Raise what saving a tokenizer of one letter, trained so, raises, unless it does without normalizer."""
    small = {name: value for name, value in options.items() if name not in ("vocab_size", "threads")}
    probe = Path("probe" + form.suffixes[0])
    normalize = small.pop("normalize")
    small["num_merges"] = 0
    try:
        form.files(learn(["a"], **small).spec, probe)
    except FormatError:
        return  # nothing is known: that format refuses more than normalizers
    form.files(learn(["a"], **small, normalize=normalize).spec, probe)
