"""Text in parts where all of it is one piece of Unigram: the score of what stands before is carried along.

The ids are those of the whole by sentencepiece, by the engine and by the specification. Leaves out: other
tokenizers (`test_stream`), and what `truncate_text` does besides (`test_fitting`).
"""

from __future__ import annotations

import json
import os
import random
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import sentencepiece_models as made
import streamed
from corpus_files import published
from hard_text import hard_texts
from test_stream import check
from tokenizers import Tokenizer as Peer
from unigram_models import NORMALIZERS, huggingface_file, nearly_as_good, sentencepiece_model

import syllabary
from syllabary import surgery
from syllabary.errors import UnknownSymbolError, VocabularyError
from syllabary.formats.sentencepiece import to_spec
from syllabary.formats.sentencepiece_proto import parse
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.cuts import Cuts
from syllabary.streaming.incremental import IncrementalEncoder, behind_score
from syllabary.tokenizer import Tokenizer

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
EDITS = {"as trained": lambda model, source: None, "user-defined": made.user_defined, "unused": made.unused}


def tokenizer_of(data: bytes) -> Tokenizer:
    """Of the bytes of a `.model`."""
    return Tokenizer(to_spec(parse(data, Path("t.model")), Path("t.model")))


def by_the_specification(tok: Tokenizer, parts: list[str]) -> list[int]:
    """The ids of a stream, as the specification encodes its parts."""
    reference, special = ReferenceTokenizer(tok.spec), "text"

    def behind(text: str, guard: str, score: float) -> tuple[list[int], float]:
        return reference.encode_behind(text, guard, score, special)

    cuts = Cuts(tok.spec, finds_special=False)
    encoder = IncrementalEncoder(cuts, behind_score(behind, list))
    return [ids for part in parts for ids in encoder.push(part)] + encoder.flush()


@pytest.mark.parametrize("number", range(40 if PROVE else 12))
@pytest.mark.parametrize("edit", EDITS)
def test_models_of_sentencepiece(tmp_path: Path, number: int, edit: str) -> None:
    """Over the options of its trainer: rules, spaces, bytes, pieces that are never cut, and unused ones."""
    model = made.model_of(sentencepiece_model(tmp_path, number))
    EDITS[edit](model, random.Random(number))
    data = model.write()
    peer, tok = sentencepiece.SentencePieceProcessor(model_proto=data), tokenizer_of(data)
    chance = random.Random(number)
    texts = [*made.corpus(number, 5), " ".join(made.corpus(number, 200)), *hard_texts(8, number)]
    for text in [*texts, *(streamed.drawn(chance, []) for _ in range(10))]:
        ids, size = peer.encode(text), chance.choice((1, 5, 50)) if len(text) < 400 else 300
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        assert [token for array in tok.encode_stream(parts, "text") for token in array] == ids, text
        if len(text) < 400:
            check(tok, text, chance)
            assert by_the_specification(tok, parts) == ids, text


@pytest.mark.parametrize("others", ["", "z", "ζéΩ", "é" + 12 * "Ω", 4 * "αβγδεζηθ"])
def test_ways_that_are_nearly_as_good(tmp_path: Path, others: str) -> None:
    """Which of them wins depends on the sum so far; in the longest text it is counted anew several times."""
    source = random.Random(4)
    data = nearly_as_good(tmp_path, others, source)
    peer, tok = sentencepiece.SentencePieceProcessor(model_proto=data), tokenizer_of(data)
    words = ["".join(source.choices("abcde" + others, k=source.randint(1, 9))) for _ in range(300)]
    for count in (1, 10, 100, 1000, 10_000, 40_000):
        text = " ".join(source.choices(words, k=count))
        ids, size = peer.encode(text), source.randint(50, 3000)
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        arrays = list(tok.encode_stream(parts))
        assert np.concatenate(arrays).tolist() == ids
        assert len(arrays) > 1 or len(parts) < 3
        if count == 1000:
            assert by_the_specification(tok, parts) == ids
        limit = source.randrange(len(ids) + 1)
        assert tok.count_until(text, limit) == (len(ids) if len(ids) <= limit else None)
    # And it does depend on it.
    scores = [-float(1 << power) - 1 / 3 for power in range(16)]
    behind = [tok._engine.encode_behind(f"a {' '.join(words)}", "a", score, "raise")[0] for score in scores]
    assert len({ids.tobytes() for ids in behind}) > 1


