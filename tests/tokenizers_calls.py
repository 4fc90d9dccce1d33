"""The same calls to Hugging Face's library and to ours: drawn tokenizers, texts, and series of calls.

Adds `outcome`, which is a result or the kind of an error, and what to draw from. Leaves out: what is tested
(`test_compat_tokenizers*`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import tokenizers as theirs

from syllabary.compat import tokenizers as ours

Library = Any
Make = Callable[[Library], Any]

CORPUS = [
    "The quick brown fox jumps over the lazy dog. It's 2026, isn't it?",
    "Der schnelle Fuchs überspringt den faulen Hund; naïve café, coöperate.",
    "Ἀρχιμήδης ἔφη· δός μοι ποῦ στῶ. 快速的棕色狐狸。 速い茶色の狐 🤗 👩‍👩‍👧",
    "def f(x):\n    return x ** 2  # comment\n\tprint('ok')",
    "aaa aaaa ababab   baba\u00a0x\u2003y",
]
WORDS = [
    "the", "quick", " fox", "Über", "naïve", " ", "  ", "\n", "2026", "12345", "'s", "n't", ".", "?!",
    "Ἀρχ", "快速", "狐", "🤗", "👩‍👧", "<s>", "</s>", "[MASK]", "my", "e\u0301",
    "Name", " [MASK] ", "ab", "aaa", "Ġ", "▁", "##a",
    "\u00a0", "\t", "ﬁ", "İ", "ß", "x", "_", "<0x41>",
]  # fmt: skip

NORMALIZERS: list[Make] = [
    lambda t: None,
    lambda t: t.normalizers.NFC(),
    lambda t: t.normalizers.NFKD(),
    lambda t: t.normalizers.Lowercase(),
    lambda t: t.normalizers.Strip(right=False),
    lambda t: t.normalizers.BertNormalizer(strip_accents=True, lowercase=False),
    lambda t: t.normalizers.BertNormalizer(),
    lambda t: t.normalizers.Nmt(),
    lambda t: t.normalizers.Prepend("▁"),
    lambda t: t.normalizers.Replace(" ", "▁"),
    lambda t: t.normalizers.Replace(t.Regex(r"\s+"), " "),
    lambda t: t.normalizers.ByteLevel(),
    lambda t: t.normalizers.Sequence(
        [t.normalizers.NFD(), t.normalizers.StripAccents(), t.normalizers.Lowercase()]
    ),
    lambda t: t.normalizers.Sequence([]),
]
PRE_TOKENIZERS: list[Make] = [
    lambda t: None,
    lambda t: t.pre_tokenizers.ByteLevel(),
    lambda t: t.pre_tokenizers.ByteLevel(add_prefix_space=False),
    lambda t: t.pre_tokenizers.ByteLevel(use_regex=False, trim_offsets=False),
    lambda t: t.pre_tokenizers.Whitespace(),
    lambda t: t.pre_tokenizers.WhitespaceSplit(),
    lambda t: t.pre_tokenizers.BertPreTokenizer(),
    lambda t: t.pre_tokenizers.Metaspace(),
    lambda t: t.pre_tokenizers.Metaspace("_", "first", False),
    lambda t: t.pre_tokenizers.Punctuation("merged_with_previous"),
    lambda t: t.pre_tokenizers.Digits(True),
    lambda t: t.pre_tokenizers.CharDelimiterSplit("a"),
    lambda t: t.pre_tokenizers.Split(t.Regex(r"\p{N}{1,2}"), "isolated"),
    lambda t: t.pre_tokenizers.Split(" ", "merged_with_next", invert=True),
    lambda t: t.pre_tokenizers.FixedLength(4),
    lambda t: t.pre_tokenizers.Sequence([t.pre_tokenizers.Digits(), t.pre_tokenizers.ByteLevel(False)]),
    lambda t: t.pre_tokenizers.Sequence([]),
]
DECODERS: list[Make] = [
    lambda t: None,
    lambda t: t.decoders.ByteLevel(),
    lambda t: t.decoders.BPEDecoder(),
    lambda t: t.decoders.WordPiece(),
    lambda t: t.decoders.Metaspace(),
    lambda t: t.decoders.Metaspace("_", "never"),
    lambda t: t.decoders.Fuse(),
    lambda t: t.decoders.CTC(),
    lambda t: t.decoders.Strip("a", 1, 1),
    lambda t: t.decoders.Replace("▁", " "),
    lambda t: t.decoders.Replace(t.Regex("[ab]+"), "-"),
    lambda t: t.decoders.Sequence([t.decoders.Replace("Ġ", " "), t.decoders.Fuse()]),
    lambda t: t.decoders.Sequence([]),
]
PROCESSORS: list[Make] = [
    lambda t: None,
    lambda t: t.processors.ByteLevel(),
    lambda t: t.processors.ByteLevel(add_prefix_space=False, trim_offsets=False),
    lambda t: t.processors.BertProcessing(("</s>", 1), ("<s>", 0)),
    lambda t: t.processors.RobertaProcessing(("</s>", 1), ("<s>", 0)),
    lambda t: t.processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=False),
    lambda t: t.processors.TemplateProcessing("<s> $A", "<s> $A </s> $B:1 </s>:1", [("<s>", 0), ("</s>", 1)]),
    lambda t: t.processors.TemplateProcessing(
        "$0 Q", "$B:1 Q:2 $A", [{"id": "Q", "ids": [0, 1], "tokens": ["<s>", "</s>"]}]
    ),
    lambda t: t.processors.Sequence(
        [t.processors.ByteLevel(), t.processors.TemplateProcessing("$A </s>", "$A $B", [("</s>", 1)])]
    ),
    lambda t: t.processors.Sequence([]),
]


PANIC = ("error", "panic")  # what their library does where ours raises


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, in plain values; of an error that it is one."""
    try:
        return plain(call())
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return ("error", isinstance(error, TypeError))
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return PANIC


