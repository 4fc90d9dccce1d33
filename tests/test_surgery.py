"""Surgery: what is added, removed and extended, the maps for an embedding matrix, and tokens never produced.

Leaves out: writing the result (test_formats) and the command line (test_cli_surgery).
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import tokenizers.models
import tokenizers.pre_tokenizers
import tokenizers.trainers
from hypothesis import given
from hypothesis import strategies as st

import syllabary
from syllabary import spelling, splits, surgery
from syllabary._engine import Split
from syllabary.errors import UnknownTokenError, VocabularyError
from syllabary.framing import Framing, Padding, TemplateProcessing, Truncation
from syllabary.spec import SplitSpec, TokenizerSpec

LOW = ["low lower lowest newer newest widest"] * 5
GREEK = ["μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην"] * 5


@pytest.fixture(scope="module")
def tok() -> syllabary.Tokenizer:
    return syllabary.train(LOW, vocab_size=275, special_tokens=["<|end|>"])


def embed(change: surgery.Surgery, old: np.ndarray) -> np.ndarray:
    """What a user does with the maps: rows move, new rows are the mean of the rows they are made of."""
    new = np.zeros((max(change.tokenizer.vocab) + 1, old.shape[1]))
    kept = np.flatnonzero(change.new_ids >= 0)
    new[change.new_ids[kept]] = old[kept]
    for token_id, parts in change.made_of.items():
        new[token_id] = old[list(parts)].mean(axis=0)
    return new


def test_added_tokens_take_the_next_ids_and_match_as_a_whole(tok: syllabary.Tokenizer) -> None:
    change = surgery.add(tok, ["lowest of", "<x>"])
    new = change.tokenizer
    assert [new.token_to_id(text) for text in ("lowest of", "<x>")] == [275, 276]
    assert new.tokens("the lowest of <x>") == [b"t", b"h", b"e", b" ", b"lowest of", b" ", b"<x>"]
    assert change.made_of[275] == tuple(tok.encode("lowest of"))
    assert change.new_ids.tolist() == list(range(275))


def test_a_token_of_symbols_that_are_none_is_made_of_nothing() -> None:
    tok = syllabary.train(["low lower lowest"] * 3, unit="char", num_merges=3)
    change = surgery.add(tok, ["<pad>", "low"], special=True)
    pad, low = (change.tokenizer.special_tokens[name] for name in ("<pad>", "low"))
    assert change.made_of == {pad: (), low: tuple(tok.encode("low"))}
    assert change.tokenizer.encode("<pad>lower", special="allow") == [pad, low, *tok.encode("er")]


def test_an_added_special_token_follows_the_policy(tok: syllabary.Tokenizer) -> None:
    new = surgery.add(tok, ["<pad>"], special=True).tokenizer
    assert new.encode("<pad>", special="allow") == [275]
    assert new.encode("<pad>", special="text") == tok.encode("<pad>")
    with pytest.raises(syllabary.SpecialTokenError):
        new.encode("<pad>")


@pytest.mark.parametrize("tokens", [["<|end|>"], [""], ["a b", "a b"]])
def test_a_token_is_added_once(tok: syllabary.Tokenizer, tokens: list[str]) -> None:
    with pytest.raises(VocabularyError, match=r"there already|is empty"):
        surgery.add(tok, tokens)


@pytest.mark.parametrize("text", [" lowest", "low", "a"])
def test_an_ordinary_token_gets_no_second_id(tok: syllabary.Tokenizer, text: str) -> None:
    """Of a special token the text stays ordinary; `test_a_token_of_symbols_that_are_none…` has one."""
    token_id = tok.token_to_id(text.encode())
    with pytest.raises(VocabularyError, match=f"token {text!r} is there already, with id {token_id}: leave"):
        surgery.add(tok, ["<x>", text])
    assert surgery.add(tok, [text], special=True).tokenizer.spec.tokens == tok.spec.tokens


def test_a_byte_is_no_token_of_its_text(shared: Path) -> None:
    """`<0x0A>` stands for the byte; a line end may be a token beside it."""
    model = syllabary.load(shared / "vocabs" / "mistral_v1.model")
    assert surgery.add(model, ["\n"]).tokenizer.encode("a\nb")[1] == model.vocab_size


def test_a_leaf_is_removed_and_ids_close_up(tok: syllabary.Tokenizer) -> None:
    leaf = tok.token_to_id(b" lowest")
    change = surgery.remove(tok, np.array([leaf]))
    assert b" lowest" not in change.tokenizer.vocab.values()
    assert change.new_ids[leaf] == surgery.REMOVED
    assert change.new_ids[leaf + 1 :].tolist() == list(range(leaf, 274))
    assert change.tokenizer.decode(change.tokenizer.encode("a lowest")) == "a lowest"


def test_what_only_comes_from_a_removed_token_is_named_or_goes_too(tok: syllabary.Tokenizer) -> None:
    with pytest.raises(VocabularyError, match=r"only come about through these: b' newer', b' newest'"):
        surgery.remove(tok, [b" newe"])
    change = surgery.remove(tok, [b" newe"], cascade=True, renumber=False)
    left = set(change.tokenizer.vocab.values())
    assert {b" newe", b" newer", b" newest"}.isdisjoint(left)
    assert all(change.tokenizer.vocab[old] == tok.vocab[old] for old in change.tokenizer.vocab)
    assert surgery.unreachable(change.tokenizer) == {}


def test_what_cannot_be_removed(tok: syllabary.Tokenizer) -> None:
    with pytest.raises(VocabularyError, match="initial symbol"):
        surgery.remove(tok, [b"a"])
    with pytest.raises(UnknownTokenError):
        surgery.remove(tok, ["no such token"])
    with pytest.raises(UnknownTokenError):
        surgery.remove(tok, [10_000])
    special = surgery.remove(tok, ["<|end|>"])
    assert special.tokenizer.special_tokens == {}
    assert special.tokenizer.encode("<|end|>") == tok.encode("<|end|>", special="text")


def test_a_byte_of_a_unigram_is_not_removed() -> None:
    """It spells what is no piece; where nothing is spelled with bytes, it is a token as any other."""
    options = {"byte_fallback": True}
    model = syllabary.train(GREEK, 282, model="unigram", like="sentencepiece", options=options)
    (token_id,) = (one for one, byte in model.spec.byte_tokens.items() if byte == 0xFF)
    with pytest.raises(VocabularyError, match=rf"id {token_id} is the token of a byte, <0xFF>: characters"):
        surgery.remove(model, [token_id])
    idle = syllabary.Tokenizer(replace(model.spec, fallback=False))
    assert token_id not in surgery.remove(idle, [token_id], renumber=False).tokenizer.vocab


def test_extending_gives_the_other_tokens_after_its_own(tok: syllabary.Tokenizer) -> None:
    greek = syllabary.train(GREEK, vocab_size=300)
    change = surgery.extend(tok, greek)
    new = change.tokenizer
    assert new.vocab_size > 300
    assert new.encode(LOW[0]) == tok.encode(LOW[0])
    assert len(new.encode(GREEK[0])) == len(greek.encode(GREEK[0])) < len(tok.encode(GREEK[0]))
    assert surgery.unreachable(new) == {}
    for token_id, parts in change.made_of.items():
        assert b"".join(tok.vocab[part] for part in parts) == new.vocab[token_id]


def test_extending_needs_the_same_unit(tok: syllabary.Tokenizer) -> None:
    characters = syllabary.train(LOW, vocab_size=20, unit="char")
    with pytest.raises(VocabularyError, match="same unit"):
        surgery.extend(tok, characters)


def test_an_embedding_matrix_is_remapped(tok: syllabary.Tokenizer) -> None:
    old = np.random.default_rng(0).normal(size=(275, 4))
    change = surgery.remove(tok, [b" lowest"])
    new = embed(change, old)
    for token_id, token in change.tokenizer.vocab.items():
        assert (new[token_id] == old[tok.token_to_id(token)]).all()
    longer = surgery.add(tok, ["widest lowest"])
    parts = tok.encode("widest lowest")
    assert np.allclose(embed(longer, old)[275], old[parts].mean(axis=0))


def test_tokens_that_merges_never_make() -> None:
    """`bc` comes before `ab`, so that `ab` and `c` never stand side by side."""
    tokens = dict(enumerate([b"a", b"b", b"c", b"bc", b"ab", b"abc", b"bca"]))
    alphabet = {b"a": 0, b"b": 1, b"c": 2}
    merges = ((1, 2, 3), (0, 1, 4), (4, 2, 5), (3, 0, 6))
    spec = TokenizerSpec("char", SplitSpec(None), tokens, alphabet, merges)
    assert surgery.unreachable(syllabary.Tokenizer(spec)) == {5: "merges"}


def test_tokens_of_characters_that_are_no_tokens() -> None:
    """By scores `x` and `y` join though neither is a token; no two `z` do, and nothing spells one."""
    tokens = {0: b"a", 1: b"xy", 2: b"xyx", 3: b"zzz"}
    scores = {0: -1.0, 1: -2.0, 2: -3.0, 3: -4.0}
    found = syllabary.Tokenizer(
        TokenizerSpec("char", SplitSpec(None), tokens, {b"a": 0}, None, scores=scores)
    )
    assert found.encode("xyxa") == [2, 0]
    assert surgery.unreachable(found) == {3: "merges"}


def test_tokens_that_the_split_always_cuts(tok: syllabary.Tokenizer) -> None:
    joined = syllabary.train(["ab ab ab"], vocab_size=258, split=None)
    assert b" ab" in joined.vocab.values() or b"b " in joined.vocab.values()
    split = replace(joined.spec, split=SplitSpec(r"\w+|\s"))
    cut = surgery.unreachable(syllabary.Tokenizer(split))
    assert cut
    assert set(cut.values()) == {"split"}
    assert all(b" " in joined.vocab[token_id] for token_id in cut)


@given(st.lists(st.text("abcdé ", max_size=30), min_size=1, max_size=6), st.data())
def test_reachable_tokens_are_those_that_text_is_encoded_to(texts: list[str], data: st.DataObject) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", syllabary.EarlyStopWarning)
        trained = syllabary.train(["abcd é", *texts], num_merges=20, split=None, min_frequency=1)
    never = surgery.unreachable(trained)
    text = data.draw(st.text("abcdé ", max_size=60))
    assert not set(trained.encode(text)) & set(never)
    for token_id, token in trained.spec.tokens.items():
        if token_id not in never and token_id not in trained.spec.alphabet.values():
            assert speaks(trained, token_id, token)


def speaks(tok: syllabary.Tokenizer, token_id: int, token: bytes) -> bool:
    """Whether a token of whole characters is its own encoding."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return True
    return tok.encode(text) == [token_id]