def test_ways_of_tokenizers_that_are_nearly_as_good() -> None:
    """Tenths, of which sums of 64 bits are rounded at nearly every step; no normalizer, and so no guard."""
    source = random.Random(1)
    names = {"".join(source.choices("abcdef", k=source.randint(2, 4))) for _ in range(80)} | set("abcdef ")
    vocab = [["<unk>", 0.0], *([name, -0.1 * len(name)] for name in sorted(names))]
    file = json.dumps({"version": "1.0", "model": {"type": "Unigram", "vocab": vocab, "unk_id": 0}})
    peer, tok = Peer.from_str(file), _from_json(file)
    for count in (1, 10, 100, 1000, 10_000, 60_000):
        text = "".join(source.choices("abcdef z", k=count))
        ids, size = peer.encode(text).ids, source.randint(20, 500)
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        assert [token for array in tok.encode_stream(parts) for token in array] == ids
        if count == 1000:
            assert by_the_specification(tok, parts) == ids
    # Without the sums it would be something else.
    apart = [tok._engine.encode_behind(text, "", score, "raise")[0].tobytes() for score in (0.0, -0.7, -1e3)]
    assert len(set(apart)) == 3


@pytest.mark.parametrize("normalizer", NORMALIZERS)
@pytest.mark.parametrize("byte_tokens", [0, 200, 256])
def test_models_of_tokenizers(normalizer: str, byte_tokens: int) -> None:
    """Sums of 64 bits, and unknown text that is looked up as a whole."""
    for number in range(20 if PROVE else 6):
        file = huggingface_file(normalizer, "none", byte_tokens, number)
        tok = _from_json(file)
        chance = random.Random(number)
        for text in [*made.corpus(number, 5), " ".join(made.corpus(number, 100)), *hard_texts(5, number)]:
            if len(text) < 400:
                check(tok, text, chance)
            parts = [text[at : at + 200] for at in range(0, len(text), 200)]
            assert [token for array in tok.encode_stream(parts, "text") for token in array] == tok.encode(
                text, "text"
            )


def _from_json(file: str) -> Tokenizer:
    from syllabary.formats.hf_read import read_document
    from syllabary.formats.strict_json import parse as parse_json

    return Tokenizer(read_document(parse_json(file.encode(), Path("tokenizer.json"))))


@pytest.mark.parametrize("language", ["english", "greek", "chinese", "multilingual"])
def test_real_text_is_held_for_a_few_characters(shared: Path, language: str) -> None:
    text = published(shared, language, -1 if PROVE else 400_000)
    lines = [line for line in text[:100_000].split("\n") if line.strip()]
    data = made.train_on(lines, model_type="unigram", vocab_size=4000, character_coverage=0.995)
    peer, tok = sentencepiece.SentencePieceProcessor(model_proto=data), tokenizer_of(data)
    ids, encoder, found, most = peer.encode(text), tok.encoder(), list[int](), 0
    for at in range(0, len(text), 5000):
        found += encoder.push(text[at : at + 5000])
        most = max(most, len(encoder.pending))
    assert found + encoder.flush() == ids
    assert most < 200


def test_each_step_of_an_appender_is_the_count_of_the_beginning(tmp_path: Path) -> None:
    data = nearly_as_good(tmp_path, "ζé", random.Random(1))
    tok, source = tokenizer_of(data), random.Random(2)
    parts = ["".join(source.choices("abcdeζé ", k=source.randint(1, 400))) for _ in range(150)]
    appender = tok.appender()
    for part, whole in zip(parts, accumulate(parts), strict=True):
        assert appender.append(part) == tok.count(whole)


