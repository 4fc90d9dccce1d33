"""Languages that are changed after a tokenizer was made, beside the classes of `AutoTokenizer` that have any.

Of folders with a sentencepiece model and with a `tokenizer.json` that `transformers` saved. Leaves out:
languages that a folder or `as_transformers` says at first (`test_transformers_classes`, `_layouts`).
"""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_transformers_classes import PIECES, multilingual
from test_transformers_layouts import folder, said

import syllabary
from syllabary.formats.transformers_layouts import MBART, NLLB

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
TEXTS = ("the", "the cat", "on a <mask> the", "", "a b c the cat sat on the mat")
SEAMLESS = [f"__{name}__" for name in ("eng", "fra", "cmn_Hant", "deu", "ron", "fin", "swe", "yor")]
LANGUAGES = {"MBart": MBART[:9], "MBart50": MBART[:9], "Nllb": NLLB[:9]}
ALL = {**LANGUAGES, "SeamlessM4T": SEAMLESS}
KINDS = [(name, kind) for name in LANGUAGES for kind in ("model", "json", "direct")]
KINDS += [("SeamlessM4T", "json"), ("SeamlessM4T", "direct")]
SAYS = ("src_lang", "tgt_lang", "legacy_behaviour")


def both(path: Path, name: str, kind: str = "json", **config: Any) -> tuple[Any, Any]:
    """`AutoTokenizer`'s class, and ours: of a model, of a tokenizer.json, or of that with our class alone."""
    if name == "SeamlessM4T":
        pieces = [*PIECES[:1], *"thecatonmsb", *SEAMLESS, "<mask>"]
        vocab = dict.fromkeys(["<pad>", "<unk>", "<s>", "</s>", *pieces])
        theirs = transformers.SeamlessM4TTokenizer(
            vocab={text: number for number, text in enumerate(vocab)},
            additional_special_tokens=[*SEAMLESS, "<mask>"],
            **config,
        )
    else:
        theirs, ours, _home = folder(path, name, **{**said(name), **config})
    if kind == "model":
        return theirs, ours
    theirs.save_pretrained(path / "json")
    return transformers.AutoTokenizer.from_pretrained(path / "json"), again(path / "json", kind)


