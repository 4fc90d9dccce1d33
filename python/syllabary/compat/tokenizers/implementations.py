"""`tokenizers.implementations`: five tokenizers put together, each with its way of training.

Adds the classes of tokenizers 0.23.3, with their arguments. Leaves out: `from_spm`, as `syllabary.convert`
reads sentencepiece's files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from syllabary.compat.tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
from syllabary.compat.tokenizers._added import AddedToken
from syllabary.compat.tokenizers._encoding import Encoding
from syllabary.compat.tokenizers._regex import Regex
from syllabary.compat.tokenizers._tokenizer import Tokenizer

Name = str | AddedToken
COMPONENTS = ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder")


class BaseTokenizer:
    """A `Tokenizer` inside another class: what that has, this has."""

    def __init__(self, tokenizer: Tokenizer, parameters: dict[str, Any] | None = None) -> None:
        """parameters: what `repr` shows."""
        self._tokenizer = tokenizer
        self._parameters = {} if parameters is None else parameters

    def __repr__(self) -> str:
        """Size and parameters."""
        told = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {told})"

    def __getattr__(self, name: str) -> Any:
        """Everything that is not said here is the tokenizer's."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._tokenizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Components are the tokenizer's."""
        if name in COMPONENTS:
            setattr(self._tokenizer, name, value)
        else:
            object.__setattr__(self, name, value)

    def normalize(self, sequence: str) -> str:
        """What the normalizer makes of a text."""
        return str(self._tokenizer.normalizer.normalize_str(sequence))

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write the files of the model."""
        found: list[str] = self._tokenizer.model.save(directory, prefix=prefix)
        return found

    # ---- what the tokenizer has by other names, or not by place ----

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """The encoding of a text, or of a pair."""
        _given(sequence, "encode: `sequence` can't be `None`")
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self, inputs: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The encodings of texts and pairs."""
        _given(inputs, "encode_batch: `inputs` can't be `None`")
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self, inputs: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """`encode_batch` in a thread."""
        _given(inputs, "async_encode_batch: `inputs` can't be `None`")
        return await self._tokenizer.async_encode_batch(inputs, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self, inputs: Any, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """The same without offsets, tokens and word ids."""
        _given(inputs, "async_encode_batch_fast: `inputs` can't be `None`")
        return await self._tokenizer.async_encode_batch_fast(inputs, is_pretokenized, add_special_tokens)

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """The text of ids."""
        _given(ids, "None input is not valid. Should be a list of integers.")
        return self._tokenizer.decode(ids, skip_special_tokens)

    def enable_truncation(self, max_length: int, stride: int = 0, strategy: str = "longest_first") -> None:
        """Cut encodings to a length."""
        self._tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)

    def enable_padding(
        self,
        direction: str = "right",
        pad_to_multiple_of: int | None = None,
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
    ) -> None:
        """Fill encodings up."""
        self._tokenizer.enable_padding(
            direction=direction, pad_to_multiple_of=pad_to_multiple_of, pad_id=pad_id,
            pad_type_id=pad_type_id, pad_token=pad_token, length=length,
        )  # fmt: skip

    # ---- training ----

    _trainer: Any  # options -> the trainer of such a tokenizer

    def train(self, files: str | list[str], *args: Any, **options: Any) -> None:
        """Learn the model from files; options are the trainer's."""
        paths = [files] if isinstance(files, str) else files
        self._tokenizer.train(paths, trainer=self._trainer(*args, **options))

    def train_from_iterator(
        self, iterator: Iterable[Any], *args: Any, length: int | None = None, **options: Any
    ) -> None:
        """Learn the model from texts; options are the trainer's."""
        self._tokenizer.train_from_iterator(iterator, trainer=self._trainer(*args, **options), length=length)


def _sequence(parts: list[normalizers.Normalizer]) -> normalizers.Normalizer | None:
    """No normalizer, one, or several."""
    return normalizers.Sequence(parts) if len(parts) > 1 else parts[0] if parts else None


def _forms(unicode_normalizer: str | None) -> list[normalizers.Normalizer]:
    return [normalizers.unicode_normalizer_from_str(unicode_normalizer)] if unicode_normalizer else []


def _know(tokenizer: Tokenizer, *names: Name) -> None:
    """Make those of the names special that the vocabulary has."""
    for name in names:
        if tokenizer.token_to_id(str(name)) is not None:
            tokenizer.add_special_tokens([str(name)])


