"""sentencepiece's model of words in the words of Hugging Face's WordLevel: a part of `hf_reduce`.

    split before each ▁, unknown words in a row are one  ->  known words stand alone, and what is between

Theirs looks up each piece of its pre-tokenizer, and knows no way to join unknown ones. So the pre-tokenizer
is told the words: a pattern that finds each, from a ▁ or the beginning to the next ▁ or the end; all between
two of them stays one piece, which is no token. The pattern is a tree of the words, so that no more than one
way through it is tried at each character. Leaves out: unknown words as bytes, which WordLevel has not
(`hf_words` refuses them).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from syllabary.formats.extras import NO_IDS
from syllabary.formats.loss import Loss
from syllabary.reference.symbols import they_are
from syllabary.reference.wordlevel import WORDS
from syllabary.spec import Matching, SplitSpec, TokenizerSpec

SPACE = "\u2581"
SYNTAX = frozenset(r"\^$.|?*+()[]{}")
Tree = dict[str, "Tree"]


def known_words(spec: TokenizerSpec) -> TokenizerSpec:
    """The same tokenizer with known words cut out, if it is one of words without a fallback."""
    if spec.model != "wordlevel" or not spec.fuse_unknown or spec.fallback or spec.split.pattern != WORDS:
        return spec
    frozen = [text for text in spec.added_tokens if spec.matching.get(text, Matching()).stage == "frozen"]
    words = [token.decode() for token in spec.tokens.values()]
    return replace(spec, split=split_of([*words, *frozen]), fuse_unknown=False)


def never_words(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """Special tokens that no text becomes: there, ordinary ones, which their pattern does not find."""
    names = [name for name in spec.special_tokens if spec.matching.get(name, Matching()).stage == "never"]
    names += [name for name in spec.added_tokens if spec.matching.get(name, Matching()).stage == "never"]
    if not names or spec.model != "wordlevel":
        return None
    ids = {**spec.special_tokens, **spec.added_tokens}
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    apart = _begins_with_space(spec) and not any(name.startswith(SPACE) for name in names)
    change = NO_IDS if apart else "ids change where unknown text between known words is just one of them"
    loss = Loss(
        f"that {', '.join(map(repr, names[:5]))}{more} are special: they keep their ids as ordinary tokens; "
        + change,
        "same" if apart else "some",
    )
    changed = replace(
        spec,
        tokens=dict(sorted({**spec.tokens, **{ids[name]: name.encode() for name in names}}.items())),
        special_tokens={text: i for text, i in spec.special_tokens.items() if text not in names},
        added_tokens={text: i for text, i in spec.added_tokens.items() if text not in names},
        matching={text: how for text, how in spec.matching.items() if text not in names},
    )
    return changed, loss


def _begins_with_space(spec: TokenizerSpec) -> bool:
    """Whether all text does once it is normalized: then so do all pieces."""
    for step in spec.normalizer:
        if step.kind == "Prepend" and step.options["prepend"] == SPACE:
            return True
        if step.kind == "SentencePiece" and step.options["escape_whitespaces"]:
            return bool(step.options["add_dummy_prefix"] and not step.options["treat_whitespace_as_suffix"])
    return False


def frozen_words(spec: TokenizerSpec) -> tuple[TokenizerSpec, Loss] | None:
    """User-defined words, which the normalizer leaves alone: there, ordinary ones."""
    names = [text for text in spec.added_tokens if spec.matching.get(text, Matching()).stage == "frozen"]
    if not names or spec.model != "wordlevel":
        return None
    ids = spec.added_tokens
    sentence = f"that {they_are(len(names), 'token')} left alone by the normalizer: ids can change where it "
    changed = replace(
        spec,
        tokens=dict(sorted({**spec.tokens, **{ids[name]: name.encode() for name in names}}.items())),
        added_tokens={text: i for text, i in ids.items() if text not in names},
        matching={text: how for text, how in spec.matching.items() if text not in names},
    )
    return changed, Loss(sentence + "changes them", "some")


def split_of(words: Iterable[str]) -> SplitSpec:
    """The split that finds these words where they are whole ones, and leaves what is between.

    >>> split_of(["▁to", "▁toe", "▁b", "a"]).pattern
    '(?:▁(?:b|to(?:e|))|\\\\Aa)(?=▁|\\\\z)'
    """
    every = [word for word in words if SPACE not in word[1:]]
    begun = _pattern(_tree(word[1:] for word in every if word.startswith(SPACE)))
    first = _pattern(_tree(word for word in every if not word.startswith(SPACE)))
    ways = [start + way for start, way in ((SPACE, begun), (r"\A", first)) if way is not None]
    pattern = f"(?:{'|'.join(ways)})(?={SPACE}|\\z)" if ways else r"(?!)"
    return SplitSpec(pattern, tables="onig", keep_unmatched=True)


def _tree(words: Iterable[str]) -> Tree:
    """The words as a tree of characters; the end of a word is an empty one."""
    root: Tree = {}
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}
    return root


def _pattern(tree: Tree) -> str | None:
    """What finds the words of a tree, `None` if there are none; a longer word comes before a shorter one."""
    if not tree:
        return None
    ways = []
    for character in sorted(tree, key=lambda character: (not character, character)):
        spelled, node = character, tree[character]
        while len(node) == 1 and "" not in node:
            [(character, node)] = node.items()
            spelled += character
        rest = _pattern(node) if spelled and set(node) != {""} else ""
        ways.append("".join(map(_escaped, spelled)) + (rest or ""))
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def _escaped(character: str) -> str:
    return "\\" + character if character in SYNTAX else character
