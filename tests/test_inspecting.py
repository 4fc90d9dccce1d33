"""What `syllabary.inspecting` tells, against definitions: rows, ranks, trees, figures, steps.

Tokenizers of every model, trained here, and published files. Leaves out: how it looks (`test_cli_inspect`).
"""

from __future__ import annotations

import json
import unicodedata
import warnings
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex
from hf_configurations import combinations
from published import cl100k, gpt2

import syllabary
from syllabary import inspecting
from syllabary.errors import (
    EarlyStopWarning,
    SpecialTokenError,
    TextError,
    UnknownSymbolError,
    VocabularyError,
)
from syllabary.inspecting import Making
from syllabary.inspecting.reading import MOST_STEPPED
from syllabary.inspecting.scripts import PARTIAL, SEVERAL, spelled
from syllabary.spec import SplitSpec, Step, TokenizerSpec
from syllabary.surgery import unreachable

TEXTS = [
    "low lower lowest newer newest widest 12 345 <|end|> é 漢字, e\u0301\n",
    "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος, ἣ μυρί᾽ Ἀχαιοῖς ἄλγε᾽ ἔθηκε\n",
    "道可道，非常道。名可名，非常名。\n",
]
KINDS: dict[str, dict[str, Any]] = {
    "bytes": {"vocab_size": 400, "special_tokens": ["<|end|>"]},
    "bytes of huggingface": {"like": "huggingface", "vocab_size": 300},
    "characters": {"unit": "char", "vocab_size": 160},
    "characters with a mark": {
        "unit": "char",
        "end_of_word": "</w>",
        "split": "whitespace",
        "vocab_size": 340,
        "fallback": True,
    },
    "words": {"unit": "word", "split": "whitespace", "num_merges": 9, "fallback": True},
    "sentencepiece": {"like": "sentencepiece", "vocab_size": 120, "normalize": None},
    "unigram": {"model": "unigram", "vocab_size": 320},
    "wordpiece": {"model": "wordpiece", "vocab_size": 400},
    "wordlevel": {"model": "wordlevel", "vocab_size": 60},
}
MERGING = [name for name in KINDS if name not in ("unigram", "wordpiece", "wordlevel")]


@cache
def trained(kind: str) -> Making:
    options = {name: value for name, value in KINDS[kind].items() if value is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyStopWarning)
        return Making(syllabary.train(TEXTS * 5, **options))


def of_ranks(merges: Making) -> Making:
    """The same tokens with ranks alone, whole pieces at once: as a rank file."""
    spec = merges.spec
    fields = ("byte", spec.split, spec.tokens, spec.alphabet, None, spec.special_tokens)
    return Making(syllabary.Tokenizer(TokenizerSpec(*fields, whole_pieces=True)))


# ---- rows ----


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*TEXTS, "", "lowest<|end|>low"])
def test_rows_are_what_encode_and_offsets_say(kind: str, text: str) -> None:
    making = trained(kind)
    tok = making.tok
    rows = inspecting.rows(making, text, "allow")
    assert [row.id for row in rows] == tok.encode(text, special="allow")
    assert [row.token for row in rows] == tok.tokens(text, special="allow")
    assert [[row.start, row.end] for row in rows] == tok.offsets(text, "byte", "allow").tolist()
    assert [[row.first, row.last] for row in rows] == tok.offsets(text, "char", "allow").tolist()
    pieces = [row.piece for row in rows]
    assert pieces == sorted(pieces)
    assert {*pieces} == {*range(max(pieces, default=-1) + 1)}


@pytest.mark.parametrize("kind", ["bytes", "bytes of huggingface", "characters"])
def test_rows_joined_are_the_text(kind: str) -> None:
    for text in TEXTS:
        rows = inspecting.rows(trained(kind), text, "text")
        assert b"".join(row.token for row in rows).decode() == text
        assert [text.encode()[row.start : row.end] for row in rows] == [row.token for row in rows]