def prefixed(text: str, size: int) -> syllabary.Tokenizer:
    """A tokenizer of Hugging Face's library with `##` and an unknown token, opened here."""
    peer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    peer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False, continuing_subword_prefix="##"
    )
    peer.train_from_iterator([text], trainer)
    with tempfile.TemporaryDirectory() as folder:
        peer.save(f"{folder}/tokenizer.json")
        return syllabary.load(folder)


def test_reachable_tokens_with_a_prefix_and_an_unknown_token() -> None:
    tok = prefixed(LOW[0] * 3, 60)
    used = set(tok.encode(LOW[0]))
    assert used
    assert not used & set(surgery.unreachable(tok))


def test_extending_takes_over_letters_and_keeps_the_prefix() -> None:
    latin, greek = prefixed(LOW[0] * 3, 60), prefixed(GREEK[0] * 3, 120)
    change = surgery.extend(latin, greek)
    word = "θεὰ"
    unknown = latin.token_to_id("[UNK]")
    assert unknown in latin.encode(word)
    new = change.tokenizer.tokens(word)
    assert new == greek.tokens(word)
    assert change.tokenizer.encode(LOW[0]) == latin.encode(LOW[0])
    with pytest.raises(VocabularyError, match="continuing_prefix"):
        surgery.extend(latin, syllabary.train(LOW, vocab_size=20, unit="char"))


