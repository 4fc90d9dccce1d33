"""`train(normalize=)`: reference and engine learn the same, however the text is cut, and files keep it.

Leaves out: the normal forms themselves (`test_steps_normalize`), their boundaries (`test_corpus_care`).
"""

from __future__ import annotations

import dataclasses
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts
from test_steps_normalize import MOVING
from tokenizers import Tokenizer as Peer

import syllabary
from syllabary import splits
from syllabary._engine import Trainer
from syllabary.corpus import Care, Corpus, Reading
from syllabary.corpus.care import FORMS, normalized
from syllabary.corpus.document import Part
from syllabary.errors import (
    CorpusWarning,
    EarlyStopWarning,
    FormatError,
    SyllabaryError,
    TextError,
    TrainingError,
)
from syllabary.reference import ReferenceTokenizer
from syllabary.reference.train import train as reference_train
from syllabary.spec import Form, SplitSpec, Step, TokenizerSpec, TrainOptions
from syllabary.training import train_with
from syllabary.training.feed import feed

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")

GREEK = "μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί᾽ Ἀχαιοῖς ἄλγε᾽ ἔθηκε"
SPECIALS = ["<s>", "<s>x", "e\u0301", ">", "\u0301"]  # some can begin where another ends, some decompose
words = st.one_of(
    st.sampled_from([*MOVING, *SPECIALS]),
    st.sampled_from(["a", "e", " ", "é", "ﬁ", "각", "\u1100", "\u1161", "＜s＞", "<", "s", "≯", "\u0338"]),
    texts(2),
)
documents = st.lists(st.lists(words, max_size=10).map("".join), min_size=1, max_size=4)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the type and the sentence of what it raises."""
    try:
        return call()
    except SyllabaryError as error:
        return type(error), str(error)


def plain(spec: TokenizerSpec) -> TokenizerSpec:
    return dataclasses.replace(spec, record={})


@st.composite
def train_options(draw: st.DrawFn) -> TrainOptions:
    unit = draw(st.sampled_from(["byte", "char", "word"]))
    return TrainOptions(
        split=splits.get(draw(st.sampled_from(["none", "gpt2", "o200k", "latin"]))),
        unit=unit,
        num_merges=draw(st.integers(0, 20)),
        special_tokens=tuple(draw(st.lists(st.sampled_from(SPECIALS), unique=True, max_size=3))),
        cut_special=draw(st.booleans()),
        min_frequency=draw(st.integers(1, 2)),
        tie_break=draw(st.sampled_from(["smallest-ids", "first-seen", "largest-pair"])),
        end_of_word=draw(st.sampled_from([None, "</w>", "\u0338"])) if unit == "char" else None,
        alphabet=draw(st.sampled_from(["all", "seen"])),
        normalize=draw(st.sampled_from(FORMS)),
    )


@given(documents, train_options())
def test_reference_and_engine_learn_the_same(texts: list[str], options: TrainOptions) -> None:
    by_reference = outcome(lambda: plain(reference_train(texts, options)))
    by_engine = outcome(lambda: plain(train_with(texts, options, threads=1).spec))
    if isinstance(by_reference, tuple) and "corpus is empty" in by_reference[1]:
        assert "corpus is empty" in by_engine[1]
    else:
        assert by_engine == by_reference


@given(documents, train_options())
def test_what_is_counted_is_what_encode_makes(texts: list[str], options: TrainOptions) -> None:
    """Training on the normalized runs without the option learns the same merges."""
    options = dataclasses.replace(options, end_of_word=None, tie_break="smallest-ids")
    specials = options.special_tokens if options.cut_special else ()
    runs = [normalized(run, options.normalize) for text in texts for run in naive_runs(text, specials)]
    without = dataclasses.replace(options, normalize=None, special_tokens=(), cut_special=False)
    assert options.num_merges is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is normalized as a whole may still mix, run by run
        expected = outcome(lambda: train_with(runs, without, threads=1).merges)
        found = outcome(lambda: train_with(texts, options, threads=1).merges)
    if isinstance(found, list):
        assert found == expected


def naive_runs(text: str, specials: tuple[str, ...]) -> Iterator[str]:
    """The text between special tokens, looked for at every place, the longest first."""
    run, at = "", 0
    while at < len(text):
        match = max((token for token in specials if text.startswith(token, at)), key=len, default="")
        if match:
            yield run
            run = ""
        run, at = (run, at + len(match)) if match else (run + text[at], at + 1)
    yield run


def parts_of(texts: list[str], size: int) -> Iterator[Part]:
    for text in texts:
        for start in range(0, len(text), size):
            yield text[start : start + size], False
        yield "", True


@given(documents, train_options(), st.integers(1, 7))
def test_parts_of_any_size_give_the_same_tokenizer(
    texts: list[str], options: TrainOptions, size: int
) -> None:
    def counted(parts: Iterator[Part]) -> tuple[Any, ...]:
        trainer = Trainer(dataclasses.replace(options, cut_special=False), 1)
        read = feed(trainer, parts, options, None)
        if not trainer.distinct_pieces:
            return read, 0
        merging = trainer.merging(options, 1000, 20)
        merges, counts = merging.step(60.0)
        assert merging.done
        return read, merging.tokens, merges.tolist(), counts.tolist()

    whole = outcome(lambda: counted((text, True) for text in texts))
    assert outcome(lambda: counted(parts_of(texts, size))) == whole
    if isinstance(whole[0], int):
        assert whole[0] == sum(len(text.encode()) for text in texts)


@pytest.mark.parametrize("form", FORMS)
@given(text=st.lists(words, max_size=12).map("".join))
def test_encode_normalizes_too(form: Form, text: str) -> None:
    tok = trained(form)
    ids = tok.encode(text, special="text")
    assert tok.decode(ids) == normalized(text, form)
    assert ids == tok.encode(normalized(text, form), special="text")
    assert ReferenceTokenizer(tok.spec).encode(text, special="text") == ids


TRAINED: dict[Form, syllabary.Tokenizer] = {}


def trained(form: Form) -> syllabary.Tokenizer:
    if form not in TRAINED:
        TRAINED[form] = syllabary.train([GREEK] * 3, vocab_size=300, normalize=form, special_tokens=["<s>"])
    return TRAINED[form]


def test_a_special_token_is_found_before_anything_is_rewritten() -> None:
    """U+0338 would join the end of `<s>`, and the wide signs would become one."""
    tok = trained("NFKC")
    special = tok.special_tokens["<s>"]
    assert tok.encode("<s>\u0338", special="allow")[0] == special
    assert special not in tok.encode("＜s＞", special="allow")
    ids = tok.encode("a<s>\u0338b＜s＞", special="allow")
    assert tok.decode(ids) == "a<s>\u0338b<s>"


@pytest.mark.parametrize("name", ["a.syllabary.json", "tokenizer.json"])
@pytest.mark.parametrize("form", FORMS)
def test_saved_and_read_again_it_gives_the_same_ids(tmp_path: Path, name: str, form: Form) -> None:
    tok = trained(form)
    tok.save(tmp_path / name)
    again = syllabary.load(tmp_path / name)
    assert again.spec.normalizer == (Step(form),)
    for text in (GREEK, unicodedata.normalize("NFD", GREEK), "ﬁ<s>e\u0301", "각\u1100\u1161"):
        assert again.encode(text, special="allow") == tok.encode(text, special="allow")


@pytest.mark.parametrize("form", FORMS)
def test_hugging_faces_library_gives_the_same_ids(tmp_path: Path, form: Form) -> None:
    trained(form).save(tmp_path / "tokenizer.json")
    peer = Peer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (
        GREEK,
        unicodedata.normalize("NFD", GREEK),
        "\u1f71ﬁ e\u0301",
        "각\u1100\u1161",
        "a<s>\u0338b＜s＞",
    ):
        assert peer.encode(text).ids == trained(form).encode(text, special="allow")


@pytest.mark.parametrize("like", ["huggingface", "minbpe", "tiktoken", "rustbpe", "cs336"])
def test_it_goes_with_the_defaults_of_other_tools(like: str) -> None:
    nfd = unicodedata.normalize("NFD", GREEK)
    tok = syllabary.train([nfd], num_merges=20, like=like, normalize="NFC")
    assert tok.spec.normalizer == (Step("NFC"),)
    nfc = unicodedata.normalize("NFC", GREEK)
    assert plain(tok.spec) == plain(syllabary.train([nfc], num_merges=20, like=like, normalize="NFC").spec)
    assert tok.encode(nfd) == tok.encode(nfc)


def test_a_format_without_normalizers_refuses(tmp_path: Path) -> None:
    for name in ("a.tiktoken", "a.minbpe"):
        with pytest.raises(FormatError, match=r"normalizer \(NFC\)"):
            trained("NFC").save(tmp_path / name)


@pytest.mark.parametrize(
    "value, error", [("nfc", TrainingError), ("NFX", TrainingError), (3, TypeError), (True, TypeError)]
)
def test_a_form_that_is_none(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="normalize"):
        syllabary.train(["abab"], num_merges=1, normalize=value)


def test_errors_name_the_document() -> None:
    with pytest.raises(TextError, match=r"document 2: lone surrogate U\+D800 at character 1"):
        syllabary.train(["<s>a", "b<s>", "é\ud800"], num_merges=1, normalize="NFC", special_tokens=["<s>"])
    with pytest.raises(TrainingError, match="document 1, normalized, holds the end_of_word mark '</w>'"):
        syllabary.train(
            ["a<s>b<s>c", "＜/w＞"],
            num_merges=1,
            normalize="NFKC",
            unit="char",
            end_of_word="</w>",
            special_tokens=["<s>"],
        )


def test_the_bytes_read_are_those_before_it() -> None:
    tok = syllabary.train(["e\u0301e\u0301<s>"], num_merges=1, normalize="NFC", special_tokens=["<s>"])
    assert tok.spec.record["corpus_bytes"] == 9
    assert tok.spec.record["normalize"] == "NFC"


# ---- the corpus in the record ----


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.txt").write_text(f"the cat and hat number {number} é", encoding="utf-8")
    return folder


def test_a_fraction_is_recorded_so_that_the_rest_can_be_found(files: Path, tmp_path: Path) -> None:
    tok = syllabary.train(Corpus(files, care=Care(fraction=0.5, seed=3)), num_merges=5)
    tok.save(tmp_path / "a.syllabary.json")
    record = syllabary.load(tmp_path / "a.syllabary.json").spec.record["corpus"]
    assert isinstance(record, dict)
    assert (record["fraction"], record["seed"]) == (0.5, 3)
    assert record["documents"] + record["outside"] == 40
    rest = Corpus(files, care=Care(rest=record["fraction"], seed=record["seed"]))
    assert len(list(rest)) == record["outside"] > 0


def test_a_plain_source_has_no_record_of_its_own(files: Path) -> None:
    for source in (files, ["the cat"], Corpus(files)):
        assert "corpus" not in syllabary.train(source, num_merges=1, min_frequency=1).spec.record
    (files / "wide.txt").write_bytes("\ufeffwide".encode("utf-16-le"))
    record = syllabary.train(files, num_merges=1).spec.record["corpus"]
    assert isinstance(record, dict)
    assert sum(record["encodings"].values()) == 41
    assert len(record["encodings"]) == 2


def test_mixed_forms_warn_unless_the_tokenizer_makes_them_one() -> None:
    mixed = ["é" * 9, "e\u0301" * 9]
    with pytest.warns(syllabary.errors.CorpusWarning, match=r"mixes normal forms"):
        syllabary.train(mixed, num_merges=1)
    syllabary.train(mixed, num_merges=1, normalize="NFC")
    syllabary.train(Corpus(mixed, Reading(), Care(normalize="NFD")), num_merges=1)


def test_early_stop_still_points_at_the_caller() -> None:
    with pytest.warns(EarlyStopWarning) as found:
        syllabary.train(["ab"], vocab_size=400, normalize="NFC")
    assert found[0].filename == __file__


def test_no_split_reads_across_parts(tmp_path: Path) -> None:
    """Without a split a document is one piece, which a special token or a normal form must not cut."""
    path = tmp_path / "one.txt"
    path.write_text("ae\u0301" * 400_000, encoding="utf-8")
    spec = train_with(path, TrainOptions(SplitSpec(None), num_merges=1, normalize="NFC")).spec
    assert spec.merges is not None
    assert spec.record["counts"] == [400_000]


@pytest.mark.parametrize("verb", ["train", "read", "count_pieces", "shards"])
def test_a_warning_names_the_callers_line(verb: str, tmp_path: Path) -> None:
    mixed = ["\u1f71 \u03ac e\u0301"]
    calls: dict[str, Callable[[], object]] = {
        "train": lambda: syllabary.train(mixed, 256),
        "read": lambda: list(syllabary.corpus.read(mixed)),
        "count_pieces": lambda: syllabary.count_pieces(mixed, tmp_path / "counts.parquet"),
        "shards": lambda: syllabary.shards.write(mixed, syllabary.train(["ab"], 256), tmp_path / "out"),
    }
    with pytest.warns(CorpusWarning) as caught:
        calls[verb]()
    assert {warned.filename for warned in caught} == {__file__}