def test_pieces_are_those_of_the_split() -> None:
    making = trained("bytes")
    for text in TEXTS:
        rows = inspecting.rows(making, text, "text")
        joined: dict[int, bytes] = {}
        for row in rows:
            joined[row.piece] = joined.get(row.piece, b"") + row.token
        assert making.spec.split.pattern is not None
        found = [match[0] for match in regex.finditer(making.spec.split.pattern, text)]
        assert [piece.decode() for piece in joined.values()] == found


@pytest.mark.parametrize("kind", KINDS)
def test_totals_are_sums(kind: str) -> None:
    for text in TEXTS:
        rows = inspecting.rows(trained(kind), text, "text")
        totals = inspecting.totals(text, rows)
        assert totals["bytes"] == len(text.encode())
        assert totals["characters"] == len(text)
        assert totals["tokens"] == trained(kind).tok.count(text, special="text")
        assert totals["bytes_per_token"] == (len(text.encode()) / len(rows) if rows else None)
    assert inspecting.totals("", inspecting.rows(trained(kind), ""))["bytes_per_token"] is None


def test_a_special_token_is_refused_as_encode_does() -> None:
    with pytest.raises(SpecialTokenError, match="end"):
        inspecting.rows(trained("bytes"), "a<|end|>")


def test_dropout_of_the_file_is_left_out() -> None:
    plain = trained("bytes")
    making = Making(syllabary.Tokenizer(replace(plain.spec, dropout=0.9)))
    expected = plain.tok.encode(TEXTS[1])
    assert all([row.id for row in inspecting.rows(making, TEXTS[1])] == expected for _ in range(5))


# ---- ranks and trees ----


@pytest.mark.parametrize("kind", ["bytes", "bytes of huggingface", "characters", "words"])
def test_ranks_are_the_order_of_merges(kind: str) -> None:
    making = trained(kind)
    for rank, (left, right) in enumerate(making.tok.merges):
        made = making.tok.token_to_id(left + right)
        first = next(at for at, pair in enumerate(making.tok.merges) if pair[0] + pair[1] == left + right)
        assert making.rank(made) == first <= rank
    assert {one for one in making.tok.vocab if making.kind(one) == "unit"} == making.units


@pytest.mark.parametrize("kind", KINDS)
def test_every_tree_ends_in_units_that_joined_are_the_token(kind: str) -> None:
    making = trained(kind)
    mark = (making.spec.continuing_prefix or "").encode()
    for token_id, token in making.tok.vocab.items():
        nodes = making.tree(token_id)
        assert nodes[0].id == token_id
        leaves = [node for node in nodes if node.leaf]
        assert b"".join(node.token.removeprefix(mark) for node in leaves) == token.removeprefix(mark)
        for at, node in enumerate(nodes):
            below = []
            for later in nodes[at + 1 :]:
                if later.depth <= node.depth:
                    break
                below.append(later)
            parts = [one for one in below if one.depth == node.depth + 1]
            assert len(parts) == (0 if node.leaf else 2)
            if parts:
                assert parts[0].token + parts[1].token.removeprefix(mark) == node.token
            if node.rank is not None:
                assert making.tok.merges[node.rank] == (parts[0].token, parts[1].token)


@pytest.mark.parametrize("kind", MERGING)
def test_what_is_made_of_a_token_has_it_as_a_part(kind: str) -> None:
    making = trained(kind)
    users: dict[int, set[int]] = {}
    for token_id in making.tok.vocab:
        for node in making.tree(token_id)[1:]:
            if node.depth == 1 and node.id is not None:
                users.setdefault(node.id, set()).add(token_id)
    for token_id in making.tok.vocab:
        used = making.used_in(token_id)
        assert used is not None
        assert {*used} == users.get(token_id, set())
        told = making.token(token_id)["used_in"]
        assert isinstance(told, dict)
        assert (told["count"], len(told["first"])) == (len(used), min(len(used), 10))


@pytest.mark.parametrize("kind", ["unigram", "wordpiece", "wordlevel"])
def test_without_merges_nothing_is_made_of_a_token(kind: str) -> None:
    making = trained(kind)
    assert all(making.used_in(one) is None and len(making.tree(one)) == 1 for one in making.tok.vocab)
    with pytest.raises(VocabularyError, match="no merges"):
        inspecting.steps(making, "low")


