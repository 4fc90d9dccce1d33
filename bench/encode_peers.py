"""How each library is loaded and called in `bench/encode_lane.py`: its fastest documented way for each task.

A lane has `load` (timed by the task `load`), then `array`, `lists`, `decode` and so on as far as the library
has them; `documents` gives the ids of a result document by document, after the clock has stopped.
fastokens and tokenizers take a rank file as a tokenizer.json. Leaves out: clocks, memory, digests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]
RC3 = "tokenizers 1.0.0rc3"


class Source(NamedTuple):
    """A vocabulary: its name, the published file, the tokenizer.json made from it.

    pattern: split by this instead (rank files only). peers: the folder of `tokenizers-rc3`.
    """

    name: str
    published: str
    json: str
    peers: str
    pattern: str | None = None

    @property
    def is_model(self) -> bool:
        """Whether it is a sentencepiece model."""
        return self.published.endswith(".model")


class Lane:
    """A library; what it cannot do raises `AttributeError`.

    one: expressions that encode one `text` with the function `call`, by what comes out.
    """

    one: dict[str, str] = {}  # noqa: RUF012
    array_call = ""  # the method of the library that `array` is in these expressions
    tok: Any

    def __init__(self, source: Source, threads: int = 1) -> None:
        self.source, self.threads = source, threads

    def load(self) -> None:
        """From the file, so that it can encode."""
        raise NotImplementedError

    def array(self, texts: list[str]) -> Any:
        """The ids of every text, in arrays."""
        raise AttributeError

    def lists(self, texts: list[str]) -> list[list[int]]:
        """The ids of every text, in lists."""
        raise AttributeError

    def call(self) -> Callable[..., Any]:
        """What the expressions in `one` call."""
        encode: Callable[..., Any] = self.tok.encode
        return encode

    def documents(self, result: Any) -> Iterator[Ids]:
        """The ids of each text in a result of `array` or `lists`."""
        return (np.asarray(ids, np.uint32) for ids in result)


class Syllabary(Lane):
    """Ours."""

    one = {"list": "call(text, special='text')", "array": "array(text, special='text')"}  # noqa: RUF012
    array_call = "encode_array"

    def __init__(self, source: Source, threads: int = 1) -> None:
        import syllabary

        super().__init__(source, threads)
        # A name is imported when it is asked for, and what it needs: the others' modules are whole by now.
        self.load_published = syllabary.load

    def load(self) -> None:
        """A rank file's name says the split."""
        options: dict[str, Any] = {"split": self.source.pattern} if self.source.pattern else {}
        self.tok = self.load_published(self.source.published, **options)

    def array(self, texts: list[str]) -> Any:
        """One array."""
        return self.tok.encode_batch_array(texts, special="text", threads=self.threads)

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        found: list[list[int]] = self.tok.encode_batch(texts, special="text", threads=self.threads)
        return found

    def single(self, texts: list[str]) -> Any:
        """One array a text, a call each."""
        return [self.tok.encode_array(text, special="text") for text in texts]

    def count(self, texts: list[str]) -> Any:
        """How many ids each text has, a call each."""
        return [self.tok.count(text, special="text") for text in texts]

    def count_batch(self, texts: list[str]) -> Any:
        """The same in one call."""
        return self.tok.count_batch(texts, special="text", threads=self.threads)

    def decode(self, ids: Any) -> str:
        """To str."""
        text: str = self.tok.decode(ids)
        return text

    def decode_bytes(self, ids: Any) -> bytes:
        """To bytes."""
        data: bytes = self.tok.decode_bytes(ids)
        return data


class SyllabaryListed(Syllabary):
    """Ours from the tokenizer.json, whose merges are a list."""

    def load(self) -> None:
        """The file that fastokens and tokenizers read."""
        self.tok = self.load_published(self.source.json)


