"""`transformers`, or an error that says what to install. Modules of this package take it from here."""

from __future__ import annotations

from syllabary.errors import FormatError

try:
    from tokenizers import AddedToken
    from tokenizers import Tokenizer as TheirTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BatchEncoding
    from transformers.tokenization_utils_tokenizers import TokenizersBackend
    from transformers.utils import logging
except ImportError as error:
    raise FormatError(
        f"a tokenizer for transformers needs transformers 5.20 or newer ({error}): "
        "pip install 'syllabary[transformers]'"
    ) from error

__all__ = [
    "AddedToken",
    "BatchEncoding",
    "TemplateProcessing",
    "TheirTokenizer",
    "TokenizersBackend",
    "logging",
]
