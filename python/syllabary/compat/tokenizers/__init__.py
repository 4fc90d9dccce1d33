"""Hugging Face's `tokenizers` over syllabary's engine: `from syllabary.compat import tokenizers`.

Classes, arguments, attributes, ids, offsets and files are those of tokenizers 0.23.3, whose released tests
run against this module: docs/compatibility.md says which pass, and where it differs, on purpose.
Leaves out: everything that tokenizers does not have (`syllabary` itself has it), `tokenizers.tools`, and its
parity trainer (`syllabary.train(parity=...)`).
"""

from enum import Enum

from syllabary.compat.tokenizers import decoders as decoders
from syllabary.compat.tokenizers import implementations as implementations
from syllabary.compat.tokenizers import models as models
from syllabary.compat.tokenizers import normalizers as normalizers
from syllabary.compat.tokenizers import pre_tokenizers as pre_tokenizers
from syllabary.compat.tokenizers import processors as processors
from syllabary.compat.tokenizers import trainers as trainers
from syllabary.compat.tokenizers._added import AddedToken as AddedToken
from syllabary.compat.tokenizers._encoding import Encoding as Encoding
from syllabary.compat.tokenizers._normalized import NormalizedString as NormalizedString
from syllabary.compat.tokenizers._pretokenized import PreTokenizedString as PreTokenizedString
from syllabary.compat.tokenizers._pretokenized import Token as Token
from syllabary.compat.tokenizers._regex import Regex as Regex
from syllabary.compat.tokenizers._tokenizer import Tokenizer as Tokenizer
from syllabary.compat.tokenizers.implementations import BertWordPieceTokenizer as BertWordPieceTokenizer
from syllabary.compat.tokenizers.implementations import ByteLevelBPETokenizer as ByteLevelBPETokenizer
from syllabary.compat.tokenizers.implementations import CharBPETokenizer as CharBPETokenizer
from syllabary.compat.tokenizers.implementations import SentencePieceBPETokenizer as SentencePieceBPETokenizer
from syllabary.compat.tokenizers.implementations import (
    SentencePieceUnigramTokenizer as SentencePieceUnigramTokenizer,
)

# Of the interface.
__version__ = "0.23.3"

Offsets = tuple[int, int]
TextInputSequence = str
PreTokenizedInputSequence = list[str] | tuple[str]
TextEncodeInput = str | tuple[str, str] | list[str]
PreTokenizedEncodeInput = (
    PreTokenizedInputSequence | tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]
)
InputSequence = TextInputSequence | PreTokenizedInputSequence
EncodeInput = TextEncodeInput | PreTokenizedEncodeInput


class OffsetReferential(Enum):
    """Which text offsets are of."""

    ORIGINAL = "original"
    NORMALIZED = "normalized"


class OffsetType(Enum):
    """What offsets count."""

    BYTE = "byte"
    CHAR = "char"


class SplitDelimiterBehavior(Enum):
    """What becomes of what a text is cut at."""

    REMOVED = "removed"
    ISOLATED = "isolated"
    MERGED_WITH_PREVIOUS = "merged_with_previous"
    MERGED_WITH_NEXT = "merged_with_next"
    CONTIGUOUS = "contiguous"