def test_a_token_that_only_the_list_makes() -> None:
    spec = TokenizerSpec(
        "byte",
        SplitSpec(None),
        {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc", 5: b"abc"},
        {b"a": 0, b"b": 1, b"c": 2},
        ((0, 1, 3), (1, 2, 4), (0, 4, 5)),
    )
    making = Making(syllabary.Tokenizer(spec))
    assert [node.token for node in making.tree(5)] == [b"abc", b"a", b"bc", b"b", b"c"]
    assert making.token(5)["alone"] == [3, 2]
    assert unreachable(making.tok) == {5: "merges"}


# ---- steps ----


@pytest.mark.parametrize("kind", MERGING)
@pytest.mark.parametrize("text", [*TEXTS, "", "<|end|>", "low"])
def test_steps_are_those_of_the_tokenizer(kind: str, text: str) -> None:
    making = trained(kind)
    expected = list(making.tok.steps(text, "allow"))
    pieces = inspecting.steps(making, text, "allow")
    assert [states[0].ids for states in pieces] == expected[0]
    assert [states[-1].ids for states in pieces] == expected[-1]
    assert sum(len(states) - 1 for states in pieces) == len(expected) - 1
    for states in pieces:
        for before, state in pairwise(states):
            changed = list(before.ids)
            assert tuple(changed[state.at : state.at + len(state.taken)]) == state.taken
            changed[state.at : state.at + len(state.taken)] = state.made
            assert changed == state.ids
            if state.rank is not None:
                left, right = (making.tok.vocab[one] for one in state.taken)
                assert making.tok.merges[state.rank] == (left, right)


def test_a_whole_piece_is_told() -> None:
    making = of_ranks(trained("bytes"))
    word = max((one for one in making.tok.vocab.values() if one.strip().isalpha()), key=len).decode()
    assert making.tok.encode(word) == [making.tok.token_to_id(word)]
    first, last = inspecting.steps(making, word)[0]
    assert (len(first.ids), last.whole, last.rank, last.taken) == (len(word), True, None, tuple(first.ids))


def test_steps_of_a_long_text_are_refused() -> None:
    inspecting.steps(trained("bytes"), "a " * (MOST_STEPPED // 2))
    with pytest.raises(TextError, match="give a part of it"):
        inspecting.steps(trained("bytes"), "a" * (MOST_STEPPED + 1))


# ---- figures ----


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_figures_are_the_vocabulary(kind: str) -> None:
    making = trained(kind)
    check_figures(making)


def check_figures(making: Making) -> None:
    found: dict[str, Any] = inspecting.figures(making)
    size = making.tok.vocab_size
    assert found["named"] + sum(found["lengths"].values()) == size
    assert found["named"] + sum(found["scripts"].values()) == size
    apart = {*making.spec.special_tokens.values(), *making.spec.added_tokens.values()}
    plain = {one: token for one, token in making.tok.vocab.items() if one not in apart}
    for length, number in found["lengths"].items():
        assert number == sum(len(token) == length for token in plain.values())
    assert found["longest"][0]["length"] == max(map(len, plain.values()))
    told = found["unreachable"]
    if making.spec.model == "bpe":
        assert {one["id"]: one["why"] for one in told["tokens"]} == unreachable(making.tok)
        assert told["count"] == len(told["tokens"])
    else:
        assert making.spec.model in told["reason"]
    overview: dict[str, Any] = inspecting.overview(making)
    assert (overview["vocab_size"], overview["model"]) == (size, making.spec.model)
    if overview["merges"] is not None:
        assert overview["merges"] == len(making.tok.merges)


def test_scripts_are_those_of_unicode() -> None:
    for text, script in (
        ("word", "Latin"),
        (" λόγος", "Greek"),
        ("e\u0301", "Latin"),
        ("12, !", "Common"),
        ("道可", "Han"),
        ("aλ", SEVERAL),
        ("", "Common"),
        ("\ue000", "Unknown"),
        (None, PARTIAL),
    ):
        assert inspecting.script_of(text) == script
    for code in range(0, 0x3000, 7):
        char = chr(code)
        name = inspecting.script_of(char)
        if unicodedata.category(char) != "Cn" and name not in ("Common", "Unknown"):
            assert regex.match(rf"\p{{Script={name}}}", char), hex(code)


def test_marks_are_no_text() -> None:
    making = trained("characters with a mark")
    scripts: dict[str, Any] = inspecting.figures(making)["scripts"]  # type: ignore[assignment]
    assert scripts["Greek"] > 20
    assert SEVERAL not in scripts
    spec = TokenizerSpec(
        "char",
        SplitSpec(None),
        {0: "Ġλ".encode()},
        {},
        None,
        model="wordlevel",
        decoder=(Step("ByteLevel", {}),),
    )
    assert spelled(spec)
    assert inspecting.text_of(spec, "ĠÎ»".encode()) == " λ"
    assert inspecting.text_of(spec, "Î".encode()) is None


def test_files_of_huggingface_in_many_shapes(tmp_path: Path, prove: bool) -> None:
    path = tmp_path / "tokenizer.json"
    for number, document in enumerate(combinations()):
        if number % (1 if prove else 41):
            continue
        path.write_text(json.dumps(document), encoding="utf-8")
        making = Making(syllabary.load(path))
        found: dict[str, Any] = inspecting.figures(making)
        assert found["named"] + sum(found["lengths"].values()) == making.tok.vocab_size
        assert found["named"] + sum(found["scripts"].values()) == making.tok.vocab_size
        json.dumps([inspecting.overview(making), *map(making.token, making.tok.vocab)])
        for text in ("low wide", ""):
            try:
                ids = making.tok.encode(text, special="allow", dropout=0.0)
            except UnknownSymbolError:
                continue
            assert [row.id for row in inspecting.rows(making, text, "allow")] == ids
            states = inspecting.steps(making, text, "allow")
            assert [token_id for piece in states for token_id in piece[-1].ids] == ids


# ---- where it comes from ----


def test_a_source_is_a_file_a_folder_a_name_or_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    trained("bytes").tok.save(path)
    monkeypatch.setattr("syllabary.hub.fetch", lambda name: path)
    told = {"format": "huggingface", "file": str(path), "published": None}
    assert inspecting.source_of(str(path)) == inspecting.source_of(str(tmp_path)) == told
    assert inspecting.source_of("nobody/nothing") == {**told, "published": "nobody/nothing"}
    assert inspecting.source_of("gpt2") == {"format": "tiktoken", "file": None, "published": "gpt2"}


# ---- published files ----


def test_gpt2_and_cl100k(shared: Path) -> None:
    for spec in (gpt2(shared), cl100k(shared)):
        making = Making(syllabary.Tokenizer(spec))
        check_figures(making)
        for rank in (0, 1, 7_000, 49_999):
            made = making.merges[rank][2]
            assert making.rank(made) == rank
            left, right = making.tok.merges[rank]
            nodes = making.tree(made)
            assert nodes[0].token == left + right == b"".join(node.token for node in nodes if node.leaf)
            assert [node.token for node in nodes if node.depth == 1] == [left, right]
        rows = inspecting.rows(making, TEXTS[0] * 20, "text")
        assert b"".join(row.token for row in rows).decode() == TEXTS[0] * 20


def test_mistral(shared: Path) -> None:
    making = Making(syllabary.load(shared / "vocabs" / "mistral_v1.model"))
    check_figures(making)
    token_id = making.tok.token_to_id("▁hello" if "▁hello".encode() in making.tok.vocab.values() else "▁the")
    nodes = making.tree(token_id)
    assert len(nodes) > 3
    assert b"".join(node.token for node in nodes if node.leaf) == making.tok.vocab[token_id]
    assert nodes[0].score == making.score(token_id)
    pieces = inspecting.steps(making, "hello wörld 漢字")
    assert pieces[0][-1].ids == making.tok.encode("hello wörld 漢字")
    assert all(state.score is not None for state in pieces[0][1:])
