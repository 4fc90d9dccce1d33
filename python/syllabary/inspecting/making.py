"""How tokens come about: the rank of the merge that makes each, its tree of merges, what is made of it.

Adds `Making`, a tokenizer asked about its tokens. Leaves out: tokens in a text (`reading`), and tokens that
nothing comes to (`surgery.unreachable`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from syllabary import formats
from syllabary.cached import cached_property
from syllabary.inspecting.scripts import script_of, text_of
from syllabary.reference import merge
from syllabary.spelling import Speller
from syllabary.tokenizer import Tokenizer

Kind = Literal["special", "added", "unknown", "byte", "unit", "merge", "score", "word", "none"]
MOST_SYMBOLS = 2_000  # of a token that is merged anew: time goes by the square
SHOWN = 10  # of the tokens that are made of one


@dataclass(frozen=True, slots=True)
class Node:
    """A token in a tree of merges, which is a list in order: each node, then its left and its right part.

    depth: 0 for the root. id: `None` for a character that is no token of its own (sentencepiece's merging).
    rank, score: of the merge that made it; both `None` for a leaf.
    """

    depth: int
    id: int | None
    token: bytes
    rank: int | None
    score: float | None

    @property
    def leaf(self) -> bool:
        """Whether it is a unit, or nothing makes it."""
        return self.rank is None and self.score is None


@dataclass(frozen=True, slots=True)
class _Made:
    """A token on the way: its id, and what it was merged of."""

    id: int
    parts: tuple[_Made, _Made] | None = None


class Making:
    """A tokenizer, asked how its tokens come about.

    >>> import syllabary
    >>> making = Making(syllabary.train(["low lower lowest"] * 3, vocab_size=259))
    >>> [(node.depth, node.token, node.rank) for node in making.tree(257)]
    [(0, b'low', 1), (1, b'lo', 0), (2, b'l', None), (2, b'o', None), (1, b'w', None)]
    """

    def __init__(self, tok: Tokenizer) -> None:
        """Merges in the order of `tok.merges`; none for models without."""
        self.tok, self.spec = tok, tok.spec
        self.named = {**self.spec.special_tokens, **self.spec.added_tokens}
        self.special = set(self.spec.special_tokens.values())
        self.added = set(self.spec.added_tokens.values())
        self.units = set(self.spec.alphabet.values())

    @property
    def merging(self) -> Literal["list", "ranks", "scores"] | None:
        """What orders the merges: their list, the ids of what they make, scores; `None`: there are none."""
        if self.spec.model != "bpe":
            return None
        if self.spec.merges is not None:
            return "list"
        return "ranks" if self.spec.scores is None else "scores"

    @cached_property
    def merges(self) -> tuple[tuple[int, int, int], ...]:
        """Each merge as `(left id, right id, id of the result)`, in rank order."""
        if self.merging == "ranks":
            return formats.recover_merges(self.spec.tokens)
        return self.spec.merges or ()

    @cached_property
    def ranks(self) -> dict[int, int]:
        """id -> rank of the first merge that makes it."""
        found: dict[int, int] = {}
        for rank, (_left, _right, result) in enumerate(self.merges):
            found.setdefault(result, rank)
        return found

    @cached_property
    def pair_ranks(self) -> dict[tuple[int, int], int]:
        """Pair -> its rank; the last one, of a pair that is listed twice, as merging has it."""
        return {(left, right): rank for rank, (left, right, _result) in enumerate(self.merges)}

    @cached_property
    def speller(self) -> Speller:
        """Merges a token's own symbols."""
        return Speller(self.spec)

    def kind(self, token_id: int) -> Kind:
        """What makes a token: `"unit"` is an initial symbol; `"none"`: no merge (perhaps a whole piece)."""
        spec = self.spec
        if token_id in self.special or token_id in self.added:
            return "special" if token_id in self.special else "added"
        if token_id == spec.unknown:
            return "unknown"
        if token_id in spec.byte_tokens or token_id in self.units:
            return "byte" if token_id in spec.byte_tokens else "unit"
        if spec.scores is not None and token_id in spec.scores:
            return "score"
        if spec.model != "bpe":
            return "word"
        return "merge" if token_id in self.ranks else "none"

    def rank(self, token_id: int) -> int | None:
        """The rank of the first merge that makes a token; `None` for one that no merge makes."""
        return self.ranks.get(token_id) if self.kind(token_id) == "merge" else None

    def score(self, token_id: int) -> float | None:
        """The score of a token, where the vocabulary has scores."""
        return (self.spec.scores or {}).get(token_id)

    def own(self, token_id: int) -> list[_Made] | None:
        """What merging makes of a token's own symbols; `None` where it cannot be asked."""
        if self.merging is None or token_id in self.special or token_id in self.added:
            return None
        symbols = self.speller.symbols(self.spec.tokens[token_id])
        if symbols is None or len(symbols) > MOST_SYMBOLS:
            return None
        made = [_Made(symbol) for symbol in symbols]
        for at, result in merge.places(symbols, self.speller.rule):
            made[at : at + 2] = [_Made(result, (made[at], made[at + 1]))]
        return made

    def tree(self, token_id: int) -> list[Node]:
        """The merges that make a token, down to units: those of its own symbols, else those of the list."""
        made = self.own(token_id)
        if made is not None and [one.id for one in made] == [token_id]:
            return self._flat(made[0])
        return self._listed(token_id)

    def used_in(self, token_id: int) -> list[int] | None:
        """The tokens one merge makes of this one and another, in rank order; `None`: there are no merges."""
        if self.merging is None:
            return None
        if self.merging == "scores":
            part = self.spec.tokens.get(token_id, b"")
            longer = [one for one, token in self.spec.tokens.items() if part in token and one != token_id]
            return [one for one in longer if part and self._last_takes(one, token_id)]
        found = (result for left, right, result in self.merges if token_id in (left, right))
        return list(dict.fromkeys(found))

    def token(self, token_id: int) -> dict[str, object]:
        """Everything of one token, as plain data; `UnknownTokenError` if there is none."""
        data = self.tok.id_to_token(token_id)
        used, own = self.used_in(token_id), self.own(token_id)
        return {
            "id": token_id,
            **spelling(data),
            "length": len(data),
            "kind": self.kind(token_id),
            "special": token_id in self.special,
            "added": token_id in self.added,
            "script": script_of(text_of(self.spec, data)),
            "rank": self.rank(token_id),
            "score": self.score(token_id),
            "tree": [
                {"depth": node.depth, "id": node.id, **spelling(node.token), "rank": node.rank}
                | ({} if node.score is None else {"score": node.score})
                for node in self.tree(token_id)
            ],
            "alone": None if own is None else [one.id if one.id >= 0 else None for one in own],
            "used_in": None
            if used is None
            else {"count": len(used), "first": [self.brief(one) for one in used[:SHOWN]]},
        }

    def brief(self, token_id: int) -> dict[str, object]:
        """A token's id and bytes, as plain data."""
        return {"id": token_id, **spelling(self.tok.vocab[token_id])}

    # ---- inside ----

    def _last_takes(self, token_id: int, part: int) -> bool:
        """Whether the last of the merges that make a token by scores takes this part."""
        if self.kind(token_id) != "score":
            return False
        made = self.own(token_id) or []
        parts = made[0].parts if len(made) == 1 else None
        return parts is not None and part in (parts[0].id, parts[1].id)

    def _flat(self, root: _Made) -> list[Node]:
        nodes: list[Node] = []
        left: list[tuple[int, _Made]] = [(0, root)]
        while left:
            depth, made = left.pop()
            pair = None if made.parts is None else (made.parts[0].id, made.parts[1].id)
            scored = pair is not None and self.merging == "scores"
            rank = None if pair is None or scored else self.pair_ranks.get(pair, self.ranks.get(made.id))
            score = self.score(made.id) if scored else None
            token_id = made.id if made.id >= 0 else None
            nodes.append(Node(depth, token_id, self.speller.bytes_of[made.id], rank, score))
            left += [(depth + 1, part) for part in reversed(made.parts or ())]
        return nodes

    def _listed(self, token_id: int) -> list[Node]:
        """The tree by the first merge in the list that makes each."""
        nodes: list[Node] = []
        left = [(0, token_id)]
        while left:
            depth, one = left.pop()
            rank = self.rank(one)
            nodes.append(Node(depth, one, self.tok.vocab[one], rank, None))
            if rank is not None:
                left += [(depth + 1, part) for part in reversed(self.merges[rank][:2])]
        return nodes


def spelling(token: bytes) -> dict[str, str | None]:
    """A token's bytes in hexadecimal, and its text, `None` if it is none.

    >>> spelling("é".encode()), spelling(b"\\xc3")
    ({'bytes': 'c3a9', 'text': 'é'}, {'bytes': 'c3', 'text': None})
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return {"bytes": token.hex(), "text": None}
    return {"bytes": token.hex(), "text": text}
