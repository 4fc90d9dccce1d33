"""The executable specification: every step of the pipeline in pure Python, written to be read in an evening.

It decides: where the engine gives another answer, one of the two has a bug. Reading order, one idea a file:

1. `merge`             count the pairs of neighbours, merge one; encoding is merging by rank
2. `ties`              which of several most frequent pairs is merged
3. `bytes_to_unicode`  GPT-2's spelling of bytes, and the orders of the byte alphabet
4. `symbols`           bytes, characters with an end-of-word mark, or whole pieces: what merging starts from
5. `split`             text -> pieces, by a pattern (`pattern` and its neighbours say what a pattern means)
6. `special`           text is cut at special tokens first (`added` finds them)
7. `train`             merges, one at a time, from a corpus; `places` keeps the counts (`counts`: from a table
                       of pieces; `train_start`: on top of a tokenizer)
8. `assemble`          ids: alphabet, merges, special tokens; `check` says what a vocabulary may not be
9. `tokenizer`         all stages in a row: text -> ids, every state visible; `pipeline` has those before
                       merging, `groups` what is merged
10. `decode`           ids -> text, at once or one at a time

What the tokenizers of other libraries need besides, in any order: `aligned` (rewritten text and where it came
from), `normalize`, `pretokenize` and `step_decoders` (their steps; `steps` checks them), `scores`
(sentencepiece's merging), `dropout`, `trim` (their offsets), `incremental` (steps, one token at a time),
`check_foreign`.

Training beyond one text: `train_superwords` (merges that cross pieces), `train_parity` (several languages
alike), `ids` (integers instead of text).

Leaves out: speed (the engine), files (`syllabary.formats`). A function that bears its file's name (`merge`,
`train`, `assemble`) is imported from that file, so that the file keeps its name here.
"""

from syllabary.reference.assemble import check_options, initial_alphabet
from syllabary.reference.check import check_spec
from syllabary.reference.decode import Decoder, IncrementalDecoder
from syllabary.reference.merge import count_pairs, merge_states
from syllabary.reference.special import cut_by_policy
from syllabary.reference.split import pieces
from syllabary.reference.tokenizer import ReferenceTokenizer
from syllabary.reference.train import MergeStep, pair_table, train_steps

__all__ = [
    "Decoder",
    "IncrementalDecoder",
    "MergeStep",
    "ReferenceTokenizer",
    "check_options",
    "check_spec",
    "count_pairs",
    "cut_by_policy",
    "initial_alphabet",
    "merge_states",
    "pair_table",
    "pieces",
    "train_steps",
]
