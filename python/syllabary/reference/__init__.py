"""The executable specification: every step of the pipeline in pure Python, one idea a file.

It decides: where the engine gives another answer, one of the two has a bug. Byte-pair encoding is the ten
files of this list, written to be read in an evening, in this order; what stands in parentheses can wait:

1. `merge`             count the pairs of neighbours, merge one; encoding is merging by rank
2. `ties`              which of several most frequent pairs is merged
3. `bytes_to_unicode`  GPT-2's spelling of bytes, and the orders of the byte alphabet
4. `symbols`           bytes, characters with an end-of-word mark, or whole pieces: what merging starts from
5. `split`             text -> pieces, by a pattern (what that means: `pattern_parser` reads it to a tree of
                       `pattern_nodes`, with `pattern_cursor` and `pattern_class`; `pattern` writes the tree)
6. `special`           text is cut at special tokens first (`added` finds them)
7. `train`             merges, one at a time, from a corpus (`train_corpus` reads it, `places` keeps the
                       counts)
8. `assemble`          ids: alphabet, merges, special tokens (`check` says what a vocabulary may not be)
9. `tokenizer`         all stages in a row: text -> ids, every state visible (`pipeline` has those before
                       merging, `first_tokens` the last of them, `groups` what is merged, `unknown` what
                       has no token)
10. `decode`           ids -> text, at once or one at a time

The whole of it in small, with the two functions that the first file is about:

>>> from syllabary.reference.merge import by_merges, count_pairs, last, merge, merge_states
>>> ids, merges = list(b"aaabdaaabac"), []
>>> for new_id in (256, 257, 258):  # training: the most frequent pair of neighbours becomes a new id
...     counts = count_pairs(ids)
...     pair = max(counts, key=counts.get)  # of several the one that occurs first (`ties`)
...     ids = merge(ids, pair, new_id)
...     merges.append((*pair, new_id))
>>> merges  # a is 97, b is 98: "aa", "aaa", "aaab"
[(97, 97, 256), (256, 97, 257), (257, 98, 258)]
>>> ids == [258, *b"d", 258, *b"ac"]
True
>>> last(merge_states(list(b"aaab"), by_merges(merges)))  # encoding: the same merges, by their rank
[258]

`train` and `tokenizer` do this for a whole corpus and any text, with every option:

>>> from syllabary.reference import ReferenceTokenizer
>>> from syllabary.reference.train import train
>>> from syllabary.spec import SplitSpec, TrainOptions
>>> options = TrainOptions(SplitSpec(None), num_merges=3, tie_break="first-seen")
>>> ReferenceTokenizer(train(["aaabdaaabac"], options)).encode("aaab")
[258]

What they hand on (a split, options of training, a finished tokenizer) are the records of `syllabary.spec`.

The rest answers one question each. Under each question the first file is where to begin:

- Tokenizers of other libraries, how they rewrite and cut text and write it out again: `steps` (what there
  is), `aligned` (rewritten text and where it came from), `normalize` (its kinds: `normalize_...`;
  `charsmap`), `pretokenize`, `step_decoders` (`spellings`: what they read; `incremental`: one token at a
  time), `step_match`, `check_foreign`.
- Models that do not merge by rank: `models`, then `wordpiece`, `wordlevel`, `unigram` (`unigram_paths`,
  `unigram_ways`: its other ways to cut a text), `check_models`; `scores` (sentencepiece's merging).
- Merges passed over at random: `dropout`. Merges of a vocabulary that has none: `rank_merges`.
- What a model eats besides ids: `full`, then `encoding`, `truncation`, `postprocess`, `trim` (offsets).
- Text in parts: `stream`, then `cuts` (where a text can be cut), `cut_parts`, `cut_steps`, `cut_tokens`,
  `pattern_joins`.
- Training from more than one text: `counts` (a table of pieces), `train_start` (on top of a tokenizer),
  `train_superwords` (merges that cross pieces), `train_parity` (several languages alike), `ids` (integers
  instead of text).
- Training of other models, and as other libraries do it: `train_huggingface`, `train_wordpiece`,
  `train_wordlevel`, `train_sentencepiece` (it lists its parts, `train_sentencepiece_...`; `wire`: how its
  model is written), `train_unigram` (`train_unigram_...`: its parts, and who trains so).

Leaves out: speed (the engine; `tokens` is how its vocabularies are read here), files (`syllabary.formats`).
A function that bears its file's name (`merge`, `train`, `assemble`) is imported from that file, so that the
file keeps its name here.
"""

from typing import TYPE_CHECKING

from syllabary.on_demand import on_demand

if TYPE_CHECKING:
    from syllabary.reference import assemble as assemble
    from syllabary.reference import bytes_to_unicode as bytes_to_unicode
    from syllabary.reference import check as check
    from syllabary.reference import decode as decode
    from syllabary.reference import groups as groups
    from syllabary.reference import merge as merge
    from syllabary.reference import pipeline as pipeline
    from syllabary.reference import special as special
    from syllabary.reference import split as split
    from syllabary.reference import symbols as symbols
    from syllabary.reference import ties as ties
    from syllabary.reference import tokenizer as tokenizer
    from syllabary.reference import train as train
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

# Where each name comes from: who encodes loads no training, who opens a file no more than its checks.
_HOMES = {
    "Decoder": "decode",
    "IncrementalDecoder": "decode",
    "MergeStep": "train",
    "ReferenceTokenizer": "tokenizer",
    "check_options": "assemble",
    "check_spec": "check",
    "count_pairs": "merge",
    "cut_by_policy": "special",
    "initial_alphabet": "assemble",
    "merge_states": "merge",
    "pair_table": "train",
    "pieces": "split",
    "train_steps": "train",
}
_FILES = (  # of the list above
    *("merge", "ties", "bytes_to_unicode", "symbols", "split", "special", "train", "assemble", "check"),
    *("tokenizer", "pipeline", "groups", "decode"),
)

if not TYPE_CHECKING:  # a type checker would take any name, misspelled too, for one that is found here
    __getattr__, __dir__ = on_demand(__name__, {**_HOMES, **dict(zip(_FILES, _FILES, strict=True))})