class BertWordPieceTokenizer(BaseTokenizer):
    """BERT's WordPiece."""

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        unk_token: Name = "[UNK]",
        sep_token: Name = "[SEP]",
        cls_token: Name = "[CLS]",
        pad_token: Name = "[PAD]",
        mask_token: Name = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        """From a vocabulary, or empty; `TypeError` for one without separator or class token."""
        parameters = {"model": "BertWordPiece", **{k: v for k, v in locals().items() if k[0] != "_"}}
        for name in ("self", "vocab"):
            parameters.pop(name)
        tokenizer = Tokenizer(models.WordPiece(vocab, unk_token=str(unk_token)))
        _know(tokenizer, unk_token, sep_token, cls_token, pad_token, mask_token)
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text, handle_chinese_chars, strip_accents, lowercase
        )
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        if vocab is not None:
            found = {name: tokenizer.token_to_id(str(name)) for name in (str(sep_token), str(cls_token))}
            for role, name in (("sep_token", str(sep_token)), ("cls_token", str(cls_token))):
                if found[name] is None:
                    raise TypeError(f"{role} not found in the vocabulary")
            tokenizer.post_processor = processors.BertProcessing(
                (str(sep_token), found[str(sep_token)]), (str(cls_token), found[str(cls_token)])
            )
        tokenizer.decoder = decoders.WordPiece(prefix=wordpieces_prefix)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab: str, **kwargs: Any) -> BertWordPieceTokenizer:
        """From `vocab.txt`."""
        return BertWordPieceTokenizer(models.WordPiece.read_file(vocab), **kwargs)

    def _trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        limit_alphabet: int = 1000,
        initial_alphabet: Iterable[str] = (),
        special_tokens: Iterable[Name] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        show_progress: bool = True,
        wordpieces_prefix: str = "##",
    ) -> trainers.Trainer:
        return trainers.WordPieceTrainer(
            vocab_size=vocab_size, min_frequency=min_frequency, limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet, special_tokens=_listed(special_tokens),
            show_progress=show_progress, continuing_subword_prefix=wordpieces_prefix,
        )  # fmt: skip


