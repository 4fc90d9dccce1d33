"""The parts of `syllabary.compat.tokenizers` beside the library's: what they do, show, pickle and refuse.

Adds components alone, `NormalizedString`, `PreTokenizedString`, `Encoding`, `AddedToken`, custom components,
errors. Leaves out: whole tokenizers (`test_compat_tokenizers`), training (`test_compat_tokenizers_training`).
"""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import tokenizers as theirs
import tokenizers_calls as calls
from tokenizers_calls import both, outcome, plain, text

from syllabary.compat import tokenizers as ours

PLACES = {
    "normalizers": calls.NORMALIZERS, "pre_tokenizers": calls.PRE_TOKENIZERS, "decoders": calls.DECODERS,
    "processors": calls.PROCESSORS,
}  # fmt: skip
MAKES = [make for makes in PLACES.values() for make in makes if make(ours) is not None]
MORE: list[Any] = [
    lambda t: t.normalizers.Precompiled(b"\0\0\0\0" + b"a" * 99),
    lambda t: t.normalizers.Prepend("é" * 99),
    lambda t: t.normalizers.Sequence([t.normalizers.NFC()] * 7),
    lambda t: t.decoders.ByteLevel(add_prefix_space=False),
    lambda t: t.models.Unigram([("a", -1.5), ("é", -1e-7), ("b", -1e-5), ("c", 1e16)], 0, True),
    lambda t: t.models.Unigram(),
    lambda t: t.models.WordPiece({chr(97 + at): at for at in range(8)}, unk_token="a"),
    lambda t: t.models.WordLevel({"b": 1, "a": 0}),
    lambda t: t.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], dropout=0.1, unk_token='"'),
    lambda t: t.models.BPE(),
    lambda t: t.models.Model(),
    lambda t: t.trainers.BpeTrainer(special_tokens=["a", t.AddedToken("b", lstrip=True)], limit_alphabet=3),
    lambda t: t.trainers.WordPieceTrainer(initial_alphabet=["xy"]),
    lambda t: t.trainers.WordLevelTrainer(vocab_size=7),
    lambda t: t.trainers.UnigramTrainer(unk_token="<unk>"),
    lambda t: t.AddedToken("x", single_word=True),
    lambda t: t.Tokenizer(t.models.BPE()),
]


@pytest.mark.parametrize("make", MAKES + MORE)
def test_parts_are_shown_and_pickled_alike(make: Any) -> None:
    """The text of `repr` and `str`, the state, and what comes back from it."""
    one, other = both(make)
    assert (repr(other), str(other)) == (repr(one), str(one))
    assert other.__getstate__() == one.__getstate__()
    assert repr(pickle.loads(pickle.dumps(other))) == repr(one)
    assert type(pickle.loads(pickle.dumps(other))) is type(other)


@pytest.mark.parametrize("seed", range(20))
def test_parts_do_the_same(seed: int) -> None:
    """Normalizers, pre-tokenizers and decoders on drawn text."""
    source = random.Random(seed)
    for make in calls.NORMALIZERS[1:]:
        given = text(source)
        one, other = both(make)
        assert other.normalize_str(given) == one.normalize_str(given), (str(one), given)
    for make in calls.PRE_TOKENIZERS[1:]:
        given = text(source)
        one, other = both(make)
        assert other.pre_tokenize_str(given) == one.pre_tokenize_str(given), (str(one), given)
    for make in calls.DECODERS[1:]:
        tokens = source.choices([*calls.WORDS, "Ã©", "Ġthe", "##ing", "er</w>", "<pad>", "|"], k=6)
        one, other = both(make)
        assert other.decode(tokens) == one.decode(tokens), (str(one), tokens)


