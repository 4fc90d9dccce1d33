"""A vocabulary restricted to a part (`surgery.restrict`, `edit --vocabulary`): `SetVocabulary`.

Its 0.2.3 has that no more, but encodes with a model in which pieces are UNUSED; the rule, and what
`LoadVocabulary` takes of a file, are what 0.2.1 does, found by trying. Leaves out: other surgery
(`test_surgery`).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import sentencepiece
import sentencepiece_models as made
import tokenizers
from click.testing import CliRunner
from unigram_models import PIPELINES, huggingface_file

import syllabary
from syllabary import FormatError, VocabularyError, surgery
from syllabary.cli import main
from syllabary.convert import convert
from syllabary.formats.sentencepiece import to_spec
from syllabary.formats.sentencepiece_proto import NORMAL, UNUSED, Model, parse
from syllabary.reference import ReferenceTokenizer
from syllabary.tokenizer import Tokenizer

TEXT = made.corpus()
OTHERS = ["aaaa né <sep>12", "漢字Ｈ", "", "xyzzy", "-" * 40, "the ﬁnal café é 😀"]


def model(folder: Path, number: int) -> bytes:
    """A model of either kind, trained with options drawn by number."""
    source = random.Random(number)
    options = {name: source.choice(choices) for name, choices in made.CHOICES.items()}
    kind = "unigram" if number % 2 else "bpe"
    return made.train(folder, **options, model_type=kind, hard_vocab_limit=False)


def trained(kind: Literal["unigram", "bpe", "word"], size: int = 150, **options: object) -> Tokenizer:
    return syllabary.train(TEXT, size, model=kind, like="sentencepiece", options=options)


def by_the_rule(data: bytes, vocabulary: list[str]) -> Model:
    """The model with the types that `SetVocabulary` gives its pieces; those of bytes stay."""
    found = parse(data, Path("m.model"))
    for token_id, (text, kind) in enumerate(zip(found.texts, found.types, strict=True)):
        if kind in (NORMAL, UNUSED):
            found.types[token_id] = NORMAL if text in vocabulary or len(text) == 1 else UNUSED
    return found


@pytest.mark.parametrize("number", range(8))
def test_ids_are_those_of_sentencepiece(tmp_path: Path, number: int) -> None:
    data = model(tmp_path, number)
    tok = Tokenizer(to_spec(parse(data, Path("m.model")), Path("m.model")))
    pieces = parse(data, Path("m.model")).texts
    source, changed = random.Random(number), 0
    vocabularies = [[], pieces, pieces[::2], source.sample(pieces, len(pieces) // 5), ["nothing", "<0xC3>"]]
    new = tok
    for vocabulary in vocabularies:
        new = surgery.restrict(new, vocabulary).tokenizer  # each takes the place of the last
        theirs = by_the_rule(data, vocabulary)
        new.save(tmp_path / "new.model")
        assert parse((tmp_path / "new.model").read_bytes(), Path("new")).types == theirs.types
        peer = sentencepiece.SentencePieceProcessor(model_proto=theirs.write())
        reference = ReferenceTokenizer(new.spec)
        for text in [*made.corpus(number, 6), *OTHERS]:
            ids = new.encode(text, special="text")
            assert ids == peer.encode(text) == reference.encode(text, special="text")
            assert new.decode(ids) == peer.decode(ids)
            changed += ids != tok.encode(text, special="text")
    assert changed > 10


def test_single_characters_bytes_and_symbols_stay() -> None:
    kinds: list[Literal["bpe", "unigram"]] = ["bpe", "unigram"]
    for kind in kinds:
        tok = trained(kind, 390, byte_fallback=True, user_defined_symbols=["<sep>"])
        change = surgery.restrict(tok, [])
        tokens = change.tokenizer.tokens("the mat ß<sep>")
        assert b"".join(tokens).decode() == "▁the▁mat▁ß<sep>"
        assert {len(token.decode("utf-8", "ignore")) for token in tokens} == {0, 1, 5}
        assert change.tokenizer.decode(change.tokenizer.encode("the mat ß<sep>")) == "the mat ß<sep>"
        assert change.new_ids.tolist() == list(range(tok.vocab_size))
        assert not change.made_of
        assert not change.losses
        everything = [
            token for token in tok.vocab.values() if token.decode("utf-8", "ignore").encode() == token
        ]
        assert surgery.restrict(change.tokenizer, everything).tokenizer == tok


def test_an_unused_character_comes_back(tmp_path: Path) -> None:
    """As there: its type is looked at no more."""
    kinds: list[Literal["bpe", "unigram"]] = ["bpe", "unigram"]
    for kind in kinds:
        tok = trained(kind)
        tok.save(tmp_path / "m.model")
        found = parse((tmp_path / "m.model").read_bytes(), Path("m.model"))
        found.types[found.texts.index("b")] = UNUSED
        (tmp_path / "m.model").write_bytes(found.write())
        idle = syllabary.load(tmp_path / "m.model")
        assert (idle.spec.unknown in idle.encode("b"), tok.token_to_id("b") in idle.encode("b")) == (
            True,
            False,
        )
        new = surgery.restrict(idle, []).tokenizer
        assert tok.token_to_id("b") in new.encode("b")
        new.save(tmp_path / "new.model")
        assert syllabary.load(tmp_path / "new.model") == new


def test_a_unigram_of_hugging_face(tmp_path: Path) -> None:
    """Ids that are never made since others have their names stay so; special and unknown tokens stay."""
    (tmp_path / "tokenizer.json").write_text(huggingface_file(*PIPELINES[0], 0))
    tok = syllabary.load(tmp_path / "tokenizer.json")
    new = surgery.restrict(tok, ["at", "the"]).tokenizer
    reference = ReferenceTokenizer(new.spec)
    used: set[bytes] = set()
    for text in made.corpus(3, 9):
        assert new.encode(text, "text") == reference.encode(text, "text")
        used |= {*new.tokens(text, "text")}
    assert {token.decode() for token in used if len(token.decode()) > 1} <= {"at", "the", "<unk>"}
    spec = tok.spec
    twice = next(one for one, token in spec.tokens.items() if len(token) > 1)
    last = max(tok.vocab) + 1
    doubled = replace(
        spec,
        tokens={**spec.tokens, last: spec.tokens[twice]},
        scores={**(spec.scores or {}), last: -1.0},
        unused=frozenset({twice}),
    )
    new = surgery.restrict(Tokenizer(doubled), [spec.tokens[twice]]).tokenizer
    assert twice in new.spec.unused
    assert last not in new.spec.unused


@pytest.mark.filterwarnings("ignore::syllabary.LossWarning")
def test_hugging_face_keeps_a_part_of_a_unigram_apart(tmp_path: Path) -> None:
    """It knows no piece that is never made: here those score less than their characters."""
    tok = trained("unigram")
    for vocabulary in ([], [token.decode() for token in tok.vocab.values()][::2]):
        new = surgery.restrict(tok, vocabulary).tokenizer
        losses = " ".join(convert(new, tmp_path / "tokenizer.json").losses)
        assert "never made, by a score below all others, and ids can change" in losses
        peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        for text in TEXT[:40]:
            assert peer.encode(text, add_special_tokens=False).ids == new.encode(text, "text")


# Lines of a file -> threshold -> which of ▁the and ▁cat `LoadVocabulary` of 0.2.1 keeps.
FILES = [
    ("▁the\t5\n▁cat\t2\n", 3, {"▁the"}),
    ("▁the\n▁cat\t2\n", 1, {"▁the", "▁cat"}),
    ("▁the\n▁cat\t2\n", 2, {"▁cat"}),
    ("▁the\t5\tx\n▁cat\t05", 5, {"▁the", "▁cat"}),
    ("▁the\t5\r\n▁cat\t2\r\n", 1, {"▁the", "▁cat"}),
    ("▁the\t1\n▁the\t9\n", 5, {"▁the"}),
    ("▁the\t9\n▁the\t1\n", 5, {"▁the"}),
    ("▁the\t0\n▁cat\t0", None, {"▁the", "▁cat"}),
    ("", 1, set()),
]


@pytest.mark.parametrize("lines, threshold, kept", FILES)
def test_files_of_counts(tmp_path: Path, lines: str, threshold: int | None, kept: set[str]) -> None:
    tok = trained("unigram")
    (tmp_path / "v.tsv").write_bytes(lines.encode())
    new = surgery.restrict(tok, tmp_path / "v.tsv", threshold).tokenizer
    assert new == surgery.restrict(tok, str(tmp_path / "v.tsv"), threshold).tokenizer
    assert new == surgery.restrict(tok, kept).tokenizer  # type: ignore[arg-type]
    assert {tok.token_to_id(piece) for piece in kept}.isdisjoint(new.spec.unused)


@pytest.mark.parametrize(
    "lines, says",
    [
        (b"a\n\nb\n", "line 2: b'' is not a piece, or"),
        (b"a\t1\n\t3\n", "line 2: b'\\\\t3' is not a piece, or"),
        (b"a\tx\n", "line 1: b'a\\\\tx' is not a piece, or"),
        (b"a\t\n", "line 1: b'a\\\\t' is not a piece, or"),
        (b"<unk>\t0\na\t-1.5\n", "line 2: .* has a score"),
        (b"<unk>\t0\na\t-3\n", "line 2: .* has a score"),
        (b"a 5\n", "line 1: b'a 5' has a space before its count, as subword-nmt"),
        (b"a\n\xff\t1\n", "line 2: .* is not UTF-8"),
    ],
)
def test_files_of_another_kind(tmp_path: Path, lines: bytes, says: str) -> None:
    tok = trained("unigram")
    (tmp_path / "v.tsv").write_bytes(lines)
    with pytest.raises(FormatError, match=f"v.tsv: {says}"):
        surgery.restrict(tok, tmp_path / "v.tsv", 1)


def test_counts_of_tokens_and_wrong_arguments(tmp_path: Path) -> None:
    tok = trained("bpe")
    counts = Counter(token for line in TEXT[9:] for token in tok.tokens(line))
    least = sorted(counts.values())[len(counts) // 2]
    new = surgery.restrict(tok, counts, least).tokenizer
    listed = [token for token, count in counts.items() if count >= least]
    assert new == surgery.restrict(tok, listed).tokenizer != tok
    for call, error, says in (
        (lambda: surgery.restrict(tok, ["a"], 3), ValueError, "threshold=3, and vocabulary has no counts"),
        (lambda: surgery.restrict(tok, {"a": "x"}), TypeError, "the count of 'a' is 'x': give an int"),  # type: ignore[dict-item]
        (lambda: surgery.restrict(tok, counts, 2.5), TypeError, "threshold is 2.5: give an integer"),  # type: ignore[arg-type]
        (lambda: surgery.restrict(tok, [5]), TypeError, r"vocabulary"),  # type: ignore[list-item]
        (lambda: surgery.restrict("t", []), TypeError, "tok is 't': give a Tok"),  # type: ignore[arg-type]
        (lambda: surgery.restrict(tok, tmp_path / "none"), FileNotFoundError, "none"),
    ):
        with pytest.raises(error, match=says):
            call()
    for other in (
        syllabary.train(TEXT, 270),
        trained("word", 40),  # type: ignore[arg-type]
        syllabary.train(TEXT, 140, like="subword-nmt"),
    ):
        with pytest.raises(VocabularyError, match=r"restrict needs tokens with scores .* apply-bpe --vocab"):
            surgery.restrict(other, [])


def test_the_command(working_folder: Path) -> None:
    tok = trained("unigram")
    tok.save("m.model")
    Path("v.tsv").write_text("▁the\t5\n▁cat\t2\n", encoding="utf-8")

    def run(*args: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["edit", "m.model", *args])
        return done.exit_code, done.stderr

    code, said = run("--vocabulary", "v.tsv", "--vocabulary-threshold", "3", "-o", "new.model")
    assert code == 0, said
    never = len(syllabary.load("new.model").spec.unused)
    assert f"{never} tokens are made no more: those of two characters or more that v.tsv lacks" in said
    assert syllabary.load("new.model") == surgery.restrict(syllabary.load("m.model"), ["▁the"]).tokenizer
    code, said = run("--vocabulary-threshold", "3", "-o", "none.model")
    assert (code, "--vocabulary-threshold is of --vocabulary" in said) == (2, True)
    code, said = run("--vocabulary", "v.tsv", "-o", "none.model", "--map", "v.tsv")
    assert (code, "v.tsv is read, and the map would take its place" in said) == (1, True)
    code, said = run("--vocabulary", "never.tsv", "-o", "none.model")
    assert (code, "never.tsv" in said) == (1, True)
    assert "Traceback" not in said
    assert not Path("none.model").exists()
