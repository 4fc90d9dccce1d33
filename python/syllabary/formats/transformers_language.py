"""The token of a language that some classes of `transformers` put beside the text, by `src_lang`.

Adds the template that such a class has, whatever `tokenizer.json` says, and a tokenizer whose settings change
it, as `tokenizer.src_lang = …` does there. Source: transformers 5.23, `set_src_lang_special_tokens` of MBart,
MBart50, Nllb and SeamlessM4T. Leaves out: which classes these are (`transformers_classes`); changing it in
place (`compat.transformers.translation`); what a model is told of the language to translate into.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from syllabary.errors import FormatError
from syllabary.formats.hf_framing import framing, read_processors, with_framing
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.transformers_classes import Class, class_named
from syllabary.formats.transformers_folder import CONFIG, NAME, beside
from syllabary.spec import TokenizerSpec

KEPT = "language_class"  # the class, where `tokenizer_class` is that of any file: what we save
TELLS = ("src_lang", "legacy_behaviour", "tokenizer_class", KEPT)  # settings that the template follows


def language_class(members: Mapping[str, Json]) -> tuple[str, Class] | None:
    """The class that marks the language, and its name, of settings that name one."""
    for key in ("tokenizer_class", KEPT):
        named = members[key].value if key in members else None
        if (known := class_named(named)) is not None and isinstance(named, str):
            return None if known.language is None else (named.removesuffix("Fast"), known)
    return None


def is_language(known: Class, text: str, ids: Collection[str], special: Collection[str]) -> bool:
    """Whether a token is one that may be said as `src_lang`: a special one, or one spelled as languages are.

    ids: all tokens. special: those that are special or added.
    """
    return text in special or (text in ids and re.fullmatch(known.extra, text) is not None)


def written(shape: str, names: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, object]:
    """A post-processor, as `tokenizer.json` has it. shape: as `Class.around`; names: its words -> tokens."""
    before, after = (
        [{"SpecialToken": {"id": names[word], "type_id": 0}} for word in part.split()]
        for part in shape.split("A")
    )
    first, second = ([{"Sequence": {"id": name, "type_id": 0}}] for name in "AB")
    tokens = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in names.values()}
    single, pair = [*before, *first, *after], [*before, *first, *second, *after]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}


def template(
    members: Mapping[str, Json], ids: Mapping[str, int], special: Collection[str]
) -> dict[str, object] | None:
    """The post-processor that says the language; `None` of other classes. members: of the settings.

    ids: of all tokens. special: those that are special or added. Raises `FormatError` for a `src_lang` that
    is none.
    """
    found = language_class(members)
    if found is None:
        return None
    known = found[1]
    source = members["src_lang"].optional_string() if "src_lang" in members else None
    end, language = _end(members, known), known.spelled(source or str(known.language))
    if end is None or end not in ids or not is_language(known, language, ids, special):
        if source is not None and not is_language(known, language, ids, special):
            raise members["src_lang"].error(
                f"{source!r} is no token of this tokenizer, or none of a language"
            )
        return None
    legacy = "legacy_behaviour" in members and members["legacy_behaviour"].boolean()
    shape = (legacy and known.legacy) or known.around
    return written(shape, {"eos": end, "language": language}, ids)


def _end(members: Mapping[str, Json], known: Class) -> str | None:
    said = members.get("eos_token")
    if said is None:
        return known.roles["eos"]
    return said.member("content").string() if isinstance(said.value, dict) else said.optional_string()


def with_language(spec: TokenizerSpec, changed: Iterable[str]) -> TokenizerSpec:
    """The tokenizer with the template that its settings ask for, if those that `changed` names tell of it."""
    if not any(name in (*TELLS, "eos_token") for name in changed):
        return spec
    text = beside(spec).get(CONFIG, "{}").encode("utf-8", "surrogatepass")
    ids = {token.decode("utf-8", "replace"): token_id for token_id, token in spec.tokens.items()}
    special = {**spec.special_tokens, **spec.added_tokens}
    try:
        told = template(parse(text, Path(CONFIG)).object(), ids | special, special)
    except FormatError as error:
        raise FormatError(str(error).removeprefix(f"{CONFIG}: ")) from None
    if told is None:
        return spec
    processors = read_processors(Json(told, "$", Path(NAME)))
    return with_framing(spec, replace(framing(spec), post_processor=processors))