class ByteLevelBPETokenizer(BaseTokenizer):
    """GPT-2's BPE of bytes."""

    def __init__(
        self,
        vocab: Any = None,
        merges: Any = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        """From a vocabulary and merges, or empty."""
        parameters = {"model": "ByteLevelBPE", **{k: v for k, v in locals().items() if k[0] != "_"}}
        for name in ("self", "vocab", "merges"):
            parameters.pop(name)
        model = models.BPE()
        if vocab is not None and merges is not None:
            model = models.BPE(
                vocab, merges, dropout=dropout, continuing_subword_prefix=continuing_subword_prefix or "",
                end_of_word_suffix=end_of_word_suffix or "",
            )  # fmt: skip
        tokenizer = Tokenizer(model)
        lower = [normalizers.Lowercase()] if lowercase else []
        tokenizer.normalizer = _sequence([*_forms(unicode_normalizer), *lower])
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> ByteLevelBPETokenizer:
        """From `vocab.json` and `merges.txt`."""
        return ByteLevelBPETokenizer(*models.BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def _trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Iterable[Name] = (),
    ) -> trainers.Trainer:
        return trainers.BpeTrainer(
            vocab_size=vocab_size, min_frequency=min_frequency, show_progress=show_progress,
            special_tokens=_listed(special_tokens), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )  # fmt: skip


class _CharacterBPE(BaseTokenizer):
    """What the two BPE tokenizers of characters train with."""

    suffix: str | None = None

    def _trainer(
        self,
        vocab_size: int = 30000,
        min_frequency: int = 2,
        special_tokens: Iterable[Name] = ("<unk>",),
        limit_alphabet: int = 1000,
        initial_alphabet: Iterable[str] = (),
        show_progress: bool = True,
        **more: Any,
    ) -> trainers.Trainer:
        return trainers.BpeTrainer(
            vocab_size=vocab_size, min_frequency=min_frequency, special_tokens=_listed(special_tokens),
            limit_alphabet=limit_alphabet, initial_alphabet=initial_alphabet, show_progress=show_progress,
            **more,
        )  # fmt: skip


class CharBPETokenizer(_CharacterBPE):
    """GPT's BPE of characters, with a mark at the end of a word."""

    def __init__(
        self,
        vocab: Any = None,
        merges: Any = None,
        unk_token: Name = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        """From a vocabulary and merges, or empty."""
        parameters = {"model": "BPE", **{k: v for k, v in locals().items() if k[0] != "_"}}
        for name in ("self", "vocab", "merges"):
            parameters.pop(name)
        given = () if vocab is None or merges is None else (vocab, merges)
        tokenizer = Tokenizer(
            models.BPE(*given, dropout=dropout, unk_token=str(unk_token), end_of_word_suffix=suffix)
        )
        _know(tokenizer, unk_token)
        bert = [normalizers.BertNormalizer(lowercase=False)] if bert_normalizer else []
        lower = [normalizers.Lowercase()] if lowercase else []
        tokenizer.normalizer = _sequence([*_forms(unicode_normalizer), *bert, *lower])
        tokenizer.pre_tokenizer = (
            pre_tokenizers.WhitespaceSplit()
            if split_on_whitespace_only
            else pre_tokenizers.BertPreTokenizer()
        )
        tokenizer.decoder = decoders.BPEDecoder(suffix=suffix)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> CharBPETokenizer:
        """From `vocab.json` and `merges.txt`."""
        return CharBPETokenizer(*models.BPE.read_file(vocab_filename, merges_filename), **kwargs)

    def _trainer(self, *args: Any, suffix: str | None = "</w>", **options: Any) -> trainers.Trainer:
        return super()._trainer(*args, end_of_word_suffix=suffix, **options)


class SentencePieceBPETokenizer(_CharacterBPE):
    """BPE of characters, cut as sentencepiece does."""

    def __init__(
        self,
        vocab: Any = None,
        merges: Any = None,
        unk_token: Name = "<unk>",
        replacement: str = "▁",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool | None = False,
    ) -> None:
        """From a vocabulary and merges, or empty."""
        parameters = {
            "model": "SentencePieceBPE", "unk_token": unk_token, "replacement": replacement,
            "add_prefix_space": add_prefix_space, "dropout": dropout,
        }  # fmt: skip
        given = () if vocab is None or merges is None else (vocab, merges)
        tokenizer = Tokenizer(models.BPE(*given, dropout=dropout, unk_token=unk_token, fuse_unk=fuse_unk))
        _know(tokenizer, unk_token)
        tokenizer.normalizer = normalizers.NFKC()
        _marked(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **kwargs: Any) -> SentencePieceBPETokenizer:
        """From `vocab.json` and `merges.txt`."""
        return SentencePieceBPETokenizer(*models.BPE.read_file(vocab_filename, merges_filename), **kwargs)


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """Unigram, cut as sentencepiece does."""

    def __init__(
        self,
        vocab: list[tuple[str, float]] | None = None,
        replacement: str = "▁",
        add_prefix_space: bool = True,
    ) -> None:
        """From tokens with scores, or empty."""
        parameters = {
            "model": "SentencePieceUnigram", "replacement": replacement, "add_prefix_space": add_prefix_space,
        }  # fmt: skip
        tokenizer = Tokenizer(models.Unigram(vocab))
        spaces = normalizers.Replace(Regex(" {2,}"), " ")
        tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
        _marked(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)

    def _trainer(
        self,
        vocab_size: int = 8000,
        show_progress: bool = True,
        special_tokens: Iterable[Name] | None = None,
        initial_alphabet: Iterable[str] | None = None,
        unk_token: str | None = None,
    ) -> trainers.Trainer:
        return trainers.UnigramTrainer(
            vocab_size=vocab_size, special_tokens=special_tokens or [], show_progress=show_progress,
            initial_alphabet=initial_alphabet or [], unk_token=unk_token,
        )  # fmt: skip


def _marked(tokenizer: Tokenizer, replacement: str, add_prefix_space: bool) -> None:
    """Cut and decode by sentencepiece's mark."""
    scheme = "always" if add_prefix_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=replacement, prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(replacement=replacement, prepend_scheme=scheme)


def _given(value: object, words: str) -> None:
    """`ValueError` for `None`."""
    if value is None:
        raise ValueError(words)


def _listed(tokens: Any) -> Any:
    """The default as the list that is asked for."""
    return list(tokens) if isinstance(tokens, tuple) else tokens