def test_arguments_of_the_wrong_type(tok: syllabary.Tokenizer) -> None:
    for wrong in ("low", None, [1.5]):
        with pytest.raises(TypeError):
            surgery.remove(tok, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("split", ["whitespace", "[a-z]+", "gpt2", "o200k"])
def test_what_a_split_leaves_of_tokens(split: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As asked of each context by itself; and no token is asked about twice."""
    trained = syllabary.train(["don't do it, 12 times; it's  so\n low"] * 4, num_merges=20, split="o200k")
    trained.save(tmp_path / "ranks.tiktoken")
    tok = syllabary.load(tmp_path / "ranks.tiktoken", split=split)
    pieces, leaves, asked = Split(tok.spec.split).pieces, Split(tok.spec.split).leaves, Counter[str]()
    around = list(product(spelling.NEIGHBOURS, repeat=2))

    class Counted:
        def __init__(self, _spec: object) -> None:
            pass

        def leaves(self, text: str, neighbours: list[str], inside: bool = False) -> int:
            asked[text] += 1
            return leaves(text, neighbours, inside)

    monkeypatch.setattr(spelling, "Split", Counted)
    found = surgery.unreachable(tok)
    never = set[int]()
    for token_id, token in tok.vocab.items():
        with suppress(UnicodeDecodeError):
            text = token.decode()
            contexts = [before + text + after for before, after in around]
            if not any(text in piece for context in contexts for piece in pieces(context)):
                never.add(token_id)
    assert {one for one, why in found.items() if why == "split"} == never
    assert bool(never) == (split != "o200k")  # that of its training
    assert set(asked.values()) == {1}


@pytest.mark.parametrize("split", ["whitespace", "[a-z]+", "gpt2", "o200k", "none"])
def test_the_most_that_a_context_does(split: str) -> None:
    """0: cut, 1: inside a piece, 2: a piece; each context by itself."""
    found = Split(splits.get(split))
    for text in ("low", " low", "'s", "12", "a b", "\n\n", "字", "x字", " 's"):
        for around in (["x"], ["", " "], spelling.NEIGHBOURS):
            pieces = [found.pieces(before + text + after) for before, after in product(around, repeat=2)]
            most = max(2 if text in some else 1 if any(text in one for one in some) else 0 for some in pieces)
            assert found.leaves(text, around) == most, text
            assert found.leaves(text, around, inside=True) in ({1, 2} if most else {0}), text


# ---- what is carried ----


def framed() -> syllabary.Tokenizer:
    """With a template, padding, roles, and an end that comes before what is removed."""
    tok = syllabary.train(LOW, vocab_size=270, special_tokens=["<x>", "<s>", "</s>"])
    ids = tok.special_tokens
    framing = Framing(
        post_processor=(TemplateProcessing.of("<s> $A </s>", "<s> $A </s> $B:1 </s>:1", ids),),
        truncation=Truncation(max_length=9),
        padding=Padding(pad_id=ids["</s>"], pad_token="</s>"),
    )
    return tok.with_framing(framing).with_settings(chat_template="{{ bos_token }}", bos_token="<s>")


@pytest.mark.parametrize("renumber", [True, False])
def test_what_is_carried_follows_its_ids(renumber: bool) -> None:
    tok = framed()
    change = surgery.remove(tok, ["<x>"], renumber=renumber)
    new, ids = change.tokenizer, change.tokenizer.special_tokens
    assert change.losses == ()
    assert (ids == {"<s>": 267, "</s>": 268}) is renumber
    ends = TemplateProcessing.of("<s> $A </s>", "<s> $A </s> $B:1 </s>:1", ids)
    padding = Padding(pad_id=ids["</s>"], pad_token="</s>")
    assert new.framing == Framing((ends,), Truncation(max_length=9), padding)
    assert new.encode_full("low").ids == [ids["<s>"], *tok.encode("low"), ids["</s>"]]
    assert new.settings == tok.settings
    shorter = surgery.truncate(tok, 265)
    assert shorter.losses == ()
    assert shorter.tokenizer.settings == tok.settings
    assert shorter.tokenizer.framing == tok.truncate(265).framing
    assert shorter.tokenizer.encode_full("low").tokens == tok.encode_full("low").tokens


def test_what_needs_a_token_that_is_gone_is_said() -> None:
    change = surgery.remove(framed(), ["<s>"])
    new = change.tokenizer
    assert new.framing == Framing(
        truncation=Truncation(max_length=9), padding=Padding(pad_id=268, pad_token="</s>")
    )
    assert new.settings == replace(framed().settings, roles={})
    assert [loss.split(",")[0] for loss in change.losses] == [
        "'post_processor'",
        "'tokenizer_config.json: bos_token'",
    ]
    model = syllabary.train(LOW, 30, like="sentencepiece")
    found = surgery.remove(model, ["▁lo".encode()])
    assert found.losses == ("What only sentencepiece holds beside the tokenizer is lost; no id changes.",)
    assert surgery.remove(model, []).tokenizer.spec == model.spec


def test_truncating_warns_of_what_is_gone(tok: syllabary.Tokenizer) -> None:
    """The last token goes, and with it the template that names it."""
    template = TemplateProcessing.of("$A end", "$A $B end", {"end": max(tok.spec.tokens)})
    framed = tok.with_framing(Framing(post_processor=(template,)))
    losses = surgery.truncate(framed, 274).losses
    assert losses == ("What only huggingface holds beside the tokenizer is lost; no id changes.",)
    with pytest.warns(syllabary.LossWarning) as told:
        assert framed.truncate(274).framing == Framing()
    assert [(str(one.message), one.filename) for one in told] == [(losses[0], __file__)]


def test_what_files_carry_follows_its_ids() -> None:
    tok = syllabary.train(LOW, vocab_size=270, special_tokens=["<x>", "<s>", "</s>"])
    decoder = {str(one): {"content": text} for text, one in tok.special_tokens.items()}
    config = {"added_tokens_decoder": decoder, "extra_special_tokens": ["<x>", "<s>"], "padding_side": "left"}
    processors = [{"type": "BertProcessing", "sep": ["</s>", 269], "cls": ["<s>", 268]}]
    carried = {
        "gguf": {"ggml.bos_token_id": 268, "ggml.eos_token_id": 267, "ggml.eog_token_ids": [269]},
        "huggingface": {"post_processor": {"type": "Sequence", "processors": processors}, "model_size": 9},
        "transformers": {
            "tokenizer_config.json": json.dumps(config),
            "added_tokens.json": json.dumps(tok.special_tokens),
        },
        "subword-nmt": {"header": "#version: 0.2\n", "duplicates": [[1, 0]], "merges": 9},
        "tekken": {"config.version": "v3"},
    }
    change = surgery.remove(syllabary.Tokenizer(replace(tok.spec, carried=carried)), ["<x>"])
    found: Any = change.tokenizer.spec.carried
    assert found["gguf"] == {"ggml.bos_token_id": 267, "ggml.eog_token_ids": [268]}
    processors = [{"type": "BertProcessing", "sep": ["</s>", 268], "cls": ["<s>", 267]}]
    assert found["huggingface"] == {"post_processor": {"type": "Sequence", "processors": processors}}
    files = {name: json.loads(text) for name, text in found["transformers"].items()}
    decoder = {"267": {"content": "<s>"}, "268": {"content": "</s>"}}
    assert files == {
        "tokenizer_config.json": {
            **config,
            "added_tokens_decoder": decoder,
            "extra_special_tokens": ["<s>"],
        },
        "added_tokens.json": {"<s>": 267, "</s>": 268},
    }
    assert (found["subword-nmt"], found["tekken"]) == (
        {"header": "#version: 0.2\n"},
        {"config.version": "v3"},
    )
    assert [loss.split(",")[0] for loss in change.losses] == ["'ggml.eos_token_id'", "'duplicates'"]
