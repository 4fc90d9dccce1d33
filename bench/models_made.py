"""The tokenizers that `bench/models.py` measures, each trained by its library on the beginning of a corpus.

Adds `train`. Leaves out what is measured of them.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

TRAINED_ON = 2_000_000
PIECES = {"wordpiece": 30_000, "unigram": 16_000, "sentencepiece": 8_000}
# The three splits of DeepSeek V3's tokenizer.json.
DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
)
# The steps of DeepSeek's coder before its digits, and the words of CLIP.
CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def train(data: bytes, folder: Path) -> None:
    """The tokenizers of one corpus, made by the peers."""
    import sentencepiece
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    lines = data[:TRAINED_ON].decode("utf-8", "ignore").splitlines()
    bert = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    bert.normalizer = normalizers.BertNormalizer(lowercase=True)
    bert.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    sizes = {"vocab_size": PIECES["wordpiece"], "special_tokens": specials, "show_progress": False}
    bert.train_from_iterator(lines, trainers.WordPieceTrainer(**sizes))
    bert.post_processor = processors.BertProcessing(
        ("[SEP]", bert.token_to_id("[SEP]")), ("[CLS]", bert.token_to_id("[CLS]"))
    )
    bert.decoder = decoders.WordPiece()
    bert.save(str(folder / "wordpiece.json"))
    t5 = Tokenizer(models.Unigram())
    t5.normalizer = normalizers.Sequence([normalizers.Replace(" {2,}", " "), normalizers.NFKC()])
    t5.pre_tokenizer = pre_tokenizers.Metaspace()
    t5.decoder = decoders.Metaspace()
    made = trainers.UnigramTrainer(
        vocab_size=PIECES["unigram"], unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    t5.train_from_iterator(lines, made)
    t5.save(str(folder / "unigram.json"))
    train_words(lines, sizes, folder)
    train_bytes(lines, sizes, folder)
    train_clip(lines, sizes, folder)
    train_characters(lines, sizes, folder)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(line for line in lines if line.strip()),
        model_writer=model,
        model_type="unigram",
        vocab_size=PIECES["sentencepiece"],
        hard_vocab_limit=False,
        character_coverage=0.9995,
        minloglevel=3,
    )
    (folder / "sentencepiece.model").write_bytes(model.getvalue())


def train_words(lines: list[str], sizes: dict[str, Any], folder: Path) -> None:
    """One of words and one of characters whose text is cut as in the tour of tokenizers: words, signs.

    And one of characters whose words have marked ends, as `CharBPETokenizer` makes it, or GPT-1's.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    cuts = [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
    words.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    words.train_from_iterator(lines, trainers.WordPieceTrainer(**sizes))
    words.save(str(folder / "words.json"))
    tour = Tokenizer(models.BPE(unk_token="[UNK]"))
    tour.pre_tokenizer = pre_tokenizers.Whitespace()
    tour.train_from_iterator(lines, trainers.BpeTrainer(**sizes))
    tour.save(str(folder / "tour.json"))
    end = {"end_of_word_suffix": "</w>"}
    ends = Tokenizer(models.BPE(unk_token="[UNK]", **end))
    ends.normalizer, ends.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    ends.train_from_iterator(lines, trainers.BpeTrainer(**sizes, **end))
    ends.save(str(folder / "ends.json"))


def train_bytes(lines: list[str], sizes: dict[str, Any], folder: Path) -> None:
    """Byte-level ones of one corpus: as it is, with a template; behind other steps."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    of_bytes = Tokenizer(models.BPE())
    of_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    of_bytes.train_from_iterator(
        lines, trainers.BpeTrainer(**sizes, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    )
    of_bytes.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(name, of_bytes.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    of_bytes.save(str(folder / "bytes.json"))
    alone, digits = of_bytes.pre_tokenizer, pre_tokenizers.Digits(individual_digits=True)
    of_bytes.pre_tokenizer = pre_tokenizers.Sequence([digits, alone])
    of_bytes.save(str(folder / "digits.json"))
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in DEEPSEEK]
    after = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    of_bytes.pre_tokenizer = pre_tokenizers.Sequence([*cuts, after])
    of_bytes.save(str(folder / "deepseek.json"))
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in CODER]
    of_bytes.pre_tokenizer = pre_tokenizers.Sequence([*cuts, digits, after])
    of_bytes.save(str(folder / "coder.json"))
    of_bytes.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            alone,
            pre_tokenizers.Digits(),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ]
    )
    of_bytes.save(str(folder / "falcon.json"))
    of_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    of_bytes.save(str(folder / "space.json"))
    of_bytes.pre_tokenizer, of_bytes.normalizer = alone, normalizers.NFC()
    of_bytes.save(str(folder / "normalized.json"))


def train_clip(lines: list[str], sizes: dict[str, Any], folder: Path) -> None:
    """One of bytes whose words are lower case and marked at their ends, with CLIP's steps."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

    clip = Tokenizer(models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"))
    clip.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = pre_tokenizers.Split(Regex(CLIP), "removed", invert=True)
    after = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    clip.pre_tokenizer = pre_tokenizers.Sequence([words, after])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made = trainers.BpeTrainer(**sizes, initial_alphabet=alphabet, end_of_word_suffix="</w>")
    clip.train_from_iterator(lines, made)
    clip.save(str(folder / "clip.json"))


def train_characters(lines: list[str], sizes: dict[str, Any], folder: Path) -> None:
    """One of characters that falls back to bytes, with spaces as marks, and with Gemma's steps."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    found = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    gemma = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    gemma.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    gemma.train_from_iterator(lines, trainers.BpeTrainer(**sizes | {"special_tokens": found}))
    gemma.normalizer, gemma.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    gemma.save(str(folder / "marks.json"))
    gemma.normalizer = normalizers.Replace(" ", "▁")
    gemma.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    gemma.save(str(folder / "gemma.json"))
