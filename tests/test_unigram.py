"""Unigram: the specification, the engine and the home libraries give the same ids, offsets and text.

Every day a sample; with `SYLLABARY_PROVE` 10,000 strings and 1 MB of each corpus. Leaves out: the n best and
drawn ways (`test_unigram_paths`), files that are damaged (`test_unigram_formats`).
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import sentencepiece
import sentencepiece_models as made
from corpus_files import published
from hard_text import hard_texts
from tokenizers import Tokenizer as Peer
from unigram_models import PIPELINES, huggingface_file, nearly_as_good, sentencepiece_model

import syllabary
from syllabary.formats.hf_read import read_document
from syllabary.formats.sentencepiece import to_spec
from syllabary.formats.sentencepiece_proto import parse as parse_model
from syllabary.formats.strict_json import parse
from syllabary.reference import ReferenceTokenizer
from syllabary.spec import SplitSpec, TokenizerSpec
from syllabary.tokenizer import Tokenizer

PROVE = bool(os.environ.get("SYLLABARY_PROVE"))
EDITS = {
    "as trained": lambda model, source: None,
    "unused": made.unused,
    "shuffled": made.shuffled,
    "without characters": made.without_characters,
    "user-defined": made.user_defined,
    "controls": made.controls,
}
LANGUAGES = ["chinese", "code", "english", "greek", "japanese", "latin", "multilingual", "wikitext2_valid"]


def texts(count: int, seed: int) -> list[str]:
    """Hard strings, and lines of the words that models were trained on."""
    hard = [text for text in hard_texts(count, seed) if PROVE or len(text) < 1500]
    return [*hard, *made.corpus(seed, 5)]


def same_as_sentencepiece(data: bytes, many: list[str]) -> None:
    """Ids, offsets and text of all three."""
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    spec = to_spec(parse_model(data, Path("t.model")), Path("t.model"))
    tok, reference = Tokenizer(spec), ReferenceTokenizer(spec)
    for text in many:
        there = peer.encode_as_offset_mapping(text)
        assert tok.encode(text, special="text") == there["ids"], text
        assert tok.count(text, special="text") == len(there["ids"])
        assert list(map(tuple, tok.offsets(text, special="text").tolist())) == there["offsets"], text
        assert tok.decode(there["ids"]) == peer.decode(there["ids"])
        if len(text) < 1500:
            assert reference.encode(text, special="text") == there["ids"], text
            assert reference.offsets(text, special="text") == there["offsets"], text


@pytest.mark.parametrize("number", range(24 if PROVE else 8))
def test_models_of_sentencepiece(tmp_path: Path, number: int) -> None:
    same_as_sentencepiece(sentencepiece_model(tmp_path, number), texts(10_000 // 24 if PROVE else 12, number))


@pytest.mark.parametrize("edit", EDITS)
def test_models_that_no_training_makes(tmp_path: Path, edit: str) -> None:
    for number in range(30, 36 if PROVE else 32):
        model = made.model_of(sentencepiece_model(tmp_path, number))
        EDITS[edit](model, random.Random(number))
        same_as_sentencepiece(model.write(), texts(300 if PROVE else 10, number))


@pytest.mark.parametrize("number", range(0, len(PIPELINES), 1 if PROVE else 7))
def test_models_of_tokenizers(number: int) -> None:
    file = huggingface_file(*PIPELINES[number], number)
    peer = Peer.from_str(file)
    spec = read_document(parse(file.encode(), Path("tokenizer.json")))
    tok, reference = Tokenizer(spec), ReferenceTokenizer(spec)
    for text in texts(120 if PROVE else 10, number):
        there = peer.encode(text, add_special_tokens=False)
        assert tok.encode(text, special="allow") == there.ids, text
        assert list(map(tuple, tok.offsets(text, special="allow").tolist())) == there.offsets, text
        if len(text) < 1500:
            assert reference.encode(text, special="allow") == there.ids, text
            assert reference.offsets(text, special="allow") == there.offsets, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_text(shared: Path, language: str) -> None:
    """A model of the corpus itself, on all of the text at once and in documents."""
    text = published(shared, language, -1 if PROVE else 1_000_000)
    lines = [line for line in text[:100_000].split("\n") if line.strip()]
    data = made.train_on(lines, model_type="unigram", vocab_size=4000, character_coverage=0.995)
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    tok = Tokenizer(to_spec(parse_model(data, Path("t.model")), Path("t.model")))
    size = 1_000_000 if PROVE else 60_000
    for part in (text[-size:], text[:size]):
        assert tok.encode(part) == peer.encode(part)
        documents = [part[at : at + 1000] for at in range(0, len(part), 1000)]
        assert tok.encode_batch(documents) == [peer.encode(document) for document in documents]


@pytest.mark.parametrize("others", ["", "z", "ζéΩ", "é" + 12 * "Ω", 4 * "αβγδεζηθ"])
def test_ways_that_are_nearly_as_good(tmp_path: Path, others: str) -> None:
    """Which of them wins depends on the score of all that stands before: in 32 bits, and in 64.

    others: characters that are no tokens; all but Ω stand in longer ones. Many Ω: whole words, one after the
    other, are in no token. In the last all stand in many pairs, and tokens begin with a space: there the
    engine looks for words as wholes. Several unknown ones in a row are one token, and each has a score.
    """
    source = random.Random(4)
    letters = "abcde" + others
    data = nearly_as_good(tmp_path, others, source)
    words = ["".join(source.choices(letters, k=source.randint(1, 9))) for _ in range(300)]
    # Sums are counted anew several times in the last of them.
    many = [" ".join(source.choices(words, k=k)) for k in (1, 10, 100, 1000, 10_000, 60_000)]
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    tok = Tokenizer(to_spec(parse_model(data, Path("t.model")), Path("t.model")))
    for text in [*many, *many]:
        assert tok.encode(text) == peer.encode(text)
    there = peer.encode_as_offset_mapping(many[-1])
    assert list(map(tuple, tok.offsets(many[-1]).tolist())) == there["offsets"]
    if PROVE:
        assert ReferenceTokenizer(tok.spec).encode(many[-1]) == there["ids"]


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("pairs", [40, 400, 4000])
def test_text_without_spaces(tmp_path: Path, pairs: int, fallback: bool) -> None:
    """Parts between places that no token reaches over, of one character and of more, each nearly as good
    in several ways.

    pairs: the more tokens, the fewer such places among 200 characters, of which some have four bytes, some
    are in longer tokens only and some in none.
    """
    source = random.Random(pairs)
    letters = [chr(0x4E00 + 7 * at) for at in range(190)] + [chr(0x20000 + at) for at in range(10)]
    models = (made.model_of(sentencepiece_model(tmp_path, number)) for number in range(50))
    model = next(model for model in models if (6 in model.types) == fallback)
    kept = [at for at, kind in enumerate(model.types) if kind in (2, 6)]
    rows = [(model.texts[at], model.types[at], model.scores[at]) for at in kept]
    names = {"".join(source.choices(letters, k=source.choice([2, 2, 2, 2, 3, 4, 12]))) for _ in range(pairs)}
    for name in ["▁", ",", *letters[5:], *sorted(names)]:
        score = -float(len(name)) - source.choice([0.0, 1e-3, 1e-5, 1e-7, 2e-7])
        rows += [(name, 1, score)]
    model.texts, model.types, model.scores = (list(column) for column in zip(*rows, strict=True))
    model.starts, model.odd = [0] * len(rows), {}
    model.layout = [record for record in model.layout if isinstance(record, bytes)]
    data = model.write()
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    tok = Tokenizer(to_spec(parse_model(data, Path("t.model")), Path("t.model")))
    others = [",", " ", "ж", "жжжжжжж", ", and so on in ASCII, ", "\uff0c", "\U00030000"]
    words = [*letters, *sorted(names), *others]
    many = ["".join(source.choices(words, k=k)) for k in (1, 2, 3, 10, 100, 1000, 10_000, 40_000)]
    for text in [*many, *many[:6], *("".join(source.choices(words, k=30)) for _ in range(200))]:
        assert tok.encode(text) == peer.encode(text)


def test_a_model_without_plain_pieces(tmp_path: Path) -> None:
    # The lowest score of no pieces is the largest number of 32 bits there, so unknown characters win.
    model, source = made.model_of(sentencepiece_model(tmp_path, 0)), random.Random(4)
    for token_id, kind in enumerate(model.types):
        if kind == made.NORMAL:
            model.types[token_id] = source.choice([made.USER_DEFINED, made.UNUSED])
    same_as_sentencepiece(model.write(), ["the catΩ", "Ωthe", *made.corpus(3, 5)])
    tok = Tokenizer(to_spec(parse_model(model.write(), Path("t.model")), Path("t.model")))
    [(ids, score)] = tok.encode_nbest("Ω", 1)
    [best] = made.peer(model.write()).processor.nbest_encode("Ω", nbest_size=1, return_type="proto").nbests
    assert (ids, score) == ([piece.id for piece in best.pieces], best.score)


def test_a_long_run_of_one_letter() -> None:
    fields = ("char", SplitSpec(None), {0: b"a", 1: b"aa", 2: b"aaaaaaaa"}, {}, None)
    scores = {0: -2.0, 1: -3.0, 2: -5.0}
    tok = Tokenizer(TokenizerSpec(*fields, model="unigram", scores=scores))
    ids = tok.encode("a" * 1_000_003)
    assert (ids.count(2), sorted(ids)[:2], len(ids)) == (125_000, [0, 1], 125_002)


def test_without_an_unknown_token_a_character_outside_is_named() -> None:
    fields = ("char", SplitSpec(None), {0: b"a", 1: b"ab"}, {}, None)
    spec = TokenizerSpec(*fields, model="unigram", scores={0: -2.0, 1: -3.0})
    for one in (Tokenizer(spec), ReferenceTokenizer(spec)):
        assert one.encode("aab") == [0, 1]
        with pytest.raises(syllabary.UnknownSymbolError, match="'b'; the first is at character 0"):
            one.encode("ba")


def test_steps_grow_the_best_path() -> None:
    fields = ("char", SplitSpec(None), {0: b"a", 1: b"b", 2: b"ab", 3: b"abb"}, {}, None)
    scores = {0: -2.0, 1: -2.0, 2: -3.0, 3: -4.5}
    tok = Tokenizer(TokenizerSpec(*fields, model="unigram", scores=scores))
    assert list(tok.steps("abba")) == [[[0, 1, 1, 0]], [[2, 1, 0]], [[3, 0]]]


def test_kept_in_our_own_file(tmp_path: Path) -> None:
    data = sentencepiece_model(tmp_path, 2)
    spec = to_spec(parse_model(data, Path("t.model")), Path("t.model"))
    Tokenizer(spec).save(tmp_path / "t.syllabary.json")
    assert syllabary.load(tmp_path / "t.syllabary.json").spec == spec
