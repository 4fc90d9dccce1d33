"""`syllabary.compat.tokenizers` used wrongly: the kind of error that the library itself raises, and no other.

Leaves out: ids and flags of every type, and damaged files (`test_compat_tokenizers`), the words of errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tokenizers as theirs

from syllabary.compat import tokenizers as ours

ALONE = "\ud800"


def made(library: Any) -> Any:
    """A tokenizer with some of everything."""
    tok = library.Tokenizer(library.models.BPE({"a": 0, "b": 1, "ab": 2, "[SEP]": 3}, [("a", "b")]))
    tok.pre_tokenizer = library.pre_tokenizers.Split(" ", "isolated")
    tok.normalizer = library.normalizers.Strip()
    tok.decoder = library.decoders.WordPiece()
    tok.post_processor = library.processors.TemplateProcessing("$A [SEP]", "$A [SEP] $B", [("[SEP]", 3)])
    return tok


WRONG: list[Any] = [
    # what would take all memory, were it no list of bytes
    lambda t, k: t.normalizers.Precompiled(2**40),
    lambda t, k: t.Tokenizer.from_buffer(2**40),
    lambda t, k: t.Tokenizer.from_buffer(iter(b"{}")),
    # a text in the place of a list
    lambda t, k: k.decoder.decode("ab"),
    lambda t, k: k.decoder.decode([1]),
    lambda t, k: k.decoder.decode([ALONE]),
    lambda t, k: t.Encoding.merge("ab"),
    lambda t, k: t.Encoding.merge(["ab"]),
    lambda t, k: t.trainers.BpeTrainer(special_tokens="ab"),
    lambda t, k: t.trainers.BpeTrainer(special_tokens=("ab",)),
    lambda t, k: t.trainers.BpeTrainer(initial_alphabet="ab"),
    lambda t, k: t.trainers.UnigramTrainer(initial_alphabet=[None]),
    lambda t, k: t.decoders.DecodeStream(ids="ab"),
    lambda t, k: t.decoders.DecodeStream(ids=[("a", 1)]),
    lambda t, k: t.models.Unigram({"a": 0.0}, 0),
    # a mapping, and what can be read once
    lambda t, k: k.encode_batch({}),
    lambda t, k: k.encode_batch({"a": "b"}),
    lambda t, k: k.decode_batch({}),
    lambda t, k: k.decode({1}),
    lambda t, k: k.decode({1: "b"}),
    lambda t, k: k.decode(iter([1])),
    lambda t, k: k.train({}),
    lambda t, k: k.train(iter([])),
    lambda t, k: k.train([1]),
    # another object than it must be
    lambda t, k: k.pre_tokenizer.pre_tokenize("ab"),
    lambda t, k: k.normalizer.normalize(1),
    lambda t, k: k.normalizer.normalize_str(1),
    lambda t, k: k.pre_tokenizer.pre_tokenize_str(b"ab"),
    lambda t, k: k.post_processor.process(None),
    lambda t, k: k.post_process(None),
    lambda t, k: k.post_process(k.encode("a"), "b"),
    lambda t, k: t.decoders.DecodeStream().step("ab", 1),
    lambda t, k: t.PreTokenizedString(1),
    lambda t, k: t.PreTokenizedString("a").to_encoding("a"),
    lambda t, k: t.PreTokenizedString("a").to_encoding(-1),
    lambda t, k: t.PreTokenizedString("a").get_splits(1),
    lambda t, k: t.PreTokenizedString("a").get_splits("chars"),
    lambda t, k: t.NormalizedString("ab").slice("a"),
    lambda t, k: t.NormalizedString("ab").split("a", 1),
    lambda t, k: t.pre_tokenizers.Split("a", 1),
    lambda t, k: t.pre_tokenizers.Split("a", "alone"),
    lambda t, k: t.pre_tokenizers.Punctuation(None),
    lambda t, k: k.post_processor.num_special_tokens_to_add(1),
    lambda t, k: t.processors.BertProcessing(("a", 0), ("b", 1)).num_special_tokens_to_add("a"),
    lambda t, k: t.processors.Sequence([]).num_special_tokens_to_add([]),
    lambda t, k: k.to_str("pretty"),
    lambda t, k: k.to_str(1),
    # what wraps a tokenizer
    lambda t, k: t.ByteLevelBPETokenizer().encode(None),
    lambda t, k: t.ByteLevelBPETokenizer().encode_batch(None),
    lambda t, k: t.ByteLevelBPETokenizer().decode(None),
    lambda t, k: t.ByteLevelBPETokenizer().encode_batch(input=["a"]),
    lambda t, k: t.ByteLevelBPETokenizer().enable_padding("up"),
    lambda t, k: t.ByteLevelBPETokenizer().enable_truncation(3, direction="left"),
    # options
    lambda t, k: t.models.BPE(unk_token=1),
    lambda t, k: t.models.BPE(end_of_word_suffix=["a"]),
    lambda t, k: t.models.WordPiece(unk_token=1),
    lambda t, k: t.models.WordLevel(unk_token=1),
    lambda t, k: t.models.BPE(dropout="a"),
    lambda t, k: t.trainers.BpeTrainer(progress_format=1),
    lambda t, k: t.decoders.WordPiece(prefix=ALONE),
    lambda t, k: t.AddedToken(ALONE),
    lambda t, k: t.NormalizedString(ALONE),
    lambda t, k: t.Tokenizer.from_str(ALONE),
    lambda t, k: k.token_to_id(ALONE),
    # special tokens of a template
    *(
        lambda t, k, one=one: t.processors.TemplateProcessing("a $A", special_tokens=[one])
        for one in (
            {"id": "a", "ids": [1]}, {"id": "a", "tokens": ["a"]}, {"ids": [1], "tokens": ["a"]}, {},
            {"id": 3, "ids": [1], "tokens": ["a"]}, {"id": "a", "ids": [1], "tokens": [3]},
            {"id": "a", "ids": [1], "tokens": "a"}, {"id": "a", "ids": 1, "tokens": ["a"]},
            ("a",), ("a", 1, 2), ("a", -1), ("a", 2**32), ("a", "b"), (ALONE, 1), "a1", None, 3,
        )
    ),
    # attributes that are set
    lambda t, k: setattr(k.model, "unk_token", 1),
    lambda t, k: setattr(k.model, "continuing_subword_prefix", {}),
    lambda t, k: setattr(k.model, "dropout", "a"),
    lambda t, k: setattr(k.pre_tokenizer, "behavior", 1),
    lambda t, k: setattr(k.post_processor, "single", {"a": 0}),
    lambda t, k: setattr(t.models.Unigram([("a", 0.0)], 0), "alpha", "a"),
    lambda t, k: setattr(t.models.Unigram([("a", 0.0)], 0), "nbest_size", "a"),
    lambda t, k: setattr(t.models.Unigram([("a", 0.0)], 0), "nbest_size", -1),
    lambda t, k: setattr(t.AddedToken("a"), "content", 1),
    lambda t, k: setattr(t.AddedToken("a"), "special", 1),
]  # fmt: skip
RIGHT: list[Any] = [
    *(lambda t, k, ids=ids: k.decode(ids) for ids in ((1, 2), range(3), np.array([1, 2]), [1, 99, 2])),
    lambda t, k: k.decode([1, np.uint8(255), np.uint8(255)]),
    lambda t, k: k.decoder.decode(("a", "b")),
    lambda t, k: k.decoder.decode(np.array(["a"])),
    lambda t, k: t.Encoding.merge((k.encode("a"), k.encode("b"))).ids,
    lambda t, k: t.trainers.BpeTrainer(initial_alphabet=("a",)).initial_alphabet,
    lambda t, k: t.models.Unigram((("a", 1),), 0).token_to_id("a"),
    lambda t, k: (setattr(k.decoder, "prefix", np.str_("é")), repr(k.decoder)),
    lambda t, k: t.NormalizedString("abc").slice((1, 3)).normalized,
    lambda t, k: t.ByteLevelBPETokenizer().train_from_iterator(["ab"], 300, special_tokens=["x"]),
    lambda t, k: t.trainers.UnigramTrainer(initial_alphabet=["", "ab"]).initial_alphabet,
    lambda t, k: [one.ids for one in t.ByteLevelBPETokenizer().encode_batch(inputs=["a"])],
    lambda t, k: (o := t.ByteLevelBPETokenizer(), o.enable_padding("left", 4, 1, 2, "x", 3), o.padding)[1:],
    lambda t, k: (o := t.ByteLevelBPETokenizer(), o.enable_truncation(9, 1, "only_first"), o.truncation)[1:],
]


def outcome(run: Any, library: Any) -> object:
    try:
        return run(library, made(library))
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return type(error)


@pytest.mark.parametrize("run", WRONG)
def test_the_same_kind_of_error(run: Any) -> None:
    expected = outcome(run, theirs)
    assert isinstance(expected, type)
    found = outcome(run, ours)
    assert isinstance(found, type)
    assert issubclass(found, expected)


@pytest.mark.parametrize("run", RIGHT)
def test_what_is_taken_in_place_of_a_list_and_of_a_text(run: Any) -> None:
    assert outcome(run, ours) == outcome(run, theirs)