def again(path: Path, kind: str) -> Any:
    if kind == "direct":
        module = pytest.importorskip("syllabary.compat.transformers")
        return module.SyllabaryTokenizer.from_pretrained(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", syllabary.LossWarning)
        return syllabary.load(path).as_transformers()


def plain(found: Any) -> Any:
    return {key: getattr(one, "tolist", lambda one=one: one)() for key, one in dict(found).items()}


def drawn(random: Random, languages: list[str]) -> Callable[[Any], Any]:
    """One use of a tokenizer, and what it gives."""
    language, other = random.choice(languages), random.choice(languages)
    one, two = random.choice(TEXTS), random.choice(TEXTS)
    cut = {"padding": random.choice([True, "max_length", False]), "truncation": True}
    cut |= {"max_length": random.choice([6, 9, 20])}
    more = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    arrays = {"return_tensors": "np", "src_lang": language, "tgt_lang": other, "padding": True}
    now = ("src_lang", "tgt_lang", "prefix_tokens", "suffix_tokens")
    uses: list[Callable[[Any], Any]] = [
        lambda tok: setattr(tok, "src_lang", language),
        lambda tok: setattr(tok, "tgt_lang", language),
        lambda tok: tok.set_src_lang_special_tokens(language),
        lambda tok: tok.set_tgt_lang_special_tokens(language),
        lambda tok: plain(tok(one, text_target=two, **cut)),
        lambda tok: plain(tok(text_target=[one, two], **more, **cut)),
        lambda tok: plain(tok([one, two], [two, one], **more, **cut)),
        lambda tok: (tok.encode(one), tok.encode(one, two), tok.tokenize(one, add_special_tokens=True)),
        lambda tok: plain(tok._build_translation_inputs([one, two], **arrays)),
        lambda tok: (tok._switch_to_target_mode(), tok.encode(one), tok.num_special_tokens_to_add(True)),
        lambda tok: (tok._switch_to_input_mode(), tok.encode(one), [getattr(tok, name) for name in now]),
        lambda tok: tok.decode(tok(one)["input_ids"], skip_special_tokens=True),
        lambda tok: tok.decode(tok.encode(two)),
    ]
    return random.choice(uses)


def the_code(tok: Any) -> int:
    return tok.cur_lang_code_id if hasattr(tok, "id_to_lang_code") else tok.cur_lang_code  # type: ignore[no-any-return]


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("name, kind", KINDS)
def test_drawn_changes(name: str, kind: str, told: bool, tmp_path: Path) -> None:
    """Ids, masks, marks: whatever was changed before; the engine is made once."""
    languages, random = ALL[name], Random(name + kind)
    config = {"src_lang": languages[2], "tgt_lang": languages[3], "legacy_behaviour": True} if told else {}
    theirs, ours = both(tmp_path, name, kind, **config)
    engine = ours.syllabary._engine
    for _ in range(150):
        use = drawn(random, languages)
        assert use(ours) == use(theirs)
        assert the_code(ours) == the_code(theirs)
        assert ours.syllabary._engine is engine
        assert ours.syllabary.encode_full("the").ids == ours.encode("the")


@pytest.mark.parametrize("name, kind", KINDS)
def test_prepared_batches(name: str, kind: str, tmp_path: Path) -> None:
    """Of the two classes where it works; MBart has none, and MBart50's fails."""
    theirs, ours = both(tmp_path, name, kind)
    if name.startswith("MBart"):
        for tok in (theirs, ours):
            with pytest.raises(AttributeError, match="prepare_seq2seq_batch"):
                tok.prepare_seq2seq_batch(list(TEXTS), tgt_texts=list(TEXTS))
        return
    one, two = ALL[name][2:4]
    theirs.src_lang = ours.src_lang = ALL[name][5]
    short = {"max_length": 9, "src_lang": one, "tgt_lang": two}
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((list(TEXTS),), short),
        ((list(TEXTS),), {"max_length": 9, "tgt_texts": ["the"] * len(TEXTS)}),
        ((list(TEXTS), one, list(TEXTS[::-1]), two, 6), {"return_tensors": "np"}),
        ((list(TEXTS),), {**short, "tgt_texts": list(TEXTS), "max_target_length": 7}),
        ((["the"], two, ["cat"], one, 9), {"padding": False, "return_offsets_mapping": True}),
    ]
    for arguments, asked in calls:
        found, want = (tok.prepare_seq2seq_batch(*arguments, **asked) for tok in (ours, theirs))
        assert plain(found) == plain(want), (arguments, asked)
        assert (ours.src_lang, ours.tgt_lang) == (theirs.src_lang, theirs.tgt_lang)
        assert ours.encode("the") == theirs.encode("the")


@pytest.mark.parametrize("name, kind", KINDS)
def test_saved_with_other_languages(name: str, kind: str, tmp_path: Path) -> None:
    languages = ALL[name]
    theirs, ours = both(tmp_path, name, kind)
    for one in (theirs, ours):
        one.src_lang, one.tgt_lang = languages[4], languages[5]
        one.set_tgt_lang_special_tokens(languages[6])
    theirs.save_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    files = [tmp_path / one / "tokenizer_config.json" for one in ("theirs", "ours")]
    want, found = (json.loads(file.read_text("utf-8")) for file in files)
    assert [(key in found, found.get(key)) for key in SAYS] == [(key in want, want.get(key)) for key in SAYS]
    told = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    plain_fast = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert plain_fast("the", "cat")["input_ids"] == told("the", "cat")["input_ids"]
    assert syllabary.load(tmp_path / "ours").encode_full("the").ids == told("the")["input_ids"]
    for one in (again(tmp_path / "ours", "json"), again(tmp_path / "ours", "direct")):
        assert (one.src_lang, one.tgt_lang) == (languages[4], languages[5])
        assert plain(one("the", text_target="cat")) == plain(told("the", text_target="cat"))
        one.src_lang = told.src_lang = languages[7]
        assert one("the")["input_ids"] == told("the")["input_ids"]
        told.src_lang = languages[4]


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_that_is_none(name: str, tmp_path: Path) -> None:
    """`ValueError`, and all stays as it was; a piece of the model is no language."""
    _theirs, ours = both(tmp_path, name)
    before = plain(ours("the", text_target="cat"))
    assert ours.convert_tokens_to_ids("e") != ours.unk_token_id
    for language in ("xx_XX", "e", "", None, 3):
        with pytest.raises(ValueError, match=rf"src_lang={language!r} is no language .*: it has \w+_\w+, "):
            ours.src_lang = language
        with pytest.raises(ValueError, match="is no language of this tokenizer"):
            ours.set_tgt_lang_special_tokens(language)
        if language is not None:
            with pytest.raises(ValueError, match=f"tgt_lang={language!r} is no language"):
                ours.tgt_lang = language
            with pytest.raises(ValueError, match="tgt_lang"):
                ours._build_translation_inputs(
                    "the", return_tensors="np", src_lang=LANGUAGES[name][5], tgt_lang=language
                )
    with pytest.raises(ValueError, match="requires a `src_lang` and a `tgt_lang`"):
        ours._build_translation_inputs("the", return_tensors="np", src_lang=None, tgt_lang=ours.src_lang)
    assert plain(ours("the", text_target="cat")) == before
    with pytest.raises(
        syllabary.FormatError, match=r"src_lang: 'e' is no token of .*, or none of a language"
    ):
        syllabary.load(tmp_path / "json").with_settings(src_lang="e")


