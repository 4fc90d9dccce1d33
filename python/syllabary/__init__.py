"""syllabary: train byte-pair-encoding tokenizers, use them, understand them, move them between formats.

>>> import syllabary
>>> tok = syllabary.train(["the cat and the hat and the bat"] * 2, vocab_size=262)
>>> tok.decode(tok.encode("the bat")) == "the bat"
True
"""

import sys

# Not later, and with it numpy: Ctrl-C while compiled modules are imported would leave a first call
# as a panic, or as an ImportError.
try:
    from typing import TYPE_CHECKING, Any

    import numpy as _numpy  # noqa: F401 (first: the engine panics if Ctrl-C comes while it imports it)

    from syllabary import _engine as _engine
    from syllabary.encodings import names as encodings
except KeyboardInterrupt:
    # subtle: the command, and `python -m`, which has no name yet, come here before `__main__` could end them.
    if sys.argv[0] == "-m" or sys.argv[0].replace("\\", "/").split("/")[-1] in ("syllabary", "syllabary.exe"):
        sys.exit(130)
    raise
from syllabary.errors import (
    ChatError,
    CheckpointError,
    CorpusError,
    CorpusWarning,
    EarlyStopWarning,
    FormatError,
    LossWarning,
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
from syllabary.on_demand import on_demand

if TYPE_CHECKING:
    from syllabary import compat as compat
    from syllabary import convert as convert
    from syllabary import corpus as corpus
    from syllabary import formats as formats
    from syllabary import framing as framing
    from syllabary import gpt as gpt
    from syllabary import growth as growth
    from syllabary import inspecting as inspecting
    from syllabary import reference as reference
    from syllabary import shards as shards
    from syllabary import spec as spec
    from syllabary import splits as splits
    from syllabary import surgery as surgery
    from syllabary import verify as verify
    from syllabary.counts.counting import count_pieces
    from syllabary.counts.pieces import PieceCounts
    from syllabary.full.batch import EncodingBatch
    from syllabary.ids import IdTokenizer
    from syllabary.opening import load
    from syllabary.progress import Progress
    from syllabary.ragged import Ragged
    from syllabary.reference.encoding import Encoding
    from syllabary.tokenizer import Tokenizer
    from syllabary.training.call import train
    from syllabary.training.ids import train_ids
    from syllabary.training.parity import Parity

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
    "LossWarning",
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
    "count_pieces",
    "encodings",
    "load",
    "train",
    "train_ids",
]

# Where each name comes from that is imported when it is first asked for: who encodes loads no trainer.
_HOMES = {
    "Encoding": "reference.encoding",
    "EncodingBatch": "full.batch",
    "IdTokenizer": "ids",
    "Parity": "training.parity",
    "PieceCounts": "counts.pieces",
    "Progress": "progress",
    "Ragged": "ragged",
    "Tokenizer": "tokenizer",
    "count_pieces": "counts.counting",
    "load": "opening",
    "train": "training.call",
    "train_ids": "training.ids",
}
_MODULES = (
    *("compat", "convert", "corpus", "formats", "framing", "gpt", "growth", "inspecting", "reference"),
    *("shards", "spec", "splits", "surgery", "verify"),
)

_found, __dir__ = on_demand(__name__, {**_HOMES, **dict(zip(_MODULES, _MODULES, strict=True))})

if not TYPE_CHECKING:  # a type checker would take any name, misspelled too, for one that is found here

    def __getattr__(name: str) -> Any:
        """A public name or module, from now on an attribute like others (PEP 562)."""
        return _found(name)
