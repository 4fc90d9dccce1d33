"""A tokenizer of ours that code for `transformers` takes as one of its own: `tok.as_transformers()`.

`SyllabaryTokenizer` is a `PreTrainedTokenizerFast` (since version 5: `TokenizersBackend`) whose texts go
through our engine. Its vocabulary and settings are held by a `tokenizers.Tokenizer`, as in any of theirs, so
that all the code that asks for them, or changes them, finds what it knows; no text passes through it but for
`sanitize_control_tokens` and `train_new_from_iterator`. Importing this loads `transformers` (extra
`transformers`). Leaves out: models; a tokenizer that `tokenizer.json` cannot hold.
"""

from syllabary.compat.transformers.folder import wrap
from syllabary.compat.transformers.tokenizer import SyllabaryTokenizer

__all__ = ["SyllabaryTokenizer", "wrap"]