@pytest.mark.parametrize("name", LANGUAGES)
def test_names_of_languages(name: str, tmp_path: Path) -> None:
    theirs, ours = both(tmp_path, name)
    for key in ("lang_code_to_id", "id_to_lang_code", "fairseq_tokens_to_ids", "fairseq_ids_to_tokens"):
        want, found = getattr(theirs, key, {}), getattr(ours, key)
        assert found.items() >= want.items(), key
    assert len(ours.lang_code_to_id) == {"MBart": 25, "MBart50": 52, "Nllb": 202}[name]


@pytest.mark.parametrize("name", LANGUAGES)
def test_copies_and_pickles(name: str, tmp_path: Path) -> None:
    """Each has its own languages; a call changes no hash, a language does."""
    languages = LANGUAGES[name]
    _theirs, ours = both(tmp_path, name, src_lang=languages[1], tgt_lang=languages[2])
    want = plain(ours("the", text_target="cat"))
    ours.src_lang = languages[1]
    bare = pickle.dumps(ours)
    for made in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(bare)):
        assert plain(made("the", text_target="cat")) == want
        made.src_lang, made.tgt_lang = languages[5], languages[6]
        assert plain(made("the", text_target="cat")) != want
        assert plain(ours("the", text_target="cat")) == want
    ours.src_lang = languages[1]
    ours("the", text_target="cat")
    assert pickle.dumps(ours) == bare
    ours.src_lang = languages[3]
    assert pickle.dumps(ours) != bare
    ours.tgt_lang = None
    bare = pickle.dumps(ours)
    ours("the", text_target="cat")
    assert (ours.tgt_lang, pickle.dumps(ours)) == (languages[3], bare)


@pytest.mark.parametrize("name", LANGUAGES)
def test_threads_that_encode_targets(name: str, tmp_path: Path) -> None:
    languages = LANGUAGES[name]
    _theirs, ours = both(tmp_path, name, src_lang=languages[1], tgt_lang=languages[2])
    uses: list[Callable[[], Any]] = [
        lambda: plain(ours("the cat", text_target="the")),
        lambda: plain(ours("the cat")),
        lambda: plain(ours(text_target="the cat")),
    ]
    want = [use() for use in uses]
    assert want[0]["input_ids"] == want[1]["input_ids"] != want[2]["input_ids"]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: uses[number % 3](), range(1500)))
    assert found == want * 500


def test_languages_by_their_names(tmp_path: Path) -> None:
    """SeamlessM4T's, which a call takes too."""
    theirs, ours = both(tmp_path, "SeamlessM4T", src_lang="deu", tgt_lang="cmn_Hant")
    assert ours.encode("a") == theirs.encode("a") != theirs("a")["input_ids"]
    assert syllabary.load(tmp_path / "json").encode_full("a").ids == theirs("a")["input_ids"]
    for asked in ({}, {"src_lang": "fra"}, {"tgt_lang": "__eng__"}, {"src_lang": "ron", "tgt_lang": "swe"}):
        assert plain(ours("a", text_target="b", **asked)) == plain(theirs("a", text_target="b", **asked))
        assert (ours.src_lang, ours.tgt_lang) == (theirs.src_lang, theirs.tgt_lang)
    theirs.tgt_lang = ours.tgt_lang = "deu"
    assert ours.encode("a") == theirs.encode("a")
    changed = syllabary.load(tmp_path / "json").with_settings(src_lang="fin")
    theirs.src_lang = "fin"
    assert changed.encode_full("a", "b").ids == theirs("a", "b")["input_ids"]
    with pytest.raises(ValueError, match="src_lang='xyz' is no language of this tokenizer: it has __eng__"):
        ours("a", src_lang="xyz")