def plain(value: Any) -> Any:
    """A result of either library in plain values."""
    if isinstance(value, (theirs.Encoding, ours.Encoding)):
        return {
            "ids": value.ids, "tokens": value.tokens, "offsets": value.offsets, "type_ids": value.type_ids,
            "mask": value.attention_mask, "special": value.special_tokens_mask, "words": value.word_ids,
            "sequences": value.sequence_ids, "n": value.n_sequences, "length": len(value),
            "over": [plain(one) for one in value.overflowing],
        }  # fmt: skip
    if isinstance(value, (theirs.AddedToken, ours.AddedToken)):
        return repr(value)
    if isinstance(value, (theirs.Token, ours.Token)):
        return value.as_tuple()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if type(value).__module__.startswith(("tokenizers", "syllabary")):
        return repr(value)
    return value


@lru_cache(maxsize=32)
def model_json(seed: int) -> str:
    """A BPE model, trained by their library."""
    source = random.Random(seed)
    pretok = source.choice([PRE_TOKENIZERS[2], PRE_TOKENIZERS[5], PRE_TOKENIZERS[7]])
    made = theirs.Tokenizer(theirs.models.BPE())
    made.pre_tokenizer = pretok(theirs)
    options: dict[str, Any] = {}
    if source.random() < 0.25:
        options = {"end_of_word_suffix": "</w>"}
    elif source.random() < 0.25:
        options = {"continuing_subword_prefix": "##"}
    special = ["<s>", "</s>", "<unk>"]
    trainer = theirs.trainers.BpeTrainer(vocab_size=source.choice([120, 250, 400]), show_progress=False,
        special_tokens=special, **options)  # fmt: skip
    made.train_from_iterator(CORPUS[: source.randint(2, 5)], trainer)
    return str(made.to_str())


def models(source: random.Random) -> tuple[Any, Any]:
    """One model in both libraries."""
    told = json.loads(model_json(source.randint(0, 15)))["model"]
    options = {name: told[name] for name in ("continuing_subword_prefix", "end_of_word_suffix") if told[name]}
    options["unk_token"] = "<unk>"
    if source.random() < 0.3:
        options["fuse_unk"] = True
    if source.random() < 0.2 and not told["continuing_subword_prefix"]:
        options["ignore_merges"] = True
    merges = [tuple(pair) for pair in told["merges"]]
    return tuple(t.models.BPE(told["vocab"], merges, **options) for t in (theirs, ours))  # type: ignore[return-value]


def other_models(source: random.Random) -> tuple[Any, Any]:
    """WordPiece, WordLevel or Unigram, in both libraries."""
    kind = source.choice(["WordPiece", "WordLevel", "Unigram"])
    letters = sorted(set("".join(CORPUS) + "".join(WORDS)))
    words = sorted({word for line in CORPUS for word in line.split()} | {"my", "Name", "the", "ab"})
    tokens = ["<s>", "</s>", "<unk>", *source.sample(words, 20), *source.sample(letters, 90)]
    tokens += (
        [f"##{one}" for one in source.sample(letters, 60)] if kind == "WordPiece" else ["th", "qu", "aa"]
    )
    tokens = list(dict.fromkeys(tokens))
    if kind == "Unigram":
        scores = [(token, -source.randint(1, 900) / 100) for token in tokens]
        return tuple(t.models.Unigram(scores, 2) for t in (theirs, ours))  # type: ignore[return-value]
    vocab = {token: number for number, token in enumerate(tokens)}
    made = (getattr(t.models, kind)(vocab, unk_token="<unk>") for t in (theirs, ours))
    return tuple(made)  # type: ignore[return-value]


def text(source: random.Random) -> str:
    """A text of a few words."""
    if source.random() < 0.1:
        return source.choice(CORPUS)
    return "".join(source.choices(WORDS, k=source.choice([0, 1, 2, 5, 12])))


def both(make: Make) -> tuple[Any, Any]:
    """One thing in both libraries."""
    return make(theirs), make(ours)
