"""`syllabary train`: text to a tokenizer's file.

An option not given is not passed on, so that defaults stay where they belong: in `syllabary.train`, or in
the tool that `--like` names. Leaves out: a tokenizer in memory without a file.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

import syllabary
from syllabary import formats
from syllabary.cli import common, values
from syllabary.cli.corpus_options import care_options, corpus_options
from syllabary.cli.research import languages_of, research_options, talk_of_languages
from syllabary.cli.shared_options import memory_option, text_split_option, threads_option
from syllabary.cli.sizes import Size, check_longer, grow, growth_of, growth_options, load_start
from syllabary.cli.tables import table_of, tables_option
from syllabary.cli.train_resume import resume_options
from syllabary.cli.words import plural, printable
from syllabary.corpus.care import Care
from syllabary.corpus.corpus import Corpus
from syllabary.corpus.document import Reading
from syllabary.errors import FormatError, SyllabaryError, TrainingError
from syllabary.files import check_place
from syllabary.formats.record import Format
from syllabary.spec import SplitSpec
from syllabary.training import LIKE, OURS, TOOLS, split_of
from syllabary.training import train as learn
from syllabary.training.huggingface_options import BPE, UNIGRAM, read_option, settings_of, setup_of
from syllabary.training.own import HUGGINGFACE, MODELS, SENTENCEPIECE
from syllabary.training.sentencepiece import options_of
from syllabary.training.sentencepiece import read_option as read_sentencepiece
from syllabary.training.words import OURS as FAMILIES


@click.command(
    epilog="""\b
Examples:
  $ syllabary train corpus.txt -o tok.json --vocab-size 1000
  $ syllabary train corpus.txt more.txt -o gpt4.tiktoken --split gpt4
  $ cat *.txt | syllabary train - -o words.syllabary.json --unit word
  $ syllabary train corpus.txt -o t.json --special "<user>" --special "<end>"
  $ syllabary train corpus.txt -o kept.json --resume
  $ syllabary train corpus.txt -o hf.json --like huggingface --vocab-size 400
  $ syllabary train more.txt -o w.json --like huggingface --option unk_token=U
  $ syllabary train corpus.txt -o m.model --like sentencepiece --vocab-size 99
  $ syllabary train corpus.txt -o c.bpe --like subword-nmt --num-merges 20
  $ syllabary train corpus.txt -o vocab.txt --model wordpiece --vocab-size 400
  $ syllabary train *.txt -o u.syllabary.json --model unigram --vocab-size 1k
  $ syllabary train more.txt --start tok.json --vocab-size 1100 -o longer.json
  $ syllabary train corpus.txt -o grown.json --sizes 300,400,1k
  $ syllabary train corpus.txt -o s.json --superwords 400 --vocab-size 450
  $ syllabary train corpus.txt more.txt --parity -o both.json
  $ syllabary train . --include "*.txt" --normalize NFC -o n.json --unit char
