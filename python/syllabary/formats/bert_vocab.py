"""BERT's `vocab.txt`: a token a line, the line's number its id; and what stands beside it.

The file says nothing of how text is normalized: whether it is put into lower case, a `tokenizer_config.json`
beside it says (`do_lower_case`; also `strip_accents`, `tokenize_chinese_chars`, names of special tokens), or
`split="bert-cased"`, `split="bert-uncased"`. Nothing is guessed. Continuing tokens begin with `##`, words are
of 100 characters at most, as in BERT's own code; the template `[CLS] … [SEP]` is carried along for
`tokenizer.json`. Adds reading and writing of both files. Source: transformers 5.23, `BertTokenizer`.
Leaves out: the rest of a model's folder, but for the settings in that file, which are written as they were.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from syllabary import splits
from syllabary.errors import FormatError
from syllabary.files import read_bounded
from syllabary.formats.extras import refuse_extras, without_extras
from syllabary.formats.hf_framing import EXTRAS
from syllabary.formats.loss import Loss
from syllabary.formats.record import CASING, Facts, Format, Hints, cannot_hold, checked
from syllabary.formats.signs import BERT_FILE as FILE
from syllabary.formats.signs import SIGNS
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.transformers_folder import NAME as BESIDE
from syllabary.formats.transformers_folder import beside, with_beside
from syllabary.formats.transformers_folder import checked as checked_texts
from syllabary.formats.transformers_folder import text as text_of
from syllabary.reference.check import check_spec, token_bytes
from syllabary.spec import Step, StepValue, TokenizerSpec

NAME = "bert"
CONFIG = "tokenizer_config.json"
ROLES = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
NO_CLASS = (None, "PreTrainedTokenizerFast", "TokenizersBackend")  # those that read no vocab.txt
LONGEST = 100
DECODER = (Step("WordPiece", {"prefix": "##", "cleanup": True}),)
CUTTING = (Step("BertPreTokenizer"),)
# Fields that the two files hold.
HELD = ("normalizer", "pretokenizer", "continuing_prefix", "decoder", "unknown")


# ---- reading ----


def read(path: Path, hints: Hints) -> TokenizerSpec:
    """The tokenizer of the file and the options beside it; `FormatError` with the line of what is damaged.

    Without options beside it, and without a hint, it is an error that says how to give them.
    """
    if hints.split is not None:
        raise FormatError(f"{path}: the split of BERT is its own: give one of {', '.join(CASING)}, or none")
    lines = _lines(path)
    ids = {token: number for number, token in enumerate(lines)}
    options = _options(path, hints)
    special = hints.special_tokens if hints.special_tokens is not None else _special(options, ids)
    unknown = options.get("unk_token", ROLES["unk"])
    if not isinstance(unknown, str) or unknown not in ids:
        raise FormatError(f"{path}: no line is the unknown token {unknown!r}")
    for text, token_id in special.items():
        if ids.get(text) != token_id:
            where = "is not in the file" if text not in ids else f"has id {ids[text]} here, not {token_id}"
            raise FormatError(f"{path}: special token {text!r} {where}")
    spec = TokenizerSpec(
        unit="char",
        split=splits.get(None),
        tokens={number: token.encode() for number, token in enumerate(lines)},
        alphabet={},
        merges=None,
        special_tokens=special,
        normalizer=(Step("Bert", _normalizing(options)),),
        pretokenizer=CUTTING,
        decoder=DECODER,
        unknown=ids[unknown],
        continuing_prefix="##",
        model="wordpiece",
        longest_piece=LONGEST,
        carried=_template(options, ids),
    )
    return checked(with_beside(spec, _settings(path)), path)


def _settings(path: Path) -> dict[str, str]:
    """The file of options beside `path`, which is written with it: what else it says is carried."""
    options = path.parent / CONFIG
    return checked_texts({CONFIG: text_of(options)}, path.parent) if options.is_file() else {}


def _lines(path: Path) -> list[str]:
    """The tokens, by line; `FormatError` for a line that the known readers do not read alike."""
    data = read_bounded(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FormatError(f"{path}: line {line} is not UTF-8 (byte offset {error.start})") from error
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    seen: dict[str, int] = {}
    for number, token in enumerate(lines, 1):
        if token != token.rstrip() or "\r" in token:
            raise FormatError(f"{path}: line {number} ends in whitespace, or holds a lone carriage return")
        if not token:
            raise FormatError(f"{path}: line {number} is empty: it is no token")
        if seen.setdefault(token, number) != number:
            raise FormatError(f"{path}: lines {seen[token]} and {number} are the same token {token[:80]!r}")
    return lines


def _options(path: Path, hints: Hints) -> dict[str, object]:
    """What is told of casing and special tokens, by the hint or the file beside `path`."""
    beside = path.parent / CONFIG
    if hints.lower_case is not None:
        return {"do_lower_case": hints.lower_case}
    if not beside.is_file():
        raise FormatError(
            f"{path}: does not say whether text is put into lower case: give split='bert-uncased' or "
            f"split='bert-cased', or put a {CONFIG} beside it, as {{\"do_lower_case\": true}}"
        )
    root = parse(read_bounded(beside), beside)
    found: dict[str, object] = {"do_lower_case": root.member("do_lower_case").boolean()}
    for name in ("strip_accents", "tokenize_chinese_chars"):
        if root.optional(name).value is not None:
            found[name] = root.member(name).boolean()
    for role in ROLES:
        name = f"{role}_token"
        if root.optional(name).value is not None:
            found[name] = _text(root.member(name))
    return found


def _text(token: Json) -> str:
    """A token as the file of options has it: its text, or an object with it."""
    return token.member("content").string() if isinstance(token.value, dict) else token.string()


def _special(options: Mapping[str, object], ids: Mapping[str, int]) -> dict[str, int]:
    texts = [str(options.get(f"{role}_token", text)) for role, text in ROLES.items()]
    return {text: ids[text] for text in texts if text in ids}


def _normalizing(options: Mapping[str, object]) -> dict[str, StepValue]:
    strips = options.get("strip_accents")
    return {
        "clean_text": True,
        "handle_chinese_chars": bool(options.get("tokenize_chinese_chars", True)),
        "strip_accents": strips if isinstance(strips, bool) else None,
        "lowercase": bool(options["do_lower_case"]),
    }


def _template(options: Mapping[str, object], ids: Mapping[str, int]) -> dict[str, object]:
    """`[CLS] A [SEP] B [SEP]` as Hugging Face's file has it, where both tokens are there."""
    first, last = (str(options.get(f"{role}_token", ROLES[role])) for role in ("cls", "sep"))
    if first not in ids or last not in ids:
        return {}

    def token(text: str, type_id: int = 0) -> dict[str, object]:
        return {"SpecialToken": {"id": text, "type_id": type_id}}

    def text(name: str, type_id: int = 0) -> dict[str, object]:
        return {"Sequence": {"id": name, "type_id": type_id}}

    single = [token(first), text("A"), token(last)]
    template = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, text("B", 1), token(last, 1)],
        "special_tokens": {one: {"id": one, "ids": [ids[one]], "tokens": [one]} for one in (first, last)},
    }
    return {"huggingface": {"post_processor": template}}


