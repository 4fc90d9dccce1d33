"""Which encoding a model uses, by tiktoken's interface. The table is `syllabary.encodings`' `models.json`."""

from __future__ import annotations

from syllabary.compat.tiktoken.core import Encoding
from syllabary.compat.tiktoken.registry import get_encoding
from syllabary.encodings import models, name_for_model

MODEL_TO_ENCODING: dict[str, str]
MODEL_PREFIX_TO_ENCODING: dict[str, str]
MODEL_TO_ENCODING, MODEL_PREFIX_TO_ENCODING = (dict(table) for table in models())


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses; `KeyError` for a model that is not known."""
    name = name_for_model(model_name)
    if name is None:
        raise KeyError(
            f"Could not automatically map {model_name} to a tokeniser. "
            "Please use `tiktoken.get_encoding` to explicitly get the tokeniser you expect."
        )
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses; `KeyError` for a model that is not known."""
    return get_encoding(encoding_name_for_model(model_name))