""",
)
@common.ends_as_ctrl_c
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=values.Name(dash=True),
    required=True,
    metavar="OUT",
    help="The file to write; its suffix is its format.",
)
@click.option(
    "--vocab-size", type=Size(1), metavar="N", help="Tokens in all, at most; 8k: 8,000.  [default: 32000]"
)
@click.option("--num-merges", type=values.Number(0), metavar="N", help="Instead: merges, at most.")
@text_split_option
@click.option(
    "--unit", type=click.Choice(["byte", "char", "word"]), help="What merges begin with.  [default: byte]"
)
@click.option(
    "--special",
    "special_tokens",
    multiple=True,
    type=values.Text(),
    metavar="TEXT",
    help="A special token (repeatable).",
)
@click.option(
    "--min-frequency", type=values.Number(0), metavar="N", help="Rarer pairs never merge.  [default: 2]"
)
@click.option(
    "--max-token-length", type=values.Number(1), metavar="N", help="Longest token, in initial symbols."
)
@click.option(
    "--tie-break",
    type=click.Choice(["smallest-ids", "first-seen", "largest-pair"]),
    help="Which of the pairs that are equally frequent merges.  [default: smallest-ids]",
)
@click.option(
    "--end-of-word",
    type=values.Text(),
    metavar="MARK",
    help="Mark of the last character of a piece, as </w>.",
)
@click.option("--fallback", is_flag=True, default=None, help="Spell unseen symbols with smaller ones.")
@click.option(
    "--model",
    type=click.Choice(["bpe", *MODELS]),
    help="How a piece becomes tokens.  [default: bpe]",
)
@click.option("--like", metavar="TOOL", help=f"Train as that tool does: {', '.join(TOOLS)}.")
@click.option(
    "--option",
    "pairs",
    multiple=True,
    type=values.Text(),
    metavar="NAME=VALUE",
    help="With --like sentencepiece or huggingface, or --model: an option of its own, as limit_alphabet=99.",
)
@threads_option
@memory_option
@click.option("--format", "file_format", metavar="FORMAT", help="The format of OUT, if not by its suffix.")
@tables_option
@growth_options
@research_options
@resume_options
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no summary.")
@corpus_options
@care_options
def train(
    files: tuple[str, ...],
    output: str,
    file_format: str | None,
    quiet: bool,
    tables: bool,
    reading: Reading,
    care: Care,
    pairs: tuple[str, ...],
    **options: Any,
) -> None:
    """Train a tokenizer on FILES and save it.

    FILES are text, JSON Lines, tables, TEI and other XML, HTML; packed or not; archives and folders of them;
    `-` is stdin. Or they are tables of counts, which are added: those of `count-pieces` in Parquet are known
    as such, and have decided how text is cut. Nothing is written before training has ended well.

    --normalize goes into the tokenizer, which then does the same to every text. Of --fraction, a format
    other than .syllabary.json keeps no record: `shard --rest` is told F again.
    """
    _check_named(output, options.get("sizes") is not None)
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if care.normalize is not None:
        given["normalize"] = care.normalize
    if pairs:
        given["options"] = _own_options(pairs, given.get("like", ""), given.get("model", "bpe"))
    load_start(given)
    growing = growth_of(given)
    start = time.perf_counter()
    common.check_kept(
        output, (*files, *((growing or {}).get("held_out", ""), *given.get("dev", ()))), "the tokenizer"
    )
    languages = languages_of(files, tables, reading, care, given)
    table = None if languages else table_of(files, tables, reading, care, given)
    if table is not None and table.rules.normalize is not None:
        given["normalize"] = table.rules.normalize
    form = check_output(Path(output), file_format, given)
    source = () if table is not None or languages else common.source_of(files)
    corpus = Corpus(source, reading, dataclasses.replace(care, normalize=None))
    given["progress"] = not quiet and common.draws()
    read: Any = corpus if table is None else table
    if languages is not None:
        read, given["parity"] = languages
    if growing is not None:
        tok = grow(read, growing, output, file_format, quiet, seed=care.seed, **given)
        if not quiet:
            talk_of_languages(tok, read)
        return
    tok = syllabary.train(read, **given)
    tok.save(output, format=file_format)
    if not quiet:
        common.talk_of(corpus)
        talk_of_languages(tok, read)
        if care.fraction is not None and form != "syllabary":
            _talk_of_rest(output, care)
        seconds = time.perf_counter() - start
        common.talk(f"{_sizes(tok)}, {seconds:.1f} s: saved as {printable(output)}")


def _check_named(output: str, many: bool) -> None:
    if many and Path(output).exists() and not Path(output).is_file():
        raise click.UsageError(f"{printable(output)} is no plain file, beside which --sizes could put others")
    if output == "-":
        raise click.UsageError("-o names a file: name one, or /dev/stdout and its --format")


def _sizes(tok: syllabary.Tokenizer) -> str:
    # A model by scores has no merges: what `tok.merges` gives then is found again from its tokens.
    merging = tok.spec.scores is None and tok.spec.model == "bpe"
    merges = f", {plural(len(tok.merges), 'merge')}" if merging else ""
    return f"{plural(tok.vocab_size, 'token')}{merges}"


def _talk_of_rest(output: str, care: Care) -> None:
    common.talk(
        f"{printable(output)} keeps no record of the fraction, as a .syllabary.json would: its rest "
        f"is --rest {care.fraction}" + (f" --seed {care.seed}" if care.seed else "")
    )


def _own_options(pairs: tuple[str, ...], tool: str, model: str) -> dict[str, object]:
    """What `--option` says; wrong usage for a value of another type than the option's."""
    named = [_pair(pair, HUGGINGFACE if model in FAMILIES else tool) for pair in pairs]
    told = dict(named)
    for name in told:
        if [other for other, _value in named].count(name) > 1:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--option")
    try:
        with suppress(TrainingError):  # `train` tells of it, with the other arguments in view
            if model in FAMILIES:
                setup_of(told, FAMILIES[model])
            elif tool == HUGGINGFACE:
                setup_of(told, UNIGRAM if model == "unigram" else BPE)
            elif tool == SENTENCEPIECE:
                options_of({}, told, model)
    except TypeError as error:
        said = str(error).replace("True or False", "true or false")
        raise click.BadParameter(said, param_hint="--option") from error
    return told


