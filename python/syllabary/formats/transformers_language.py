"""The token of a language that some classes of `transformers` put beside the text, by `src_lang`.

Adds the template that such a class has, whatever `tokenizer.json` says, and a tokenizer whose settings change
it, as `tokenizer.src_lang = …` does there. Source: transformers 5.23, `set_src_lang_special_tokens` of MBart,
MBart50 and Nllb. Leaves out: which classes these are (`transformers_classes`); the language to translate
into, which a model is told (`forced_bos_token_id`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from syllabary.errors import FormatError
from syllabary.formats.hf_framing import framing, read_processors, with_framing
from syllabary.formats.strict_json import Json, parse
from syllabary.formats.transformers_folder import CONFIG, NAME, beside, class_in
from syllabary.spec import TokenizerSpec

TELLS = ("src_lang", "legacy_behaviour", "tokenizer_class")  # settings that the template follows


def template(members: Mapping[str, Json], ids: Mapping[str, int]) -> dict[str, object] | None:
    """The post-processor that says the language; `None` of other classes. members: of the settings.

    ids: of all tokens. Raises `FormatError` for a `src_lang` that is none.
    """
    known = class_in(members)
    if known is None or known.language is None:
        return None
    source = members["src_lang"].optional_string() if "src_lang" in members else None
    end, language = known.roles["eos"], source or known.language
    legacy = "legacy_behaviour" in members and members["legacy_behaviour"].boolean()
    if end not in ids or language not in ids:
        if source is not None and source not in ids:
            raise members["src_lang"].error(f"{source!r} is no token of this tokenizer")
        return None
    marks = [{"SpecialToken": {"id": name, "type_id": 0}} for name in (language, end)]
    first, second = ([{"Sequence": {"id": name, "type_id": 0}}] for name in "AB")
    before, after = ([], marks[::-1]) if known.after or legacy else (marks[:1], marks[1:])
    tokens = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in (end, language)}
    single, pair = [*before, *first, *after], [*before, *first, *second, *after]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}


def with_language(spec: TokenizerSpec, changed: Iterable[str]) -> TokenizerSpec:
    """The tokenizer with the template that its settings ask for, if those that `changed` names tell of it."""
    if not any(name in TELLS for name in changed):
        return spec
    text = beside(spec).get(CONFIG, "{}").encode("utf-8", "surrogatepass")
    ids = {token.decode("utf-8", "replace"): token_id for token_id, token in spec.tokens.items()}
    try:
        told = template(
            parse(text, Path(CONFIG)).object(), ids | {**spec.special_tokens, **spec.added_tokens}
        )
    except FormatError as error:
        raise FormatError(str(error).removeprefix(f"{CONFIG}: ")) from None
    if told is None:
        return spec
    processors = read_processors(Json(told, "$", Path(NAME)))
    return with_framing(spec, replace(framing(spec), post_processor=processors))
