"""syllabary: train byte-pair-encoding tokenizers, use them, understand them, move them between formats.

>>> import syllabary
>>> tok = syllabary.train(["the cat and the hat and the bat"] * 2, vocab_size=262)
>>> tok.decode(tok.encode("the bat")) == "the bat"
True
"""

from syllabary.counts import PieceCounts
from syllabary.encodings import names as encodings
from syllabary.errors import (
    ChatError,
    CheckpointError,
    CorpusError,
    CorpusWarning,
    EarlyStopWarning,
    FormatError,
    ModelError,
    PatternError,
    ShardError,
    SpecialTokenError,
    SplitError,
    SyllabaryError,
    TextError,
    TrainingError,
    UnknownEncodingError,
    UnknownSymbolError,
    UnknownTokenError,
    VocabularyError,
)
from syllabary.full_batch import EncodingBatch
from syllabary.ids import IdTokenizer
from syllabary.opening import load
from syllabary.progress import Progress
from syllabary.ragged import Ragged
from syllabary.reference.encoding import Encoding
from syllabary.tokenizer import Tokenizer
from syllabary.training import train
from syllabary.training_ids import train_ids
from syllabary.training_parity import Parity

__version__ = "0.1.0"

__all__ = [
    "ChatError",
    "CheckpointError",
    "CorpusError",
    "CorpusWarning",
    "EarlyStopWarning",
    "Encoding",
    "EncodingBatch",
    "FormatError",
    "IdTokenizer",
    "ModelError",
    "Parity",
    "PatternError",
    "PieceCounts",
    "Progress",
    "Ragged",
    "ShardError",
    "SpecialTokenError",
    "SplitError",
    "SyllabaryError",
    "TextError",
    "Tokenizer",
    "TrainingError",
    "UnknownEncodingError",
    "UnknownSymbolError",
    "UnknownTokenError",
    "VocabularyError",
    "encodings",
    "load",
    "train",
    "train_ids",
]
