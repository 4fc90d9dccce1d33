"""`SyllabaryTokenizer`: the class of `transformers`, with our engine under it.

Adds what is ours: the engine, made when it is first needed and anew when the tokenizer was changed; encoding
and decoding. All else is inherited: roles, chat templates, saving, loading, padding. Leaves out: the ways of
encoding (`encode`).
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from syllabary.compat.transformers.asked import Asked, checked
from syllabary.compat.transformers.backend import AddedToken, TokenizersBackend, logging
from syllabary.compat.transformers.encode import encoded
from syllabary.compat.transformers.given import SETTLED, follow
from syllabary.compat.transformers.inputs import read
from syllabary.compat.transformers.saving import name_class, save_whole
from syllabary.compat.transformers.state import Made, make, state
from syllabary.errors import UnknownSymbolError, UnknownTokenError
from syllabary.formats.strict_json import parse
from syllabary.formats.transformers_language import KEPT, language_class
from syllabary.tokenizer import Tokenizer

FIELDS = frozenset(Asked._fields)
NONE = {"padding_strategy": "do_not_pad", "truncation_strategy": "do_not_truncate"}
AS_WRITTEN = "finds_added_tokens_as_written"  # setting: in no normalized text, where a mark is put in front
logger = logging.get_logger(__name__)


class Engine:
    """The engine of a tokenizer, and whether the tokenizer may have been changed since it was made.

    Pickled as nothing, and made again: what was encoded changes no hash. `datasets` pickles the attributes
    of a tokenizer by themselves, without asking its `__getstate__`.
    """

    def __init__(self) -> None:
        self.made: Made | None = None
        self.handed_out = False  # whether somebody else holds a part of the tokenizer
        self.touched = False  # whether tokens were added
        self.into: str | None = None  # the language of targets, where the first of them had to settle it
        self.thread = threading.local()  # `mark`: the language that a thread switched to, where it did

    def __reduce__(self) -> tuple[type[Engine], tuple[()]]:
        """A new one."""
        return Engine, ()


class SyllabaryTokenizer(TokenizersBackend):  # type: ignore[misc]  # its types are not looked at
    """A tokenizer of `transformers` whose texts go through our engine. Made by `tok.as_transformers()`.

    `SyllabaryTokenizer.from_pretrained(folder_or_name)` opens what `AutoTokenizer` opens, and
    `save_pretrained` writes what it opens. Ids, masks and offsets are those of `PreTrainedTokenizerFast`;
    special tokens in text become their ids. A character without a token, where there is no unknown one
    (byte-pair encoding alone), is dropped as there; other models raise `UnknownSymbolError`.

    `add_tokens`, and changes to `backend_tokenizer` and its parts, are seen at the next call; a `model` put
    in place of one of the same size is not.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held.handed_out = False

    @classmethod
    def convert_to_native_format(cls, trust_remote_code: bool = False, **kwargs: Any) -> dict[str, Any]:
        """What `__init__` is given: the file as it is, as if it were inherited (no code is run)."""
        found: dict[str, Any] = super().convert_to_native_format(trust_remote_code=True, **kwargs)
        return found

    @classmethod
    def _from_pretrained(cls, files: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Of a class that marks the language of text, a `TranslationTokenizer`."""
        kind, path, settled = cls, files.get("tokenizer_config_file"), kwargs.pop(SETTLED, False)
        members = {} if path is None else parse(Path(path).read_bytes(), Path(path)).object()
        if cls is SyllabaryTokenizer and (found := language_class(members)) is not None:
            kind = import_module("syllabary.compat.transformers.translation").TranslationTokenizer
            kwargs[KEPT] = found[0]
        made = super(SyllabaryTokenizer, kind)._from_pretrained(files, *args, **kwargs)
        if not settled:
            follow(made.__dict__["_theirs"], members, kwargs)
            made._held.made = None
        return made

    # ---- the engine ----

    @property
    def _held(self) -> Engine:
        held: Engine = self.__dict__.setdefault("_own", Engine())
        return held

    @property
    def _tokenizer(self) -> Any:
        """The vocabulary and the settings, as `tokenizers` holds them; who asks may change them."""
        self._held.handed_out = True
        return self.__dict__.get("_theirs")

    @_tokenizer.setter
    def _tokenizer(self, theirs: Any) -> None:
        self.__dict__["_theirs"] = theirs
        self._held.made = None

    @property
    def syllabary(self) -> Tokenizer:
        """Our tokenizer, as this one stands now."""
        return self._engine().tok

    def _engine(self) -> Made:
        held, theirs = self._held, self.__dict__["_theirs"]
        made, touched, held.touched = held.made, held.touched, False
        changed = touched or held.handed_out  # perhaps
        if made is None or (changed and made.state != state(theirs)):
            made = held.made = make(theirs, made)
        return made

    def _add_tokens(self, new_tokens: list[Any], special_tokens: bool = False) -> int:
        """Add tokens; the next call looks whether any was new."""
        theirs = self.__dict__["_theirs"]
        if self.init_kwargs.get(AS_WRITTEN) and not special_tokens:
            new_tokens = [_as_written(token) for token in new_tokens]
        try:
            return int((theirs.add_special_tokens if special_tokens else theirs.add_tokens)(new_tokens))
        finally:
            self._held.touched = True

    def __getstate__(self) -> dict[str, Any]:
        """With a new engine, of which a copy changes nothing; and as if nobody had been warned."""
        return {**self.__dict__, "_own": Engine(), "deprecation_warnings": {}}

    # ---- text -> ids ----

    def _encode_plus(self, text: Any, text_pair: Any = None, **asked: Any) -> Any:
        if asked.get("sanitize_control_tokens"):
            return super()._encode_plus(text, text_pair, **asked)
        texts = read(text, text_pair, bool(asked.get("is_split_into_words")))
        made = self._engine()
        if made.draws:
            return self._inherited(text, text_pair, asked)
        try:
            found = encoded(made, texts, self._asked(asked))
        except UnknownSymbolError:
            return self._dropping(text, text_pair, asked)
        if asked.get("max_length") is None and asked.get("verbose", True):
            longest = found["input_ids"]
            if texts.batched or asked.get("return_tensors") is not None:
                longest = longest[0] if hasattr(longest, "shape") else max(longest, key=len, default=[])
            self._eventual_warn_about_too_long_sequence(longest, None, True)
        return found

    def _dropping(self, text: Any, text_pair: Any, asked: dict[str, Any]) -> Any:
        """What the inherited way gives where a character has no token: in byte-pair encoding it is dropped.

        Called while our error is at hand, which other models raise.
        """
        if type(self.__dict__["_theirs"].model).__name__ != "BPE":
            raise
        return self._inherited(text, text_pair, asked)

    def _inherited(self, text: Any, text_pair: Any, asked: dict[str, Any]) -> Any:
        """What the inherited way gives; their object is left as it was."""
        theirs = self.__dict__["_theirs"]
        padding, truncation = theirs.padding, theirs.truncation
        try:
            return super()._encode_plus(text, text_pair, **asked)
        finally:
            theirs.no_padding() if padding is None else theirs.enable_padding(**padding)
            theirs.no_truncation() if truncation is None else theirs.enable_truncation(**truncation)

    def _asked(self, asked: dict[str, Any]) -> Asked:
        """The options of a call, with this tokenizer's own where none is given."""
        given = {key: value for key, value in asked.items() if key in FIELDS and value is not None}
        given.setdefault("padding_side", self.padding_side)
        given.setdefault("split_special_tokens", self.split_special_tokens)
        given.setdefault("return_token_type_ids", "token_type_ids" in self.model_input_names)
        given.setdefault("return_attention_mask", "attention_mask" in self.model_input_names)
        for name, none in NONE.items():
            given[name] = str(getattr(one := given.get(name, none), "value", one))
        if given["padding_strategy"] != "do_not_pad":
            given |= {"pad_id": self.pad_token_id, "pad_token": self.pad_token}
            given["pad_type_id"] = self.pad_token_type_id
        return checked(Asked(truncation_side=self.truncation_side, **given))

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """The tokens as the vocabulary spells them; Unigram's unknown one as the text that it stands for."""
        found = self._encode_plus(text, pair, add_special_tokens=add_special_tokens, **kwargs)
        return list(found.tokens())

    def _switch_to_target_mode(self) -> None:
        """Before `text_target` is encoded: `ValueError` where that is of another language than the text."""
        source, target = (self.init_kwargs.get(name) for name in ("src_lang", "tgt_lang"))
        if target is not None and target != source:
            raise ValueError(
                f"text_target: it would be marked as the text is, not with tgt_lang={target!r}: give targets "
                f"to a tokenizer of their own, as_transformers(src_lang={target!r}, tgt_lang={target!r})"
            )

    # ---- ids -> text ----

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        made = self._engine()
        ids = token_ids["input_ids"] if isinstance(token_ids, dict) else token_ids
        ids = [ids] if isinstance(ids, int) else list(ids)
        if skip_special_tokens:
            ids = [one for one in ids if one not in made.special]
        try:
            text = made.tok.decode(ids)
        except UnknownTokenError:  # theirs passes over an id that no token has, but for one below 0
            if any(one < 0 for one in ids):
                raise
            text = made.tok.decode([one for one in ids if one in made.known])
        clean = clean_up_tokenization_spaces
        return (
            self._cleaned(text) if (self.clean_up_tokenization_spaces if clean is None else clean) else text
        )

    def _cleaned(self, text: str) -> str:
        """Without spaces in front of punctuation; with byte-pair encoding only if that is insisted on."""
        insists = self.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
        if type(self.__dict__["_theirs"].model).__name__ == "BPE" and not insists:
            logger.warning_once("clean_up_tokenization_spaces=True is for WordPiece, and does nothing here.")
            return text
        cleaned: str = self.clean_up_tokenization(text)
        return cleaned

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of tokens as the vocabulary spells them."""
        decoder = self.__dict__["_theirs"].decoder
        return " ".join(tokens) if decoder is None else str(decoder.decode(tokens))

    # ---- the vocabulary: as inherited, but asked for without handing it out ----

    @property
    def vocab_size(self) -> int:
        """The number of tokens without those added."""
        return int(self.__dict__["_theirs"].get_vocab_size(with_added_tokens=False))

    def __len__(self) -> int:
        return int(self.__dict__["_theirs"].get_vocab_size(with_added_tokens=True))

    def get_vocab(self) -> dict[str, int]:
        """Token -> id of all of them."""
        return dict(self.__dict__["_theirs"].get_vocab(with_added_tokens=True))

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        """Id -> added token."""
        return dict(self.__dict__["_theirs"].get_added_tokens_decoder())

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many tokens are put around a text, or a pair."""
        return int(self.__dict__["_theirs"].num_special_tokens_to_add(pair))

    def _convert_token_to_id_with_added_voc(self, token: str) -> int | None:
        found: int | None = self.__dict__["_theirs"].token_to_id(token)
        return self.unk_token_id if found is None else found

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The spelling of an id, or of each of many."""
        spelling = self.__dict__["_theirs"].id_to_token
        if isinstance(ids, int):
            return spelling(ids)
        left_out = set(self.all_special_ids) if skip_special_tokens else ()
        return [spelling(int(one)) for one in ids if one not in left_out]

    # ---- files ----

    def save_pretrained(self, save_directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> Any:
        """Write the folder; the class that it names is the one that `AutoTokenizer` knows.

        A file that is there is replaced by a whole one, or stays as it was. Raises `OSError` with the path.
        """
        if kwargs.get("push_to_hub"):  # where it is called as the folder, which it is not written into yet
            kwargs.setdefault("repo_id", Path(save_directory).name)
        save = super().save_pretrained
        return save_whole(save_directory, lambda folder: save(folder, *args, **kwargs))

    def _save_pretrained(self, *args: Any, **kwargs: Any) -> Any:
        """As theirs, which uploads what is there then: the class is named before."""
        files = super()._save_pretrained(*args, **kwargs)
        name_class(files)
        return files


def _as_written(token: Any) -> Any:
    """An added token that is found in the text as it stands, within words too."""
    made = AddedToken(token) if isinstance(token, str) else token
    if made.special or not made.normalized:
        return token
    flags = {name: getattr(made, name) for name in ("single_word", "lstrip", "rstrip")}
    return AddedToken(made.content, normalized=False, **flags)