class Gigatoken(Lane):
    """To an awkward array; on the calling thread, unless there are more."""

    one = {"list": "call(text).tolist()", "array": "call(text)"}  # noqa: RUF012

    def __init__(self, source: Source, threads: int = 1) -> None:
        import awkward
        import gigatoken

        super().__init__(source, threads)
        self.awkward, self.kind = awkward, gigatoken.Tokenizer

    def load(self) -> None:
        """It knows the patterns of OpenAI's files by their names."""
        reading = self.kind.from_sentencepiece if self.source.is_model else self.kind.from_tiktoken
        self.tok = reading(self.source.published)

    def array(self, texts: list[str]) -> Any:
        """An awkward array."""
        return self.tok.encode_batch(texts, parallel=self.threads > 1)

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        found: list[list[int]] = self.tok.encode_batch_list(texts, parallel=self.threads > 1)
        return found

    def call(self) -> Callable[..., Any]:
        """Without the Python method between."""
        encode: Callable[..., Any] = self.tok.backend.encode
        return encode

    def documents(self, result: Any) -> Iterator[Ids]:
        """Views."""
        if isinstance(result, self.awkward.Array):
            ids, ends = np.asarray(result.layout.content.data), np.asarray(result.layout.offsets.data)
            return (ids[ends[at] : ends[at + 1]] for at in range(len(ends) - 1))
        return super().documents(result)

    def decode(self, ids: Any) -> str:
        """It gives bytes."""
        data: bytes = self.tok.backend.decode(ids)
        return data.decode("utf-8", "replace")

    def decode_bytes(self, ids: Any) -> bytes:
        """To bytes."""
        data: bytes = self.tok.backend.decode(ids)
        return data


class Fastokens(Lane):
    """To one buffer. Its presets for cl100k and o200k have fast splits; a pattern of one's own has none."""

    one = {  # noqa: RUF012
        "list": "call(text, False, True).ids",
        "array": "array([text], False, True)",
    }
    array_call = "encode_batch_flat"

    def __init__(self, source: Source, threads: int = 1) -> None:
        import fastokens

        super().__init__(source, threads)
        self.kind = fastokens.Tokenizer

    def load(self) -> None:
        """r50k has no preset: its tokenizer.json is recognised."""
        source = self.source
        if source.pattern:
            self.tok = self.kind.from_tiktoken(source.published, pattern=source.pattern)
        elif source.name in ("cl100k", "o200k"):
            self.tok = self.kind.from_tiktoken(source.published, encoding=f"{source.name}_base")
        else:
            self.tok = self.kind.from_file(source.json)

    def array(self, texts: list[str]) -> Any:
        """Ids and offsets in bytes."""
        return self.tok.encode_batch_flat(texts, False, True)

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        return [one.ids for one in self.tok.encode_batch(texts, False, True)]

    def documents(self, result: Any) -> Iterator[Ids]:
        """Views."""
        if isinstance(result, tuple):
            ids, ends = np.frombuffer(result[0], np.uint32), np.frombuffer(result[1], np.uint64)
            return (ids[ends[at] : ends[at + 1]] for at in range(len(ends) - 1))
        return super().documents(result)

    def decode(self, ids: Any) -> str:
        """To str."""
        text: str = self.tok.decode(ids, False)
        return text


class Pipeline(Lane):
    """tokenizers 1.0.0rc3, from a folder of its own."""

    one = {  # noqa: RUF012
        "list": "call(text, add_special_tokens=False, encode_special_tokens=True).ids",
        "array": "call(text, add_special_tokens=False, encode_special_tokens=True).ids_array",
    }

    def __init__(self, source: Source, threads: int = 1) -> None:
        super().__init__(source, threads)
        sys.path.insert(0, str(Path(source.peers, "tokenizers-rc3")))
        import tokenizers

        if not tokenizers.__version__.startswith("1.0.0"):
            raise RuntimeError(
                f"{RC3} is wanted, {tokenizers.__version__} was found in {tokenizers.__file__}"
            )
        self.kind: Any = tokenizers.Tokenizer

    def load(self) -> None:
        """It reads tokenizer.json only."""
        self.tok = self.kind.from_file(self.source.json)

    def array(self, texts: list[str]) -> Any:
        """A numpy array each."""
        encode = self.tok.encode
        if self.threads > 1:
            found = self.tok.encode_batch(texts, add_special_tokens=False, encode_special_tokens=True)
            return [one.ids_array for one in found]
        return [
            encode(text, add_special_tokens=False, encode_special_tokens=True).ids_array for text in texts
        ]

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        encode = self.tok.encode
        return [encode(text, add_special_tokens=False, encode_special_tokens=True).ids for text in texts]

    def decode(self, ids: Any) -> str:
        """To str."""
        text: str = self.tok.decode(ids, skip_special_tokens=False)
        return text


