"""`Tokenizer`: tokenizers' class, run by our engine.

Adds components that can be exchanged and changed, added tokens, truncation and padding, files and pickling.
Leaves out: encoding and decoding (`_encode`), training (`_train`), the components.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syllabary.compat.tokenizers import _component as part
from syllabary.compat.tokenizers._added import AddedToken, AddedTokens, read_tokens
from syllabary.compat.tokenizers._component import Component, from_json
from syllabary.compat.tokenizers._encode import Encoder
from syllabary.compat.tokenizers._json import dumps, pickled
from syllabary.compat.tokenizers._shown import Record, Word, show
from syllabary.compat.tokenizers._train import Training
from syllabary.compat.tokenizers.decoders import Decoder
from syllabary.compat.tokenizers.models import ListedMerges, Model
from syllabary.compat.tokenizers.normalizers import Normalizer
from syllabary.compat.tokenizers.pre_tokenizers import PreTokenizer
from syllabary.compat.tokenizers.processors import PostProcessor
from syllabary.errors import FormatError, SyllabaryError
from syllabary.files import read_bounded, write_atomic
from syllabary.formats.hf_extras import check_extras
from syllabary.formats.hf_floats import read_float
from syllabary.formats.hf_listed import read_listed
from syllabary.formats.hf_read import TOP_KEYS, read_document
from syllabary.formats.strict_json import parse

WHERE = Path("tokenizer.json")
PLACES: dict[str, type[Component]] = {
    "normalizer": Normalizer, "pre_tokenizer": PreTokenizer, "post_processor": PostProcessor,
    "decoder": Decoder,
}  # fmt: skip
STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
SIDES = {"left": "Left", "right": "Right"}


class Tokenizer(Encoder, Training):
    """A model with components around it: normalizer, pre-tokenizer, post-processor, decoder.

    All of them may be exchanged, and changed in place, at any time.

    >>> from syllabary.compat.tokenizers import Tokenizer, models
    >>> tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    >>> tokenizer.encode("abb").tokens
    ['ab', 'b']
    """

    def __init__(self, model: Model) -> None:
        """Of a model alone."""
        self._parts: dict[str, Any] = dict.fromkeys(PLACES)
        self._parts["model"] = part.checked(model, Model)
        self._added = AddedTokens()
        self._truncation: dict[str, Any] | None = None
        self._padding: dict[str, Any] | None = None
        self._hides_special = False
        self._known = None

    # ---- from and to files ----

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """From the content of a `tokenizer.json`."""
        return Tokenizer._parsed(part.text(json).encode("utf-8", "surrogatepass"), WHERE)

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """The same from bytes; `ValueError`."""
        part.instance(buffer, bytes, bytearray, memoryview)
        try:
            return Tokenizer._parsed(bytes(buffer), WHERE)
        except ValueError as error:
            raise ValueError(f"Cannot instantiate Tokenizer from buffer: {error}") from error

    @staticmethod
    def from_file(path: str) -> Tokenizer:
        """From a `tokenizer.json`; `OSError`, or `FormatError` that says where it is damaged."""
        return Tokenizer._parsed(read_bounded(Path(path)), Path(path))

    @staticmethod
    def from_pretrained(identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """From a repository of the Hugging Face Hub, or its cache on this machine, by `huggingface_hub`."""
        from huggingface_hub import hf_hub_download

        from syllabary.encodings.cache import offline

        path = hf_hub_download(
            identifier, "tokenizer.json", revision=revision, token=token, local_files_only=bool(offline())
        )
        return Tokenizer.from_file(path)

    @staticmethod
    def _parsed(data: bytes, path: Path) -> Tokenizer:
        listed = read_listed(data, path)
        root = parse(data, path, read_float) if listed is None else listed
        root.object(TOP_KEYS)
        check_extras(root)
        made = Tokenizer.__new__(Tokenizer)
        document = {key: value.value for key, value in root.object().items()}
        model = root.member("model").value
        if listed is not None and isinstance(model, dict) and "merges" in model:
            model["merges"] = ListedMerges(model["vocab"])
        try:
            made._load(document, model)
            made._check()
        except SyllabaryError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            read_document(parse(data, path, read_float))  # says where it is, as of any damaged file
            raise FormatError(f"{path.name}: no tokenizer that the library writes: {error!r}") from error
        return made

    def _load(self, document: Mapping[str, Any], model: Any) -> None:
        Tokenizer.__init__(self, from_json(Model, model))
        for place, cls in PLACES.items():
            if document.get(place) is not None:
                self._parts[place] = from_json(cls, document[place])
        self._truncation = document.get("truncation")
        self._padding = document.get("padding")
        if self._truncation is not None:
            self._truncation = {"direction": "Right", **self._truncation}
        tokens = []
        for one in document.get("added_tokens") or ():
            told = {key: value for key, value in one.items() if key not in ("id", "content")}
            tokens.append(AddedToken(one["content"], **told))
        self._added.add(tokens, self.model)

    def _document(self, model: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The content of `tokenizer.json`, the model by its own description or by this."""
        return {
            "version": "1.0",
            **self._frame(),
            "added_tokens": self._added.json(),
            **{place: None if self._parts[place] is None else self._parts[place].json() for place in PLACES},
            "model": self.model.json() if model is None else model,
        }

    def _frame(self) -> dict[str, Any]:
        """Of that, what does not change the tokenizer itself."""
        truncation, padding = self._truncation, self._padding
        return {
            "truncation": truncation and {key: truncation[key] for key in TRUNCATION},
            "padding": padding and {key: padding.get(key) for key in PADDING},
        }

    def to_str(self, pretty: bool = False) -> str:
        """The content of its `tokenizer.json`."""
        return dumps(self._document(), part.flag(pretty))

    def save(self, path: str, pretty: bool = True) -> None:
        """Write `tokenizer.json`, whole or not at all."""
        write_atomic(Path(path), self.to_str(pretty).encode("utf-8"))

    def __getstate__(self) -> bytes:
        """As its file."""
        return pickled("Tokenizer", self._document)

    def __setstate__(self, state: bytes) -> None:
        """From its file."""
        document = json.loads(state, parse_float=read_float)
        self._load(document, document["model"])

    def __repr__(self) -> str:
        """All of it."""
        return show(self._record(), short=False)

    def __str__(self) -> str:
        """All of it, lists shortened."""
        return show(self._record(), short=True)

    def _record(self) -> Record:
        found = self._document()
        shown: dict[str, object] = {**found, "model": self.model.record()}
        for place in PLACES:
            if self._parts[place] is not None:
                shown[place] = self._parts[place].record()
        if found["truncation"]:
            told = {**found["truncation"]}
            for key in ("direction", "strategy"):
                told[key] = Word(told[key])
            shown["truncation"] = Record("TruncationParams", told)
        if found["padding"]:
            told = {**found["padding"], "direction": Word(found["padding"]["direction"])}
            fixed = isinstance(told["strategy"], dict)
            told["strategy"] = Word("Fixed", told["strategy"]["Fixed"]) if fixed else Word(told["strategy"])
            shown["padding"] = Record("PaddingParams", told)
        return Record("Tokenizer", shown)

    # ---- components ----

    @property
    def model(self) -> Any:
        """The model."""
        return self._parts["model"]

    @model.setter
    def model(self, model: Model) -> None:
        """Another one."""
        self._parts["model"] = part.checked(model, Model)

    @property
    def normalizer(self) -> Any:
        """The normalizer, or `None`."""
        return self._parts["normalizer"]

    @normalizer.setter
    def normalizer(self, normalizer: Normalizer | None) -> None:
        """Another one."""
        self._parts["normalizer"] = None if normalizer is None else part.checked(normalizer, Normalizer)

    @property
    def pre_tokenizer(self) -> Any:
        """The pre-tokenizer, or `None`."""
        return self._parts["pre_tokenizer"]

    @pre_tokenizer.setter
    def pre_tokenizer(self, pretok: PreTokenizer | None) -> None:
        """Another one."""
        self._parts["pre_tokenizer"] = None if pretok is None else part.checked(pretok, PreTokenizer)

    @property
    def post_processor(self) -> Any:
        """The post-processor, or `None`."""
        return self._parts["post_processor"]

    @post_processor.setter
    def post_processor(self, processor: PostProcessor | None) -> None:
        """Another one."""
        self._parts["post_processor"] = None if processor is None else part.checked(processor, PostProcessor)

    @property
    def decoder(self) -> Any:
        """The decoder, or `None`."""
        return self._parts["decoder"]

    @decoder.setter
    def decoder(self, decoder: Decoder | None) -> None:
        """Another one."""
        self._parts["decoder"] = None if decoder is None else part.checked(decoder, Decoder)

    # ---- tokens ----

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens, found in text from now on; how many were not there before."""
        return self._added.add(read_tokens(tokens, special=False), self.model)

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add special tokens."""
        return self._added.add(read_tokens(tokens, special=True), self.model)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Id -> token of all that were added."""
        return {number: token._copy() for number, token in self._added}

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Token -> id."""
        return {**self.model._vocab(), **(self._added.ids if part.flag(with_added_tokens) else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """How many tokens there are."""
        size, named = int(self.model._size()), len(self.get_vocab(with_added_tokens=False))
        return size + len(self.get_vocab()) - named if part.flag(with_added_tokens) else size

    def token_to_id(self, token: str) -> int | None:
        """The id of a token."""
        ids: dict[str, int] = self._added.ids
        vocab: Mapping[str, int] = self._parts["model"]._vocab()
        found = ids.get(token, vocab.get(token)) if type(token) is str else None
        if found is None:
            token = part.text(token)  # raises for what can be no token
            found = ids.get(token, vocab.get(token))
        return found

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many tokens the post-processor adds."""
        processor, pair = self.post_processor, part.flag(is_pair)
        return 0 if processor is None else int(processor.num_special_tokens_to_add(pair))

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in text are ordinary text."""
        return self._hides_special

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._hides_special = part.flag(value)

    # ---- truncation and padding ----

    def enable_truncation(self, max_length: int, **kwargs: Any) -> None:
        """Cut encodings to a length. stride: 0. strategy: `"longest_first"`. direction: `"right"`."""
        told: dict[str, Any] = {"direction": "Right", "max_length": part.count(max_length)}
        told |= {"strategy": "LongestFirst", "stride": 0}
        for name, value in kwargs.items():
            if name == "stride":
                told[name] = part.count(value)
            elif name == "strategy":
                told[name] = _choice(
                    name, value, STRATEGIES, "`longest_first`, `only_first`, or `only_second`"
                )
            elif name == "direction":
                told[name] = _choice(name, value, SIDES, "`left` or `right`.")
            else:
                print(f"Ignored unknown kwarg option {name}")  # noqa: T201 (as theirs does)
        added = self.num_special_tokens_to_add(False)
        room = told["max_length"] - added
        if room < told["stride"]:
            raise ValueError(
                f"tokenizer stride set to {told['stride']}, which is greater than or equal to its effective "
                f"max length of {room} (= {told['max_length']} original max length - {added} added special "
                "tokens), "
            )
        self._truncation = told

    def no_truncation(self) -> None:
        """Cut nothing."""
        self._truncation = None

    @property
    def truncation(self) -> dict[str, Any] | None:
        """What `enable_truncation` was told."""
        told = self._truncation
        return told and {
            "max_length": told["max_length"],
            "stride": told["stride"],
            "strategy": next(name for name, file in STRATEGIES.items() if file == told["strategy"]),
            "direction": told["direction"].lower(),
        }

    def enable_padding(self, **kwargs: Any) -> None:
        """Fill encodings up: to `length`, or to the longest of a batch.

        direction: `"right"`. pad_id, pad_type_id: 0. pad_token: `"[PAD]"`. pad_to_multiple_of: `None`.
        """
        told: dict[str, Any] = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None}
        told |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
        for name, value in kwargs.items():
            if name == "direction":
                told[name] = _choice(name, value, SIDES, "`left` or `right`")
            elif name in ("length", "max_length"):
                told["strategy"] = "BatchLongest" if value is None else {"Fixed": part.count(value)}
            elif name == "pad_to_multiple_of":
                told[name] = None if value is None else part.count(value)
            elif name in ("pad_id", "pad_type_id"):
                told[name] = part.count(value)
            elif name == "pad_token":
                told[name] = part.text(value)
            else:
                print(f"Ignored unknown kwarg option {name}")  # noqa: T201 (as theirs does)
        self._padding = told

    def no_padding(self) -> None:
        """Fill nothing up."""
        self._padding = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """What `enable_padding` was told."""
        told = self._padding
        return told and {
            "length": told["strategy"]["Fixed"] if isinstance(told["strategy"], dict) else None,
            "pad_to_multiple_of": told.get("pad_to_multiple_of"),
            "pad_id": told["pad_id"],
            "pad_token": told["pad_token"],
            "pad_type_id": told["pad_type_id"],
            "direction": told["direction"].lower(),
        }


TRUNCATION = ("direction", "max_length", "strategy", "stride")
PADDING = ("strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")


def _choice(name: str, value: Any, known: Mapping[str, str], words: str) -> str:
    if part.text(value) not in known:
        raise ValueError(f"Unknown `{name}`: `{value}`. Use one of {words}")
    return known[value]