def test_tokens_that_are_added_later(tmp_path: Path) -> None:
    """A new language too, as fine-tuning adds one."""
    theirs, ours = both(tmp_path, "Nllb", "model")
    for one in (theirs, ours):
        one("the")
        one.add_tokens(["xyz_Latn"], special_tokens=True)
        one.src_lang = "xyz_Latn"
        one.tgt_lang = "fra_Latn"
    assert plain(ours("the", text_target="xyz_Latn a")) == plain(theirs("the", text_target="xyz_Latn a"))
    for one in (theirs, ours):
        one.add_tokens(["hm"])
        one.backend_tokenizer.post_processor = None  # a call puts it back
    assert plain(ours("the hm", "a")) == plain(theirs("the hm", "a"))


def test_a_folder_without_the_usual_language(tmp_path: Path) -> None:
    """Nothing is marked but with what is told; there `AutoTokenizer` adds the token."""
    multilingual("MBartTokenizer", tmp_path)
    found = json.loads((tmp_path / "tokenizer.json").read_text("utf-8").replace("en_XX", "en_US"))
    (tmp_path / "tokenizer.json").write_text(json.dumps(found), "utf-8")
    ours = syllabary.load(tmp_path).as_transformers()
    assert (ours.src_lang, ours.prefix_tokens, ours.suffix_tokens) == (None, [], [])
    before = ours("a", text_target="b")
    ours.save_pretrained(tmp_path / "again")
    assert plain(again(tmp_path / "again", "json")("a", text_target="b")) == plain(before)
    ours.src_lang = "en_US"
    assert ours("a", text_target="b")["labels"][-2:] == [2, ours.lang_code_to_id["en_US"]]


def test_texts_that_go_the_inherited_way(tmp_path: Path) -> None:
    _theirs, ours = both(tmp_path, "MBart", src_lang="de_DE", tgt_lang="ro_RO")
    want = plain(ours("a", text_target="e"))
    assert want["labels"][-1] == ours.lang_code_to_id["ro_RO"]
    ours.backend_tokenizer.model.alpha = 9.0
    ours.backend_tokenizer.model.nbest_size = 1
    assert ours._engine().draws
    assert plain(ours("a", text_target="e")) == want
    assert plain(ours("a")) == {key: want[key] for key in ("input_ids", "attention_mask")}


@pytest.mark.parametrize("name", ["MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer"])
def test_what_the_folder_says_of_the_end(name: str, tmp_path: Path) -> None:
    """Its `eos_token` stands there; `legacy_behaviour` is Nllb's alone."""
    multilingual(name, tmp_path, {"eos_token": "▁low", "legacy_behaviour": True, "src_lang": "de_DE"})
    theirs, tok = transformers.AutoTokenizer.from_pretrained(tmp_path), syllabary.load(tmp_path)
    ours = tok.as_transformers()
    for _change in range(2):
        want = theirs("a", "b")["input_ids"]
        assert ours("a", "b")["input_ids"] == tok.encode_full("a", "b").ids == want
        theirs.src_lang = ours.src_lang = "en_XX"
        tok = tok.with_settings(src_lang="en_XX")
    theirs.eos_token = ours.eos_token = "</s>"
    assert ours("a")["input_ids"] == theirs("a")["input_ids"]


def test_a_post_processor_leaves_the_engine(tmp_path: Path) -> None:
    """Of any tokenizer: one that is put in place is no reason to read the vocabulary anew."""
    theirs, ours, _home = folder(tmp_path, "XLMRoberta")
    processors = pytest.importorskip("tokenizers.processors")
    engine = ours.syllabary._engine
    other = processors.TemplateProcessing(single="<pad> $A", pair="$B:1 $A", special_tokens=[("<pad>", 1)])
    for made in (other, processors.TemplateProcessing(single="$A", pair="$A $B")):
        for one in (theirs, ours):
            one.backend_tokenizer.post_processor = made
        for pair in (None, "cat"):
            assert plain(ours("the", pair)) == plain(theirs("the", pair))
        assert ours.syllabary._engine is engine
    for one in (theirs, ours):
        one.add_tokens(["zq"])
        one.backend_tokenizer.post_processor = other
    assert plain(ours("the zq")) == plain(theirs("the zq"))