class Tokenizers(Lane):
    """Hugging Face's released library: lists only."""

    one = {"list": "call(text, add_special_tokens=False).ids"}  # noqa: RUF012

    def __init__(self, source: Source, threads: int = 1) -> None:
        import tokenizers

        super().__init__(source, threads)
        self.kind = tokenizers.Tokenizer

    def load(self) -> None:
        """It reads tokenizer.json only."""
        self.tok = self.kind.from_file(self.source.json)
        self.tok.encode_special_tokens = True

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        return [one.ids for one in self.tok.encode_batch_fast(texts, add_special_tokens=False)]

    def array(self, texts: list[str]) -> Any:
        """It has lists."""
        return self.lists(texts)

    def decode(self, ids: Any) -> str:
        """To str."""
        text: str = self.tok.decode(ids, skip_special_tokens=False)
        return text


class Tiktoken(Lane):
    """OpenAI's, with its own patterns and the published file."""

    one = {"list": "call(text)", "array": "array(text, disallowed_special=())"}  # noqa: RUF012
    array_call = "encode_to_numpy"

    def __init__(self, source: Source, threads: int = 1) -> None:
        import tiktoken
        import tiktoken.load
        import tiktoken_ext.openai_public

        super().__init__(source, threads)
        os.environ["TIKTOKEN_CACHE_DIR"] = ""  # read the file; keep no copy
        self.module, self.public = tiktoken, tiktoken_ext.openai_public

    def load(self) -> None:
        """As `tiktoken.get_encoding`, but from the file given."""
        read = self.module.load.load_tiktoken_bpe
        published = self.source.published
        if self.source.pattern:
            ranks = read(published)
            self.tok = self.module.Encoding(
                "pattern", pat_str=self.source.pattern, mergeable_ranks=ranks, special_tokens={}
            )
            return
        theirs = self.public.load_tiktoken_bpe
        self.public.load_tiktoken_bpe = lambda *_url, **_hash: read(published)
        try:
            made = self.public.ENCODING_CONSTRUCTORS[f"{self.source.name}_base"]()
        finally:
            self.public.load_tiktoken_bpe = theirs
        self.tok = self.module.Encoding(**made)

    def array(self, texts: list[str]) -> Any:
        """A numpy array each."""
        return [self.tok.encode_to_numpy(text, disallowed_special=()) for text in texts]

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        found: list[list[int]] = self.tok.encode_ordinary_batch(texts, num_threads=self.threads)
        return found

    def call(self) -> Callable[..., Any]:
        """Without a search for special tokens."""
        encode: Callable[..., Any] = self.tok.encode_ordinary
        return encode

    def decode(self, ids: Any) -> str:
        """To str."""
        text: str = self.tok.decode(ids)
        return text

    def decode_bytes(self, ids: Any) -> bytes:
        """To bytes."""
        data: bytes = self.tok.decode_bytes(ids)
        return data


class SentencePiece(Lane):
    """Google's."""

    one = {"list": "call(text)"}  # noqa: RUF012

    def __init__(self, source: Source, threads: int = 1) -> None:
        import sentencepiece

        super().__init__(source, threads)
        self.kind = sentencepiece.SentencePieceProcessor

    def load(self) -> None:
        """Its own file."""
        self.tok = self.kind(model_file=self.source.published)

    def array(self, texts: Sequence[str]) -> Any:
        """A numpy array each."""
        return self.tok.encode_as_numpy(texts)

    def lists(self, texts: list[str]) -> list[list[int]]:
        """Lists."""
        found: list[list[int]] = self.tok.encode(texts, out_type=int, num_threads=self.threads)
        return found

    def decode(self, ids: Any) -> str:
        """To str."""
        text: str = self.tok.decode(ids)
        return text


LANES: dict[str, type[Lane]] = {
    "syllabary": Syllabary,
    "syllabary, tokenizer.json": SyllabaryListed,
    "gigatoken": Gigatoken,
    "fastokens": Fastokens,
    RC3: Pipeline,
    "tiktoken": Tiktoken,
    "tokenizers": Tokenizers,
    "sentencepiece": SentencePiece,
}
