"""A text through all components, step by step in Python: the way of components that are Python code.

Adds `Pipeline`: added tokens, normalizer, pre-tokenizer, model, in the order of tokenizers 0.23.3, each
doing what our steps and engine do. It can all that the engine's way (`_tokenizer`) can, slower; what that
cannot, is done here: custom components, characters that are left out, `encode_special_tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._normalized import NormalizedString
from syllabary.compat.tokenizers._pretokenized import Part, PreTokenizedString, Token
from syllabary.reference.added import find
from syllabary.spec import Matching

if TYPE_CHECKING:
    from syllabary.compat.tokenizers._tokenizer import Tokenizer


class Pipeline:
    """The stages of a tokenizer as it is now, whatever is changed later."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Look up what the stages need."""
        normalizer, pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
        self.normalizer = None if normalizer is None else normalizer.frozen()
        self.pre_tokenizer = None if pre_tokenizer is None else pre_tokenizer.frozen()
        self.model = tokenizer.model.frozen()
        self.ids = dict(tokenizer._added.ids)
        self.plain: dict[str, str] = {}  # how a token is spelled in the text -> its name
        self.normalized: dict[str, str] = {}
        self.flags: dict[str, Matching] = {}
        for _number, token in tokenizer._added:
            if tokenizer.encode_special_tokens and token.content in tokenizer._added.special:
                continue
            name = token.content
            self.flags[name] = Matching("text", token.single_word, token.lstrip, token.rstrip)
            if not token.normalized:
                self.plain[name] = name
            else:
                spelled = name if self.normalizer is None else self.normalizer.normalize_str(name)
                self.normalized.setdefault(spelled, name)
        self.normalized.pop("", None)

    def words(self, text: str) -> PreTokenizedString:
        """A text, normalized and cut; added tokens are tokens already."""
        pretok = PreTokenizedString(text)
        self._cut(pretok, self.plain)
        if self.normalizer is not None:
            for part, tokens in pretok._parts:
                if tokens is None:
                    self.normalizer.normalize(part)
        self._cut(pretok, self.normalized)
        if self.pre_tokenizer is not None:
            self.pre_tokenizer.pre_tokenize(pretok)
        return pretok

    def encode(self, text: str | list[str], type_id: int) -> Encoding:
        """A text, or its words, as it is before truncation and post-processing."""
        if isinstance(text, str):
            return self._tokens(text).to_encoding(type_id)
        parts = [self._tokens(word).to_encoding(type_id, index) for index, word in enumerate(text)]
        return Encoding.merge(parts, growing_offsets=False)

    def _tokens(self, text: str) -> PreTokenizedString:
        pretok = self.words(text)
        pretok.tokenize(self.model.tokenize)
        return pretok

    def _cut(self, pretok: PreTokenizedString, names: Mapping[str, str]) -> None:
        """Cut the added tokens out."""

        def cut(_index: int, part: NormalizedString) -> Iterable[Part]:
            at, text = 0, part.normalized
            for match in find(text, names, self.flags):
                if at < match.start:
                    yield part._part(at, match.start), None
                found = text[match.start : match.end]
                token = Token(self.ids[match.name], found, (0, len(found.encode())))
                yield part._part(match.start, match.end), [token]
                at = match.end
            if at < len(text):
                yield part._part(at, len(text)), None

        pretok._replace(cut)  # without names too: parts that are empty now are left out