# ---- writing ----


def write_files(spec: TokenizerSpec, path: Path) -> dict[Path, bytes]:
    """`vocab.txt`, or the file asked for, and the options beside it; `path` may be a folder that is there.

    Raises `FormatError` naming what they cannot hold.
    """
    target = path / FILE if path.is_dir() else path
    check_spec(spec)
    refuse_extras(spec, NAME, HELD)
    names = {token_id: token.decode() for token_id, token in token_bytes(spec).items()}
    _check(spec, names)
    lines = "".join(f"{names[token_id]}\n" for token_id in range(len(names)))
    return {target: lines.encode(), target.parent / CONFIG: _config(spec, names)}


def _check(spec: TokenizerSpec, names: Mapping[int, str]) -> None:
    """Raise `FormatError` for what is not BERT's own way."""
    if sorted(names) != list(range(len(names))):
        raise cannot_hold(NAME, "ids with gaps: the number of a line is its id")
    if len({*names.values()}) < len(names):
        raise cannot_hold(NAME, "two ids with the same spelling")
    for name in names.values():
        if name != name.rstrip() or not name or "\n" in name or "\r" in name:
            raise cannot_hold(NAME, f"the token {name!r}, which is no line")
    if spec.continuing_prefix != "##" or spec.longest_piece != LONGEST:
        raise cannot_hold(NAME, f"another prefix than ##, or words of more or less than {LONGEST} characters")
    if spec.unknown is None:
        raise cannot_hold(NAME, "a model without an unknown token")
    steps = [step.kind for step in spec.normalizer]
    if steps != ["Bert"] or not spec.normalizer[0].options["clean_text"] or spec.pretokenizer != CUTTING:
        raise cannot_hold(NAME, "another normalizer or pre-tokenizer than BERT's")
    if spec.split.pattern is not None or spec.decoder != DECODER:
        raise cannot_hold(NAME, "another split or decoder than BERT's")
    if spec.added_tokens or _unnamed(spec):
        raise cannot_hold(NAME, "added tokens, and special ones but the five of BERT")