@pytest.mark.parametrize("seed", range(40))
def test_normalized_strings_are_alike(seed: int) -> None:
    """Drawn changes to a text, and the offsets of what is cut out of it."""
    source = random.Random(seed)
    given = text(source)
    strings = both(lambda t: t.NormalizedString(given))
    for _ in range(6):
        method = source.choice([
            ("nfd",), ("nfkc",), ("lowercase",), ("uppercase",), ("lstrip",), ("rstrip",), ("strip",),
            ("prepend", "xy"), ("append", "é "), ("filter", str.isalpha), ("map", lambda char: "·" + char),
            ("replace", "a", "bc"), ("replace", "the", ""),
        ])  # fmt: skip
        if not strings[0].normalized:
            return  # their library gives what is put into an empty text twice
        for one in strings:
            getattr(one, method[0])(*method[1:])
        assert repr(strings[1]) == repr(strings[0]), method
        start, end = sorted(source.randint(0, 12) for _ in range(2))
        for place in (start, slice(start, end), (start, end)):
            cut = [outcome(lambda one=one, place=place: one[place]) for one in strings]
            assert cut[1] == cut[0], place
    behavior = source.choice(
        ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    )
    assert repr(strings[1].split(" ", behavior)) == repr(strings[0].split(" ", behavior))


class Splitting:
    """A pre-tokenizer of ours, for both: cuts between small and large letters."""

    def split(self, index: int, part: Any) -> list[Any]:
        """Cut one part."""
        letters = str(part)
        cuts = [at for at in range(1, len(letters)) if letters[at - 1].islower() and letters[at].isupper()]
        return [part[start:end] for start, end in zip([0, *cuts], [*cuts, len(letters)], strict=True)]

    def pre_tokenize(self, pretok: Any) -> None:
        """Cut all parts."""
        pretok.split(self.split)
        pretok.normalize(lambda part: part.replace("x", "yy"))


class Rewriting:
    """A normalizer, likewise."""

    def normalize(self, normalized: Any) -> None:
        """Rewrite a text."""
        normalized.nfd()
        normalized.filter(lambda char: char != "\u0301")
        normalized.prepend("_")


