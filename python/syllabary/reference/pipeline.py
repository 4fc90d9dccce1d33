"""Everything before the first merge: text -> special tokens and runs -> normalized -> cut -> symbols.

Adds `Pipeline`, the stages in their order. Leaves out: merging (`groups`), each stage (`added`, `special`,
`normalize`, `pretokenize`, `split`, `first_tokens`), the way back (`decode`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from syllabary.reference import normalize, pretokenize
from syllabary.reference.added import PLAIN, find
from syllabary.reference.aligned import Aligned, Span
from syllabary.reference.first_tokens import FirstTokens, Source
from syllabary.reference.groups import Fixed, Group, Ranked, Scored, State, Token
from syllabary.reference.merge import Rule
from syllabary.reference.models import Modelled, model_of
from syllabary.reference.scores import Scores
from syllabary.reference.special import Policy, allowed_names, cut_by_policy, refuse
from syllabary.reference.split import spans
from syllabary.reference.unknown import Unknown
from syllabary.reference.wordlevel import WordLevel
from syllabary.spec import TokenizerSpec


class Pipeline:
    """The stages of a tokenizer that come before merging."""

    def __init__(self, spec: TokenizerSpec, rule: Rule) -> None:
        """Prepare what the stages look up; raises what `normalize` does, for tokens of the later stages."""
        self.spec = spec
        self.rule = rule
        self.model = model_of(spec)
        self.scores: Scores | None = None
        if spec.scores is not None and self.model is None:
            self.scores = Scores(spec.tokens, spec.scores, spec.unused)
        self.first = FirstTokens(spec)
        self.whole: dict[bytes, int] = {}  # piece -> id, where a piece that is a token becomes it at once
        if spec.whole_pieces:
            for token_id in sorted(spec.tokens.keys() - spec.byte_tokens.keys(), reverse=True):
                self.whole[spec.tokens[token_id]] = token_id
            self.whole |= {
                symbol: token_id for symbol, token_id in spec.alphabet.items() if symbol in self.whole
            }
        self.named = {**spec.special_tokens, **spec.added_tokens}
        self.later = later_names(spec, self.named)

    def groups(self, text: str, policy: Policy, unknown: Unknown) -> list[Group]:
        """Text -> what merges may join, in order; `unknown` is filled with symbols that have no token.

        `TextError` for a lone surrogate, `SpecialTokenError` as the policy says.
        """
        spec = self.spec
        source = Source(text, exact=not (spec.normalizer or spec.pretokenizer))
        groups: list[Group] = []
        for run in cut_by_policy(text, spec.special_tokens, spec.added_tokens, policy, spec.matching):
            aligned = Aligned.of(run.text, run.start)
            if run.token is not None:
                groups.append(Fixed(Token(run.token, source.places(aligned.spans)), run.text))
            else:
                parts = list(self.normalized(aligned, policy, source))
                groups += self.scored(parts, source, unknown) or self.ranked(parts, source, unknown)
        return groups

    def normalize(self, text: str, policy: Policy) -> str:
        """The text before it is cut into pieces: normalized, and special and added tokens as they were found.

        Errors as of `groups`.
        """
        spec, source, found = self.spec, Source(text, exact=False), list[str]()
        for run in cut_by_policy(text, spec.special_tokens, spec.added_tokens, policy, spec.matching):
            aligned = Aligned.of(run.text, run.start)
            parts = [run] if run.token is not None else self.normalized(aligned, policy, source)
            found += [part.text for part in parts]
        return "".join(found)

    def normalized(self, run: Aligned, policy: Policy, source: Source) -> Iterator[Aligned | Fixed]:
        """A run -> its normalized text, cut at the tokens that are looked for only there."""
        names = self.later
        allowed = allowed_names(policy, self.spec.special_tokens)
        if allowed is None:
            names = {text: name for text, name in names.items() if name not in self.spec.special_tokens}
        matching = self.spec.matching
        frozen = tuple(text for text, name in names.items() if matching[name].stage == "frozen")
        if self.spec.normalizer:
            run = normalize.apply(self.spec.normalizer, run, frozen)
        at = 0
        if self.spec.model in ("unigram", "wordlevel"):  # for which they are tokens as any other
            names = {text: name for text, name in names.items() if text not in frozen}
        for match in find(run.text, names, matching):
            if at < match.start:
                yield run.slice(at, match.start)
            found = run.slice(match.start, match.end)
            if allowed is not None and match.name in self.spec.special_tokens and match.name not in allowed:
                raise refuse(match.name, self.named[match.name], found.spans[0][0])
            yield Fixed(Token(self.named[match.name], source.places(found.spans)), found.text)
            at = match.end
        if at < len(run):
            yield run.slice(at, len(run))

    # ---- merging by rank ----

    def ranked(self, parts: list[Aligned | Fixed], source: Source, unknown: Unknown) -> list[Group]:
        """The pieces of a run: each a group of its own, but for the word unit all in one."""
        groups: list[Group] = []
        for part in parts:
            if isinstance(part, Fixed):
                groups.append(part)
            elif self.model is not None:
                whole = isinstance(self.model, WordLevel) and self.model.cuts
                for piece in self.cut(part) if whole else self.pieces(part):
                    places = source.places(piece.spans)
                    groups.append(Modelled(piece.text, places, self.model, unknown))
            elif self.spec.unit == "word":
                words = [self.first.symbols(piece, source, unknown) for piece in self.pieces(part)]
                groups.append(Ranked([symbol for word in words for symbol in word], self.rule))
            else:
                groups += [self.piece(piece, source, unknown) for piece in self.pieces(part)]
        return groups

    def pieces(self, part: Aligned) -> Iterator[Aligned]:
        """What the steps of cutting, then the split make of a text."""
        for cut in self.cut(part):
            for start, end in spans(cut.text, self.spec.split):
                yield cut.slice(start, end)

    def cut(self, part: Aligned) -> list[Aligned]:
        """What the steps of cutting make of a text."""
        return pretokenize.apply(self.spec.pretokenizer, [part]) if self.spec.pretokenizer else [part]

    def piece(self, piece: Aligned, source: Source, unknown: Unknown) -> Ranked:
        """A piece as symbols, and as the token that it may be at once."""
        whole = self.whole.get(piece.text.encode())
        if whole is None:
            return Ranked(self.first.symbols(piece, source, unknown), self.rule)
        places = source.places(piece.spans)
        if self.spec.unit == "byte":
            widths = [len(character.encode()) for character in piece.text]
            places = [each for pair in zip(widths, places, strict=True) for each in source.each_byte(*pair)]
        token = Token(whole, places)
        missing: Unknown = []
        found = self.first.symbols(piece, source, missing)
        return Ranked([token] if missing else found, self.rule, token)

    # ---- merging by score ----

    def scored(self, parts: list[Aligned | Fixed], source: Source, unknown: Unknown) -> list[Group]:
        """A run as one group, with a wall at each token and each cut; none if nothing is merged by score."""
        if self.scores is None:
            return []
        texts: list[bytes | None] = []
        places: list[Span] = []
        fixed: dict[int, Token] = {}
        for part in parts:
            if isinstance(part, Fixed):
                fixed[len(texts)] = part.token
                texts.append(None)
                places.append((0, 0))
                continue
            for piece in self.pieces(part):
                if texts and texts[-1] is not None:
                    texts.append(None)
                    places.append((0, 0))
                texts += [character.encode() for character in piece.text]
                places += source.places(piece.spans)

        def spell(text: bytes, spans: list[Span]) -> State:
            return self.first.in_bytes(text, spans, source)

        fuse = self.spec.unknown if self.spec.fuse_unknown else None
        return [Scored(texts, places, fixed, self.scores, spell, unknown, fuse)]


def later_names(spec: TokenizerSpec, named: Mapping[str, int]) -> dict[str, str]:
    """How the tokens that are looked for in normalized text are spelled there -> their names.

    One that normalizing leaves nothing of is never found; of two that become the same, the lower id is.
    """
    names: dict[str, str] = {}
    for name, _token_id in sorted(named.items(), key=lambda item: item[1]):
        stage = spec.matching.get(name, PLAIN).stage
        if stage == "normalized" and spec.normalizer:
            names.setdefault(normalize.apply(spec.normalizer, Aligned.of(name)).text, name)
        elif stage in ("normalized", "frozen"):
            names.setdefault(name, name)
    names.pop("", None)
    return names
