"""The seed vocabulary of a unigram model: texts that occur twice or more and go on in different ways.

A text that is always followed by the same character is no candidate: the longer one says it all. What
counts as going on differently is `branching`:

  "ends"   followed by two different characters, or ever by the end of a word (ours).
  "texts"  followed by two different characters, all ends being one character, and so is the one that stands
           for what is outside the alphabet; each distinct word counts once (Hugging Face).
  "bytes"  followed by two different bytes of UTF-8: in a sentence those of its text, behind it zero
           (sentencepiece). Where all characters that follow share their first byte, as most Greek ones do,
           that is not so. What ends sentences counts once more for these, if the sentences that come next
           begin with different bytes, or one of them is the last of all: zero is then a part of the text.

A candidate is worth its count times its characters; the `size` best are taken, of equals those of more
bytes, then the smaller text (with "texts" the larger one). These are the inner nodes of the suffix tree of
the words, which peers find with a suffix array and its longest common prefixes; here every text is counted.
Source: sentencepiece 0.2.3, `unigram_model_trainer.cc` (`MakeSeedSentencePiecesFromCorpus`), and tokenizers
0.23.3, `unigram/trainer.rs` (`make_seed_sentence_pieces`); Kudo 2018, section 3.2. Leaves out: characters,
which are pieces anyway.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

TEXTS = "texts"
END = b"\0"
# A word and what follows: the first byte of the next word, or `END` and the first byte of the next sentence.
Ended = tuple[str, bytes]


def seeds(
    words: Iterable[tuple[Ended, int]],
    branching: str,
    longest: int,
    size: int,
    valid: Callable[[str], bool] = lambda text: True,
    outside: str = "",
) -> list[tuple[str, int]]:
    """The candidates with their scores, the best first.

    words: with their counts. longest: in characters. outside: a character that is in no candidate.

    >>> seeds([(("abc", END), 2), (("abd", END), 3)], "ends", 16, 10)
    [('ab', 10), ('abd', 9), ('abc', 6), ('bd', 6), ('bc', 4)]
    >>> seeds([(("ab", b"\\0x"), 2), (("cab", b"\\0"), 1)], "bytes", 16, 10)  # what follows zero differs
    [('ab', 6)]
    """
    counts, ends = Counter[str](), Counter[str]()
    follows, behind = defaultdict[str, set[str | int]](set), defaultdict[str, set[bytes]](set)
    for (word, after), count in words:
        weight = 1 if branching == TEXTS else count
        for start in range(len(word)):
            for stop in range(start + 2, min(len(word), start + longest) + 1):
                text = word[start:stop]
                counts[text] += weight
                follows[text].add(_next(word[stop : stop + 1], after, branching, outside))
                if stop == len(word) and after.startswith(END):
                    ends[text] += weight
                    behind[text].add(after)
    scores = dict[str, int]()
    for text, count in counts.items():
        branches = len(follows[text]) > 1 or (branching == "ends" and "" in follows[text])
        times = count if branches else 0
        if branching == "bytes" and len(behind[text]) > 1:
            times += ends[text]
        if times > 1 and valid(text):
            scores[text] = times * len(text)
    if branching == TEXTS:
        order = sorted(scores, key=lambda text: (scores[text], text), reverse=True)
    else:
        order = sorted(scores, key=lambda text: (-scores[text], -len(text.encode()), text))
    return [(text, scores[text]) for text in order[:size]]


def _next(character: str, after: bytes, branching: str, outside: str) -> str | int:
    """What follows, as far as it matters."""
    if branching == TEXTS and character == outside:
        return ""
    if branching != "bytes":
        return character
    return character.encode()[0] if character else after[0]
