"""What is kept between calls never tells: other options, other texts, changed components give what is theirs.

Leaves out: what each call gives (`test_full`, `test_compat_tokenizers`, `test_transformers`).
"""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import tokenizers as theirs

import syllabary
from syllabary.compat import tokenizers as ours
from syllabary.framing import Framing, Padding, RobertaProcessing, TemplateProcessing, Truncation

PLAIN = syllabary.train(["low lower lowest"] * 3, vocab_size=263, special_tokens=["<s>", "<pad>", "<m>"])
START, PAD = PLAIN.special_tokens["<s>"], PLAIN.special_tokens["<pad>"]
TEMPLATE = TemplateProcessing.of("<s> $A <s>", "<s> $A $B:1 <s>:1", {"<s>": START})
PADDING = Padding(pad_id=PAD, pad_token="<pad>")
ROBERTA = RobertaProcessing(("<s>", START), ("<s>", START))
ASKED: list[dict[str, Any]] = [
    {}, {"padding": True}, {"padding": 1}, {"padding": 9}, {"padding": False}, {"padding": 0},
    {"truncation": 4}, {"truncation": False}, {"truncation": Truncation(4, 1)}, {"pair": "low"},
    {"pair": "low", "truncation": 4}, {"add_special_tokens": False}, {"post_processor": ()},
    {"post_processor": [ROBERTA]}, {"is_pretokenized": True}, {"offsets": "byte"},
]  # fmt: skip


def call(tok: Any, options: dict[str, Any]) -> Any:
    text: Any = [" lower", "löw"] if options.get("is_pretokenized") else " lower löwest"
    return tok.encode_full(text, **options)


@pytest.mark.parametrize(
    "framing", [Framing(), Framing((TEMPLATE,), None, PADDING), Framing((ROBERTA,), None, PADDING)]
)
def test_calls_with_other_options_in_between(framing: Framing) -> None:
    tok = PLAIN.with_framing(framing)
    asked = [one for one in ASKED if framing.padding or one.get("padding") not in (True, 1, 9)]
    asked = [one for one in asked if framing.padding or not isinstance(one.get("padding"), int)]
    alone = [call(pickle.loads(pickle.dumps(tok)), one) for one in asked]
    for order in (asked, asked[::-1], asked):
        found = [call(tok, one) for one in order]
        assert found == (alone if order == asked else alone[::-1])


def test_tokens_of_a_row() -> None:
    tok = PLAIN.with_framing(Framing((TEMPLATE,), Truncation(5, 1), PADDING))
    for texts in (["low"], ["lower lowest low", "low", ""], []):
        batch = tok.encode_full_batch(texts, overflow=True)
        rows = range(len(batch))
        assert [batch.tokens(row) for row in rows] == [batch[row].tokens for row in rows]
        assert [batch[row] for row in rows] == list(batch)
    assert batch.tokens.__doc__
    with pytest.raises(IndexError, match="row 0 of 0"):
        batch.tokens(0)
    with pytest.raises(TypeError, match="give an integer"):
        tok.encode_full_batch(["low"]).tokens("0")  # type: ignore[arg-type]


def made(t: Any) -> Any:
    tok = t.Tokenizer(t.models.BPE({"a": 0, "b": 1, "ab": 2, "▁": 3}, [("a", "b")]))
    tok.decoder = t.decoders.Metaspace()
    return tok


def test_changed_components_are_seen_by_the_next_call() -> None:
    for change in (
        lambda t, one: setattr(one.decoder, "replacement", "a"),
        lambda t, one: setattr(one.decoder, "prepend_scheme", "never"),
        lambda t, one: setattr(one, "decoder", None),
        lambda t, one: setattr(one, "decoder", t.decoders.Fuse()),
        lambda t, one: one.add_special_tokens(["ab"]),
        lambda t, one: one.add_tokens(["a b"]),
        lambda t, one: setattr(one, "model", t.models.BPE({"b": 0, "a": 1, "▁": 3}, [])),
        lambda t, one: one.enable_truncation(1),
        lambda t, one: one.enable_padding(length=4, pad_id=3, pad_token="▁"),
    ):
        found = []
        for t in (ours, theirs):
            tok, seen = made(t), []
            for _ in range(2):
                one = tok.encode("abb")
                seen += [one.ids, one.tokens, one.offsets, one.attention_mask, one.word_ids]
                seen += [
                    tok.decode(one.ids),
                    tok.decode([2, 3, 2, 4]),
                    tok.id_to_token(2),
                    tok.id_to_token(4),
                ]
                change(t, tok)
            found.append(seen)
        assert found[0] == found[1]


def test_a_component_alone_is_made_anew() -> None:
    decoder = ours.decoders.Metaspace()
    assert decoder.decode(["▁a", "xb"]) == "axb"
    decoder.replacement = "x"
    assert decoder.decode(["▁a", "xb"]) == "▁a b"
    again = pickle.dumps(ours.decoders.Metaspace())
    decoder = pickle.loads(again)
    assert decoder.decode(["▁a", "xb"]) == "axb"
    decoder.__setstate__(ours.decoders.Metaspace("x").__getstate__())
    assert decoder.decode(["▁a", "xb"]) == "▁a b"
    chain = ours.decoders.Sequence([ours.decoders.Metaspace(), ours.decoders.Strip("b", 0, 1)])
    tok = made(ours)
    tok.decoder = chain
    assert (chain.decode(["▁ab", "▁b"]), tok.decode([2, 3])) == ("a ", "a ")
    chain[0].replacement = "a"
    assert (chain.decode(["▁ab", "▁b"]), tok.decode([2, 3])) == ("▁▁", "▁")
    chain[1] = ours.decoders.Strip("▁", 1, 0)
    assert (chain.decode(["▁ab", "▁b"]), tok.decode([2, 3])) == ("bb", "b")
    normalizer = ours.normalizers.Replace("a", "b")
    assert normalizer.normalize_str("a") == "b"
    normalizer.content = "c"
    assert normalizer.normalize_str("a") == "c"


@pytest.mark.parametrize("ids", [[1.0], ["a"], [0, -1], [2**64], [0, None], 5, [-1, 1.0]])
def test_ids_that_are_none(ids: Any) -> None:
    tok = made(ours)
    with pytest.raises((TypeError, OverflowError)) as found:
        tok.decode(ids)
    with pytest.raises(type(found.value)):
        made(theirs).decode(ids)
    assert tok.decode((2, 77, 3)) == tok.decode([2, 3])