def _unnamed(spec: TokenizerSpec) -> set[str]:
    """Special tokens that the options have no name for."""
    return {*spec.special_tokens} - {*ROLES.values()}


def _config(spec: TokenizerSpec, names: Mapping[int, str]) -> bytes:
    """The options, as transformers writes and reads them, and the other settings that are carried."""
    options = spec.normalizer[0].options
    unknown = names[spec.unknown] if spec.unknown is not None else None
    tokens = {f"{role}_token": text for role, text in ROLES.items() if text in spec.special_tokens}
    config: dict[str, object] = {
        "do_lower_case": options["lowercase"],
        "strip_accents": options["strip_accents"],
        "tokenize_chinese_chars": options["handle_chinese_chars"],
        **tokens,
        "unk_token": unknown,
    }
    said = _said(spec)
    if said.get("tokenizer_class") in NO_CLASS:
        said["tokenizer_class"] = "BertTokenizer"
    for name, value in said.items():  # a token as an object may say more than its text
        if isinstance(value, dict) and name in config and value.get("content") == config[name]:
            config[name] = value
    config = {**said, **config}
    return (json.dumps(config, ensure_ascii=False, indent=2) + "\n").encode()


def _said(spec: TokenizerSpec) -> dict[str, Any]:
    """The members of the file of options that the tokenizer was read with, if any."""
    text = beside(spec).get(CONFIG, "{}")
    root = parse(text.encode("utf-8", "surrogatepass"), Path(CONFIG))
    return {name: member.value for name, member in root.object().items()}


def refuses(facts: Facts) -> FormatError | None:
    """The error for anything but characters."""
    return None if facts.unit == "char" else cannot_hold(NAME, f"tokens of the unit {facts.unit!r}")


def reduce(spec: TokenizerSpec) -> tuple[TokenizerSpec, tuple[Loss, ...]]:
    """The tokenizer without what the files have no place for, and one sentence for each such thing."""
    texts = beside(spec)
    said = [BESIDE] if texts.keys() <= {CONFIG} else []
    said += ["huggingface"] if _gives_template(spec) else []
    without, losses = without_extras(spec, NAME, HELD, said)
    if CONFIG in texts:
        without = replace(without, carried={**without.carried, BESIDE: {CONFIG: texts[CONFIG]}})
    return without, losses


def _gives_template(spec: TokenizerSpec) -> bool:
    """Whether what `tokenizer.json` said beside the ids is what reading the files gives."""
    ids = {token.decode("utf-8", "replace"): token_id for token_id, token in token_bytes(spec).items()}
    roles = {f"{role}_token": text for role, text in ROLES.items() if text in spec.special_tokens}
    given, carried = _template(roles, ids), spec.carried.get("huggingface")
    template = given.get("huggingface", {})
    if not isinstance(carried, dict) or not isinstance(template, dict):
        return False
    return all(carried[key] == template.get(key) for key in EXTRAS if carried.get(key) is not None)


FORMAT = Format(
    SIGNS[NAME],
    read,
    None,
    refuses,
    write_files,
    hinted=True,
    reduce=reduce,
    models=("wordpiece",),
)