class Decoding:
    """A decoder, likewise."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        """Rewrite tokens."""
        return [f"[{token}]" for token in tokens]


class Wrong:
    """None of them."""

    def normalize(self, one: Any, two: Any) -> None:
        """Has a parameter too many."""

    pre_tokenize = decode_chain = normalize


def customs(t: Any, made: Any = None) -> tuple[Any, Any, Any]:
    """The three kinds of custom components."""
    return (
        t.normalizers.Normalizer.custom(made or Rewriting()),
        t.pre_tokenizers.PreTokenizer.custom(made or Splitting()),
        t.decoders.Decoder.custom(made or Decoding()),
    )


@pytest.mark.parametrize("seed", range(10))
def test_custom_components_run_alike(seed: int) -> None:
    """Alone, in sequences, and in a tokenizer."""
    source = random.Random(seed)
    given = "camelCase " + text(source) + " RésuméX x"
    models = calls.models(source)
    found = []
    for t, model in zip((theirs, ours), models, strict=True):
        normalizer, pretok, decoder = customs(t)
        tokenizer = t.Tokenizer(model)
        tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, pretok, decoder
        tokenizer.add_tokens(["camel", t.AddedToken("case", normalized=False)])
        encoding = tokenizer.encode(given, "pairText")
        found.append(
            [
                normalizer.normalize_str(given), pretok.pre_tokenize_str(given), decoder.decode(["a", "b"]),
                plain(encoding), tokenizer.decode(encoding.ids),
                outcome(tokenizer.to_str), outcome(tokenizer.__repr__), outcome(pretok.__str__),
            ]
        )  # fmt: skip
    assert found[1] == found[0]


def test_custom_components_stand_in_sequences() -> None:
    """Where their library panics."""
    normalizer, pretok, decoder = customs(ours)
    parts = [ours.normalizers.Lowercase(), normalizer]
    assert ours.normalizers.Sequence(parts).normalize_str("É") == "_e"
    found = ours.pre_tokenizers.Sequence([ours.pre_tokenizers.WhitespaceSplit(), pretok]).pre_tokenize_str(
        "a bC"
    )
    assert found == [("a", (0, 1)), ("b", (2, 3)), ("C", (3, 4))]
    assert ours.decoders.Sequence([ours.decoders.Replace("a", "b"), decoder]).decode(["a", "c"]) == "[b][c]"


def test_errors_of_custom_components_say_what_they_raised() -> None:
    """An `Exception` with the name of the type; what was lent cannot be kept."""
    messages = []
    for t in (theirs, ours):
        normalizer, pretok, decoder = customs(t, Wrong())
        for call in (normalizer.normalize_str, pretok.pre_tokenize_str, lambda s, d=decoder: d.decode([s])):
            with pytest.raises(Exception, match=r"TypeError: Wrong.normalize\(\) missing") as raised:
                call("a")
            messages.append(str(raised.value))
    assert messages[3:] == messages[:3]
    kept: list[Any] = []

    class Keeping:
        def normalize(self, normalized: Any) -> None:
            kept.append(normalized)

        def pre_tokenize(self, pretok: Any) -> None:
            kept.append(pretok)

    ours.normalizers.Normalizer.custom(Keeping()).normalize_str("a")
    ours.pre_tokenizers.PreTokenizer.custom(Keeping()).pre_tokenize_str("a")
    with pytest.raises(Exception, match="outside `normalize`"):
        kept[0].nfc()
    with pytest.raises(Exception, match="outside `pre_tokenize`"):
        kept[1].split(lambda index, part: [part])


def test_pre_tokenized_strings_are_alike() -> None:
    """Splits and tokens by hand, in both offsets."""
    found = []
    for t in (theirs, ours):
        pretok = t.PreTokenizedString("Héllo wörld é")
        pretok.normalize(lambda part: part.nfd())
        pretok.split(lambda index, part: part.split(" ", "removed"))
        one = [pretok.get_splits(), pretok.get_splits("original", "byte")]
        with pytest.raises(Exception, match="has not been tokenized"):
            pretok.to_encoding()
        pretok.tokenize(
            lambda word, t=t: [t.Token(7, word[:1], (0, 1)), t.Token(8, word[1:], (1, len(word.encode())))]
        )
        found.append(
            [one, plain(pretok.to_encoding(2)), plain(pretok.to_encoding(0, 5)), plain(pretok.get_splits())]
        )
        for wrong in (("x", "char"), ("original", "x")):
            with pytest.raises(ValueError, match="Wrong value for Offset"):
                pretok.get_splits(*wrong)
    assert found[1] == found[0]


@pytest.mark.parametrize("seed", range(15))
def test_encodings_answer_alike(seed: int) -> None:
    """Every method of `Encoding`, on pairs with special tokens; then cut, filled up, merged, pickled."""
    source = random.Random(seed)
    first, second = calls.CORPUS[seed % 5], text(source)
    pairs = []
    for t, model in zip((theirs, ours), calls.models(source), strict=True):
        tokenizer = t.Tokenizer(model)
        tokenizer.pre_tokenizer = t.pre_tokenizers.WhitespaceSplit()
        tokenizer.post_processor = t.processors.BertProcessing(("</s>", 1), ("<s>", 0))
        pairs.append((tokenizer.encode(first, second), tokenizer.encode(second)))
    for place in range(len(pairs[0][0]) + 3):
        for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
            answers = [outcome(partial(getattr(one[0], name), place)) for one in pairs]
            assert answers[1] == answers[0], (name, place)
        for name in ("word_to_tokens", "word_to_chars", "char_to_token", "char_to_word"):
            for sequence in (0, 1):
                answers = [outcome(partial(getattr(one[0], name), place, sequence)) for one in pairs]
                assert answers[1] == answers[0], (name, place, sequence)
    length, stride, side = source.randint(1, 9), source.choice([0, 1]), source.choice(["left", "right"])
    for t, (one, other) in zip((theirs, ours), pairs, strict=True):
        if stride < length:
            one.truncate(length, stride, side)
        one.pad(12, direction=side, pad_id=5, pad_type_id=3, pad_token="#")
        other.set_sequence_id(1)
        assert plain(pickle.loads(pickle.dumps(one))) == plain(one)
        assert repr(t.Encoding()) == repr(theirs.Encoding())
    assert plain(pairs[1][0]) == plain(pairs[0][0])
    for growing in (True, False):
        merged = [
            t.Encoding.merge(list(pair), growing) for t, pair in zip((theirs, ours), pairs, strict=True)
        ]
        assert plain(merged[1]) == plain(merged[0])
        assert json.loads(merged[1].__getstate__()) == json.loads(merged[0].__getstate__())


ERRORS: list[Any] = [
    lambda t: t.pre_tokenizers.CharDelimiterSplit(""),
    lambda t: t.pre_tokenizers.Metaspace(replacement="ab"),
    lambda t: t.pre_tokenizers.Split(" ", "x"),
    lambda t: t.normalizers.Normalizer(),
    lambda t: t.trainers.Trainer(),
    lambda t: t.models.BPE({"a": 0}, [("a", "b")]),
    lambda t: t.models.BPE(vocab={"a": 0}),
    lambda t: t.models.BPE(dropout=2.0),
    lambda t: t.models.Unigram([("a", 0.0)], 3),
    lambda t: t.models.BPE({"a": 0}, [], unk_token="[U]").tokenize("ab"),
    lambda t: t.Tokenizer(t.models.BPE()).enable_truncation(2, stride=3),
    lambda t: t.Tokenizer(t.models.BPE()).enable_truncation(2, strategy="x"),
    lambda t: t.Tokenizer(t.models.BPE()).enable_truncation(2, direction="x"),
    lambda t: t.Tokenizer(t.models.BPE()).enable_padding(direction="x"),
    lambda t: t.Tokenizer(t.models.BPE()).add_tokens([3]),
    lambda t: t.Tokenizer(t.models.BPE()).add_tokens(("a",)),
    lambda t: t.Tokenizer(t.models.BPE()).encode(3),
    lambda t: t.Tokenizer(t.models.BPE()).encode(["a"]),
    lambda t: t.Tokenizer(t.models.BPE()).encode_batch(["a", 3]),
    lambda t: t.Tokenizer(t.models.BPE()).encode_batch("ab"),
    lambda t: t.Tokenizer(t.models.BPE()).encode_batch(3),
    lambda t: t.Tokenizer(t.models.BPE()).encode("a", is_pretokenized=True),
    lambda t: t.Tokenizer(t.models.BPE()).train([], t.trainers.UnigramTrainer()),
    lambda t: t.Tokenizer("x"),
    lambda t: setattr(t.Tokenizer(t.models.BPE()), "normalizer", 3),
    lambda t: t.processors.TemplateProcessing(single="[CLS] $$ [SEP]"),
    lambda t: t.processors.TemplateProcessing(single="[CLS] $A: [SEP]"),
    lambda t: t.processors.TemplateProcessing(single=["[CLS]"]),
    lambda t: t.processors.TemplateProcessing(single="$A", pair="$A"),
    lambda t: t.normalizers.Replace("a", "b").pattern,
    lambda t: t.normalizers.Sequence([3]),
    lambda t: t.normalizers.Sequence([t.normalizers.NFC()])[1],
    lambda t: t.Tokenizer(t.models.BPE()).post_process(3),
    lambda t: t.normalizers.unicode_normalizer_from_str("nfx"),
    lambda t: t.Encoding().truncate(2, 1, "up"),
    lambda t: t.Encoding().truncate(2, -1),
    lambda t: t.Encoding().token_to_chars(-1),
    lambda t: t.Encoding().char_to_token(0, -1),
    lambda t: t.AddedToken(3),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_of_the_same_kind_and_words(call: Any) -> None:
    """The same type and the same message."""
    raised = []
    for t in (theirs, ours):
        with pytest.raises(Exception) as error:  # noqa: PT011 (the type is compared)
            call(t)
        raised.append((type(error.value), str(error.value)))
    assert raised[1] == raised[0]


def test_what_panics_there_raises_here() -> None:
    """A prefix that is longer than a token, a stride as long as the text."""
    with pytest.raises(Exception, match="does not begin with"):
        ours.models.BPE({"a": 0, "b": 1}, [("a", "b")], continuing_subword_prefix="##")
    encoding = ours.Tokenizer(ours.models.BPE({"a": 0}, [])).encode("aaa")
    with pytest.raises(ValueError, match="strictly less"):
        encoding.truncate(2, 2)
    tokenizer = ours.Tokenizer(ours.models.BPE())
    tokenizer.post_processor = ours.processors.BertProcessing(("a", 1), ("b", 0))
    with pytest.raises(ValueError, match="effective max length"):
        tokenizer.enable_truncation(1)


def test_a_change_of_a_component_is_followed() -> None:
    """In place: of a component, of a part of a sequence, of the model."""
    for t in (theirs, ours):
        tokenizer = t.Tokenizer(t.models.BPE({"a": 0, "A": 1, "b": 2, "[U]": 3, "ab": 4}, [("a", "b")]))
        tokenizer.normalizer = t.normalizers.Sequence([t.normalizers.Strip(), t.normalizers.Prepend("A")])
        assert tokenizer.encode(" ab").tokens == ["A", "ab"]
        tokenizer.normalizer[1].prepend = "b"
        assert tokenizer.encode(" ab").tokens == ["b", "ab"]
        tokenizer.normalizer[1] = t.normalizers.Lowercase()
        assert tokenizer.encode(" AB").tokens == ["ab"]
        tokenizer.model.unk_token = "[U]"
        assert tokenizer.encode("ab?").tokens == ["ab", "[U]"]
        tokenizer.add_tokens(["zz"])
        assert tokenizer.encode("abzz").ids == [4, 5]
        tokenizer.model = t.models.BPE({"z": 0}, [])
        assert tokenizer.encode("zab").tokens == ["z"]


def test_threads_and_tasks_share_a_tokenizer() -> None:
    """Encoding while components are set; the asynchronous methods."""
    tokenizer = ours.Tokenizer(ours.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))

    def encode(number: int) -> list[list[int]]:
        tokenizer.normalizer = ours.normalizers.NFC() if number % 2 else None
        return [one.ids for one in tokenizer.encode_batch(["ab", "ba"] * 5)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encode, range(40)))
    assert all(one == [[2], [1, 0]] * 5 for one in found)

    async def tasks() -> list[Any]:
        return await asyncio.gather(
            tokenizer.async_encode("ab"), tokenizer.async_encode_batch(["ab"]),
            tokenizer.async_encode_batch_fast(["ab"]), tokenizer.async_decode_batch([[2]]),
        )  # fmt: skip

    one, batch, fast, decoded = asyncio.run(tasks())
    assert one.ids == batch[0].ids == fast[0].ids == [2]
    assert decoded == ["ab"]


def test_copies_stand_alone() -> None:
    """A copy of a tokenizer, of a token, of a stream of decoding."""
    tokenizer = ours.Tokenizer(ours.models.BPE({"a": 0, "b": 1}, []))
    copied = copy.deepcopy(tokenizer)
    tokenizer.add_tokens(["c"])
    assert (tokenizer.get_vocab_size(), copied.get_vocab_size()) == (3, 2)
    token = ours.AddedToken("x", lstrip=True)
    assert copy.copy(token) == token
    assert token != ours.AddedToken("x")
    assert len({token, copy.copy(token)}) == 1
    stream = ours.decoders.DecodeStream([0])
    assert stream.step(tokenizer, 1) == " b"
    assert [copy.copy(stream).step(tokenizer, [0, 1]), copy.deepcopy(stream).step(tokenizer, 0)] == [
        " a b",
        " a",
    ]
