"""From our tokenizer to theirs: by the folder that `transformers` would have saved.

Adds `wrap`: the tokenizer's files are written to a temporary folder, which `transformers` reads by its own
rules. Leaves out: what stands in the files (`formats`).
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syllabary import formats
from syllabary.compat.transformers.given import SETTLED
from syllabary.compat.transformers.placing import placed
from syllabary.compat.transformers.tokenizer import AS_WRITTEN, SyllabaryTokenizer
from syllabary.errors import FormatError, LossWarning
from syllabary.files import write_atomic
from syllabary.formats.loss import Loss
from syllabary.formats.record import CONVERTS, KEEPS_ALL
from syllabary.formats.transformers_folder import beside, of_class, one_version, with_settings
from syllabary.formats.transformers_language import TELLS, with_language
from syllabary.formats.transformers_sentencepiece import TEXT, held, is_sentencepiece, said

WAY_OUT = "`syllabary convert` to a tokenizer.json says whether it can be left out, and what changes"

LOST = "a sentencepiece model for transformers, in whose tokenizer.json is lost"


def wrap(tok: Any, settings: Mapping[str, Any]) -> SyllabaryTokenizer:
    """The tokenizer for `transformers`. settings: what to change of `tokenizer_config.json`.

    A `LossWarning` names what `tokenizer.json` cannot hold of a sentencepiece model. Raises `FormatError` for
    another tokenizer that it cannot hold.
    """
    language = {name: settings[name] for name in TELLS if name in settings}
    asked = {name: settings[name] for name in TEXT if name in settings and is_sentencepiece(tok.spec)}
    spec = with_settings(tok.spec, {**language, **asked}) if language or asked else tok.spec
    losses: tuple[Loss, ...] = ()
    told: dict[str, Any] = {}
    if is_sentencepiece(spec):
        told[SETTLED] = True
        spec = placed(spec, settings)
        told |= {**said(spec), **of_class(spec)}
        spec, losses = held(spec, settings)
        if any(step.kind == "Prepend" for step in spec.normalizer):
            told[AS_WRITTEN] = True
    else:
        told |= of_class(tok.spec)
        spec = with_language(spec, language)
    told |= settings
    called = told.pop("name_or_path", "")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            formats.write(spec, folder / "tokenizer.json", "huggingface")
        except FormatError as error:
            sentence = str(error).replace(KEEPS_ALL, WAY_OUT).replace(CONVERTS, WAY_OUT)
            raise FormatError(sentence) from None
        for file, text in one_version(beside(spec)).items():
            (folder / file).parent.mkdir(exist_ok=True)
            write_atomic(folder / file, text.encode("utf-8"))
        made: SyllabaryTokenizer = SyllabaryTokenizer.from_pretrained(name, local_files_only=True, **told)
    if losses:
        warnings.warn(f"{LOST}: {'; '.join(losses)}", LossWarning, stacklevel=3)
    made.name_or_path = made.init_kwargs["name_or_path"] = called
    return made
