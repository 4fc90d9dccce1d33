"""What is wrong with the arguments of full encodings is an error that says so; and what the records mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tokenizers as peers
from hf_compare import panics

import syllabary
from syllabary import Tokenizer
from syllabary.errors import SpecialTokenError, VocabularyError
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import parse
from syllabary.framing import (
    BertProcessing,
    Framing,
    Padding,
    RobertaProcessing,
    SlotTokens,
    SpecialSlot,
    TemplateProcessing,
    TextSlot,
    Truncation,
)

PLAIN = syllabary.train(["low lower lowest"] * 3, vocab_size=262, special_tokens=["<s>", "<pad>"])
START, PAD = PLAIN.special_tokens["<s>"], PLAIN.special_tokens["<pad>"]
TEMPLATE = TemplateProcessing.of("<s> $A <s>", "<s> $A $B:1 <s>:1", {"<s>": START})
PADDING = Padding(pad_id=PAD, pad_token="<pad>")
TOK = PLAIN.with_framing(Framing((TEMPLATE,), None, PADDING))


def test_pad_without_a_pad_token():
    for padding in (True, "longest", 9):
        with pytest.raises(ValueError, match="names no pad token: give padding=Padding"):
            PLAIN.encode_full("low", padding=padding)
    assert PLAIN.encode_full("low", padding=False).ids == PLAIN.encode("low")
    assert TOK.encode_full("low", padding=9).ids[3:] == [PAD] * 6


def test_pad_with_the_token_of_the_role():
    tok = PLAIN.with_settings(pad_token="<pad>", padding_side="left")
    batch = tok.encode_full_batch(["low lower", "low"], padding=True)
    assert batch.ids[1, 0] == PAD
    row = tok.encode_full("low", padding=9)
    assert row.ids == [PAD] * (9 - len(PLAIN.encode("low"))) + PLAIN.encode("low")
    assert row.tokens[0] == "<pad>"
    assert tok.encode_full("low").ids == tok.encode_full("low", padding=False).ids == PLAIN.encode("low")
    # what the file says of padding is nearer
    other = TOK.with_settings(pad_token="<s>", padding_side="left")
    assert other.encode_full("low", padding=9).ids == TOK.encode_full("low", padding=9).ids
    with pytest.raises(ValueError, match="names no pad token"):
        tok.with_settings(pad_token=None).encode_full("low", padding=True)


@pytest.mark.parametrize("length", [None, "longer"])
def test_a_length_of_padding_that_is_none(length):
    with pytest.raises(TypeError, match=f'padding.length is {length!r}: give an integer or "longest"'):
        TOK.encode_full("low", padding=Padding(length))


def test_truncation_that_leaves_no_room():
    with pytest.raises(ValueError, match="truncation to 1 token: the post-processor alone adds 2"):
        TOK.encode_full("low", truncation=1)
    assert TOK.encode_full("low", truncation=2).ids == [START, START]
    assert TOK.encode_full("low", truncation=1, add_special_tokens=False).ids == TOK.encode("low")[:1]


@pytest.mark.parametrize("stride", [3, 4, 100])
def test_a_stride_that_repeats_everything(stride):
    said = f"a stride of {stride} where a row has 3 tokens of text"
    if stride == 3:  # then a text that fits is none of its business
        said = "truncation leaves 3 tokens of a text, and a stride of 3 would repeat them all"
        assert len(TOK.encode_full("low", truncation=Truncation(5, stride))) <= 5
    with pytest.raises(ValueError, match=said):
        TOK.encode_full("low lower lowest", truncation=Truncation(5, stride))
    with pytest.raises(
        ValueError, match=f"a stride of {stride} would repeat them all|a stride of {stride} where"
    ):
        TOK.encode_full("low lower lowest", "lowest lower", truncation=Truncation(7, stride))


def test_strategies_that_cannot_be():
    with pytest.raises(ValueError, match='strategy "only_second", and a single text'):
        TOK.encode_full("low lower lowest", truncation=Truncation(4, 0, "only_second"))
    with pytest.raises(ValueError, match="tokens are to go, and the text to be cut has only 1"):
        TOK.encode_full("low", "lowest lower lowest", truncation=Truncation(4, 0, "only_first"))


def test_a_template_naming_unknown_tokens():
    bad = TemplateProcessing((SpecialSlot("[CLS]"), TextSlot("A")), (TextSlot("A"), TextSlot("B")))
    with pytest.raises(VocabularyError, match=r"the template has '\[CLS\]'.*they are none"):
        PLAIN.encode_full("low", post_processor=[bad])
    uneven = TemplateProcessing((SpecialSlot("x"),), (), {"x": SlotTokens((1, 2), ("x",))})
    with pytest.raises(VocabularyError, match="not as many ids as spellings"):
        PLAIN.encode_full("low", post_processor=[uneven])
    with pytest.raises(ValueError, match="has no number as its type id"):
        TemplateProcessing.of("$A:x", "$A $B", {})


def test_a_pair_that_has_no_place():
    alone = TemplateProcessing.of("$A", "$A <s>", {"<s>": START})
    with pytest.raises(ValueError, match=r"the template has no place for it: its pair needs \$B"):
        PLAIN.encode_full("low", "er", post_processor=[alone])
    both = TemplateProcessing.of("$A $B", "$A $B", {})
    with pytest.raises(ValueError, match=r"for a single text has \$B, and there is no pair"):
        PLAIN.encode_full("low", post_processor=[both])
    with pytest.raises(ValueError, match="a template after a post-processor that puts tokens"):
        PLAIN.encode_full("low", post_processor=[TEMPLATE, TEMPLATE])


def test_arguments_of_the_wrong_type():
    for wrong, message in [
        ({"texts": "low"}, "texts must be an iterable of str, not str"),
        ({"texts": [b"low"]}, r"texts\[0\] is bytes: give str, or is_pretokenized"),
        ({"texts": [None]}, r"texts\[0\] is NoneType"),
        ({"texts": ["a"], "pairs": [3]}, r"pairs\[0\] is int"),
        ({"texts": ["a"], "is_pretokenized": True}, r"texts\[0\] is a str, and is_pretokenized"),
        ({"texts": [["a", 3]], "is_pretokenized": True}, r"texts\[0\]\[1\] is int: give str"),
        ({"texts": ["a"], "truncation": "x"}, "truncation is 'x': give a number of tokens, True"),
        ({"texts": ["a"], "truncation": Truncation(1.5)}, "truncation.max_length is 1.5"),
        ({"texts": ["a"], "padding": 1.5}, "padding is 1.5: give an integer"),
        ({"texts": ["a"], "padding": Padding(pad_token=3)}, "padding.pad_token is 3: give str"),
        ({"texts": ["a"], "post_processor": [3]}, r"post_processor\[0\] is int: give TemplateProcessing"),
        ({"texts": ["a"], "post_processor": [BertProcessing((1, 2), ("a", 1))]}, r"\.sep is \(1, 2\): give"),
        ({"texts": ["a"], "post_processor": [BertProcessing(3, 4)]}, r"\.sep is 3: give \(spelling, id\)"),
        ({"texts": ["a"], "post_processor": [TemplateProcessing((3,), ())]}, "has slots for texts"),
        ({"texts": ["a"], "threads": "x"}, "threads is 'x'"),
    ]:
        with pytest.raises(TypeError, match=message):
            TOK.encode_full_batch(**wrong)


def test_a_framing_of_the_wrong_type():
    """No file is made of what no call takes."""
    for wrong, message in [
        (3, "framing is int: give syllabary.framing.Framing"),
        (Framing(post_processor=(3,)), r"post_processor\[0\] is int: give TemplateProcessing"),
        (Framing(TEMPLATE), "must be an iterable of post-processors"),
        (Framing(truncation=Truncation("x")), "truncation.max_length is 'x': give an integer"),
    ]:
        with pytest.raises(TypeError, match=message):
            TOK.with_framing(wrong)
    bad = TemplateProcessing.of("x $A", "x $A $B", {"x": -1})
    for wrong, message in [
        (Framing((bad,)), "the template's id of 'x' is -1: give 0 to"),
        (Framing(truncation=Truncation(-1)), "truncation.max_length is -1: give 0 to"),
        (Framing(padding=Padding(pad_id=-1)), "padding.pad_id is -1: give 0 to"),
    ]:
        with pytest.raises(ValueError, match=message):
            TOK.with_framing(wrong)
    for template, tokens in [(3, {}), ("$A", 3), ("$A", "abc")]:
        with pytest.raises(TypeError, match=r"^(a template|special_tokens) is (int|str): give"):
            TemplateProcessing.of(template, "$A $B", tokens)


def test_arguments_of_a_wrong_value():
    for wrong, message in [
        ({"pairs": ["a", "b"]}, "there is 1 text and 2 pairs"),
        ({"truncation": -1}, "truncation.max_length is -1: give 0 to"),
        ({"truncation": Truncation(4, -1)}, "truncation.stride is -1"),
        ({"truncation": Truncation(4, 0, "x")}, "truncation.strategy is 'x': give one of 'longest_first'"),
        ({"truncation": Truncation(4, direction="up")}, "truncation.direction is 'up'"),
        ({"truncation": True}, "truncation=True, and the tokenizer does not say how"),
        ({"padding": "max_length"}, "padding is 'max_length': give \"longest\", a number of tokens"),
        ({"padding": Padding(-4)}, "padding.length is -4"),
        ({"padding": Padding(2**31)}, "padding.length is 2147483648: give 0 to 16777216"),
        ({"padding": Padding(pad_id=2**40)}, "padding.pad_id is"),
        ({"padding": Padding(direction="up")}, "padding.direction is 'up'"),
        ({"offsets": "words"}, "offsets='words'"),
        ({"threads": 0}, "threads is 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            TOK.encode_full_batch(["low"], **wrong)


def test_text_that_is_wrong():
    with pytest.raises(SpecialTokenError, match="holds the special token '<s>'"):
        TOK.encode_full("a<s>")
    assert TOK.encode_full("<s>", special="allow").special_tokens_mask == [1, 0, 1]
    with pytest.raises(ValueError, match="text 1 of the batch"):
        TOK.encode_full_batch(["a", "\ud800"])


@pytest.mark.parametrize("text, error", [("b\ud800", "lone surrogate"), ("b<s>", "special token '<s>'")])
def test_it_says_which_text_is_wrong(text, error):
    for texts, pairs, words, name in [
        (["a", text], ["c", "d"], False, "text 1 of the batch"),
        (["a", "b"], ["c", text], False, "pair 1 of the batch"),
        (["a", "b"], [None, text], False, "pair 1 of the batch"),
        ([["a", "b"], ["c", text]], None, True, "text 1 of the batch, word 1"),
        ([["a"], ["c"]], [None, ["b", "c", text]], True, "pair 1 of the batch, word 2"),
    ]:
        with pytest.raises(ValueError, match=f"^{name}: .*{error}"):
            TOK.encode_full_batch(texts, pairs, is_pretokenized=words)
    for alone, pair, words, name in [
        (text, None, False, "text"),
        ("a", text, False, "pair"),
        (["a", text], None, True, "text, word 1"),
    ]:
        with pytest.raises(ValueError, match=f"^{name}: .*{error}"):
            TOK.encode_full(alone, pair, is_pretokenized=words)
    with pytest.raises(TypeError, match="text must be a str, not NoneType"):
        TOK.encode_full(None)
    with pytest.raises(TypeError, match="pair must be a str, not bytes"):
        TOK.encode_full("a", b"b")


def test_a_batch_shows_how_large_it_is():
    assert repr(PLAIN.encode_full_batch([])) == "<EncodingBatch: 0 rows>"
    assert repr(PLAIN.encode_full_batch(["low", "low low"])) == "<EncodingBatch: 2 rows of 1 to 2 tokens>"


def test_batches_with_the_same_texts_and_arrays_are_equal():
    texts = ["low lower lowest", "low"]
    for options in ({}, {"padding": True}, {"truncation": 2, "overflow": True}):
        batch = TOK.encode_full_batch(texts, **options)
        assert batch == TOK.encode_full_batch(tuple(texts), offsets="char", **options)
        assert batch != TOK.encode_full_batch(texts[:1], **options)
    assert PLAIN.encode_full_batch(["low  "]) != PLAIN.encode_full_batch(["low   "], truncation=2)
    batch, other = (PLAIN.encode_full_batch(["low", text]) for text in ("lower", "lowest"))
    assert batch != other
    assert batch.to_lists("ids")[0] == other.to_lists("ids")[0]
    named = PLAIN.with_framing(Framing((), None, Padding(pad_id=PAD, pad_token="<s>")))
    padded = [
        tok.encode_full_batch(["low"], padding=9)
        for tok in (named, TOK.with_framing(Framing((), None, PADDING)))
    ]
    assert padded[0].ids.tolist() == padded[1].ids.tolist()
    assert padded[0] != padded[1]  # other tokens
    changed = PLAIN.encode_full_batch(["low"])
    changed.ids[0, 0] = 9
    assert changed != PLAIN.encode_full_batch(["low"])
    assert PLAIN.encode_full_batch(["low"]) != [*PLAIN.encode_full_batch(["low"])]
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)


def test_rows_of_different_lengths_make_no_array():
    batch = PLAIN.encode_full_batch(["low lower lowest", "low"])
    with pytest.raises(ValueError, match="make no array: give padding="):
        batch.ids  # noqa: B018
    assert batch.to_lists("ids") == [PLAIN.encode("low lower lowest"), PLAIN.encode("low")]
    assert [row.ids for row in batch] == batch.to_lists("ids")
    for wrong in ("nonsense", "tokens"):
        with pytest.raises(ValueError, match="is no field"):
            batch.to_lists(wrong)
    with pytest.raises(IndexError, match="row 2 of 2"):
        batch[2]
    with pytest.raises(TypeError, match="give an integer"):
        batch["a"]


def test_arrays_and_tensors():
    batch = TOK.encode_full_batch(["low lower lowest", "low"], ["er", None])
    assert batch.ids.shape == batch.attention_mask.shape == batch.word_ids.shape == batch.offsets.shape[:2]
    assert batch.ids.dtype == batch.type_ids.dtype == np.int64
    assert batch.lengths.tolist() == batch.attention_mask.sum(1).tolist()
    assert batch.samples.tolist() == [0, 1]
    torch = pytest.importorskip("torch")
    tensors = batch.to_torch()
    assert tensors["input_ids"].dtype == torch.int64
    assert tensors["input_ids"].tolist() == batch.ids.tolist() == [row.ids for row in batch]
    assert tensors["attention_mask"].tolist() == batch.attention_mask.tolist()
    empty = TOK.encode_full_batch([])
    assert empty.ids.shape == (0, 0)
    assert len(empty) == 0


def test_the_number_of_special_tokens():
    assert (PLAIN.num_special_tokens(), PLAIN.num_special_tokens(pair=True)) == (0, 0)
    assert (TOK.num_special_tokens(), TOK.num_special_tokens(pair=True)) == (2, 2)
    roberta = PLAIN.with_framing(Framing((RobertaProcessing(("<s>", START), ("<s>", START)),)))
    assert (roberta.num_special_tokens(), roberta.num_special_tokens(pair=True)) == (2, 4)


def test_a_framing_is_kept_by_files(tmp_path):
    framing = Framing((TEMPLATE,), Truncation(9, 1, "only_first", "left"), PADDING)
    tok = PLAIN.with_framing(framing)
    for name in ("tokenizer.json", "own.syllabary.json"):
        tok.save(tmp_path / name)
        back = syllabary.load(tmp_path / name)
        assert back.framing == framing
        assert back.encode_full("low lower lowest") == tok.encode_full("low lower lowest")
    assert PLAIN.framing == Framing()


@pytest.mark.parametrize("pair", [None, "b", "b c d"])
@pytest.mark.parametrize(
    "most, stride", [(4, 1), (4, 2), (4, 3), (5, 2), (6, 2), (6, 3), (2, 0), (2, 1), (3, 1)]
)
def test_strides_are_refused_where_their_library_does(most, stride, pair):
    """What is a panic there is an error here; a text that fits has no part that a stride could repeat."""
    names = {name: at for at, name in enumerate(["<u>", "<s>", *"abcde"])}
    peer = peers.Tokenizer(peers.models.WordLevel(names, unk_token="<u>"))
    peer.pre_tokenizer = peers.pre_tokenizers.Whitespace()
    peer.add_special_tokens(["<s>"])
    ends = [("<s>", 1)]
    peer.post_processor = peers.processors.TemplateProcessing("<s> $A <s>", "<s> $A <s> $B <s>", ends)
    tok = Tokenizer(read_document(parse(peer.to_str().encode(), Path("tokenizer.json"))))
    fast = tok.as_transformers()
    for text in ("a", "a b", "a b c", "a b c d e"):
        try:
            peer.enable_truncation(most, stride=stride)
            row = panics(peer.encode, text, pair)
        except ValueError:
            row = None
        if row is None:
            with pytest.raises(ValueError, match="stride"):
                tok.encode_full(text, pair, truncation=Truncation(most, stride))
            with pytest.raises(ValueError, match="stride"):
                fast(text, pair, truncation=True, max_length=most, stride=stride)
            continue
        if len(row) > most:  # three tokens are added to a pair: theirs then cuts nothing
            continue
        here = tok.encode_full(text, pair, truncation=Truncation(most, stride))
        expected = [row.ids, *(one.ids for one in row.overflowing)]
        assert [here.ids, *(one.ids for one in here.overflowing)] == expected
        options = {"max_length": most, "stride": stride, "return_overflowing_tokens": True}
        assert fast(text, pair, truncation=True, **options)["input_ids"] == expected