def _pair(text: str, tool: str) -> tuple[str, object]:
    """`NAME=VALUE` as name and value; wrong usage for what is none."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    return name, (read_option if tool == HUGGINGFACE else read_sentencepiece)(name, value)


FACTS = ("unit", "fallback", "end_of_word", "split")  # of what decides whether a format can hold it


def check_output(path: Path, file_format: str | None, options: Mapping[str, Any]) -> str:
    """The format's name; raises at once, not after an hour, if what is trained so cannot be saved there."""
    form = formats.format_of(path, file_format)
    start: syllabary.Tokenizer | None = options.get("start")
    tool = options.get("like", "")
    settings = OURS | ({"unit": "char"} if tool == SENTENCEPIECE else LIKE.get(tool, {})) | dict(options)
    if tool == HUGGINGFACE and "options" in options and "model" not in options:
        settings |= settings_of(options["options"])
    if (model := options.get("model", "bpe")) != "bpe":
        settings["unit"] = "char"
        model = {"word": "wordlevel", "char": "bpe"}.get(model, model)
    told = {name: settings[name] for name in FACTS if name in settings}
    if not isinstance(settings["split"], SplitSpec):
        told["split"] = split_of(settings["split"], tool)
    if start is not None:
        told = {name: getattr(start.spec, name) for name in FACTS}
    if sentence := formats.refusal(form.name, alphabet=settings["alphabet"], model=model, **told):
        raise FormatError(sentence)
    check_place(path)
    if start is not None:
        check_longer(form, start, path)
        return form.name
    held = form.name == "huggingface" and not {"model", "split"} & options.keys() and tool != SENTENCEPIECE
    if form.name in PROBED and not held:
        _check_small(form, options)
    if "normalize" in options and tool != SENTENCEPIECE and not {"options", "model"} & options.keys():
        _check_normalizer(form, options)
    return form.name


# Of what is given, nothing that a probe of one letter needs.
UNASKED = ("vocab_size", "threads", "checkpoint", "memory_limit")
# Nor one of a line; and formats in which a tokenizer of a line is refused for nothing that hangs on the line.
SIZES = (*UNASKED, "num_merges", "min_frequency", "max_token_length")
PROBED = ("huggingface", "sentencepiece", "sentencepiece-vocab", "gguf", "bert")
LINE = "the quick brown fox jumps over the lazy dog and the lazy dog jumps over the quick brown fox"


def _check_small(form: Format, options: Mapping[str, Any]) -> None:
    """Raise what saving a tokenizer of one line, trained so, raises: that format holds none of the kind."""
    small = {name: value for name, value in options.items() if name not in SIZES}
    if small.get("like") == SENTENCEPIECE:
        small["options"] = {**small.get("options", {}), "hard_vocab_limit": False}
        small["options"].pop("vocab_size", None)
    if "model" in small or "like" in small:
        small["vocab_size"] = 300 + len(small.get("special_tokens", ()))
    else:
        small["num_merges"] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            spec = learn([LINE], **small).spec
        except (SyllabaryError, TypeError, ValueError):
            return  # of a line, nothing is known; what is wrong with the options, training says
    form.files(spec, Path("probe" + form.suffixes[0]))


def _check_normalizer(form: Format, options: Mapping[str, Any]) -> None:
    """Raise what saving a tokenizer of one letter, trained so, raises, unless it does without normalizer."""
    small = {name: value for name, value in options.items() if name not in UNASKED}
    probe = Path("probe" + form.suffixes[0])
    normalize = small.pop("normalize")
    small["num_merges"] = 0
    try:
        form.files(learn(["a"], **small).spec, probe)
    except FormatError:
        return  # nothing is known: that format refuses more than normalizers
    form.files(learn(["a"], **small, normalize=normalize).spec, probe)