@pytest.mark.parametrize("unit", ["char", "grapheme"])
def test_the_longest_beginning_and_end(tmp_path: Path, unit: str) -> None:
    data = nearly_as_good(tmp_path, "ζé", random.Random(1))
    tok, source = tokenizer_of(data), random.Random(3)
    for _ in range(60 if PROVE else 12):
        text = "".join(source.choices("abcdeζé  ", k=source.randint(0, 300)))
        limit = source.randrange(tok.count(text) + 2)
        fits = [end for end in range(len(text) + 1) if tok.count(text[:end]) <= limit]
        assert tok.truncate_text(text, limit, unit=unit) == text[: fits[-1]]
        fits = [at for at in range(len(text) + 1) if tok.count(text[at:]) <= limit]
        assert tok.truncate_text(text, limit, side="left", unit=unit) == text[fits[0] :]


def test_special_tokens_begin_the_sum_anew(tmp_path: Path) -> None:
    data = nearly_as_good(tmp_path, "", random.Random(1))
    tok, source = tokenizer_of(data), random.Random(5)
    tok = surgery.add(tok, ["<end>"], special=True).tokenizer
    for _ in range(20):
        words = ["".join(source.choices("abcde", k=5)) for _ in range(50)]
        text = " ".join(word if source.random() < 0.9 else "<end>" for word in words)
        parts = [text[at : at + 7] for at in range(0, len(text), 7)]
        found = [token for array in tok.encode_stream(parts, "allow") for token in array]
        assert found == tok.encode(text, "allow") == ReferenceTokenizer(tok.spec).encode(text, "allow")


def test_what_the_engine_refuses(tmp_path: Path) -> None:
    data = nearly_as_good(tmp_path, "", random.Random(1))
    engine = tokenizer_of(data)._engine
    composing = _from_json(huggingface_file("xlnet", "none", 0, 1))._engine
    with pytest.raises(VocabularyError, match="becomes something else"):
        composing.encode_behind("e\u0301a", "e", 0.0, "raise")
    with pytest.raises(VocabularyError, match="by Unigram alone"):
        engine.encode_behind("ab", "b", 0.0, "raise")
    byte_level = syllabary.train(["low lower lowest"] * 3, vocab_size=262)
    with pytest.raises(VocabularyError, match="by Unigram alone"):
        byte_level._engine.encode_behind("low", "", 0.0, "raise")
    with pytest.raises(VocabularyError, match="encode_behind needs"):
        ReferenceTokenizer(byte_level.spec).encode_behind("low", "", 0.0)


def test_an_unknown_character_is_named_where_it_stands() -> None:
    vocab = [["a", -1.0], ["b", -1.5], [" ", -2.0]]
    document = {"version": "1.0", "model": {"type": "Unigram", "vocab": vocab, "unk_id": None}}
    tok = _from_json(json.dumps(document))
    encoder = tok.encoder()
    assert encoder.push("abba ") == tok.encode("abba")
    with pytest.raises(UnknownSymbolError, match=r"in the text from character 4 on.*character 3 of the text"):
        encoder.push("abxa ab")


def test_the_name_of_the_unknown_token_is_unknown_text() -> None:
    """It is one token with unknown characters beside it, though its own first and last are known."""
    vocab = [["<unk>", -1.0], ["<", -1.0], [">", -1.0], ["a", -1.0]]
    document = {"version": "1.0", "model": {"type": "Unigram", "vocab": vocab, "unk_id": 0}}
    tok = _from_json(json.dumps(document))
    peer = Peer.from_str(json.dumps(document))
    for text in ("a <unk> a", "a<unk>a", "a <a", "<unk>é<unk>"):
        found = [token for array in tok.encode_stream([*text]) for token in array]
        assert found == tok.encode(text) == peer.encode(text).ids, text
