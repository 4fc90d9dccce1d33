"""`tok.as_transformers()` beside `PreTrainedTokenizerFast` on one folder: calls, decoding, files, changes.

Leaves out: chat templates (`test_transformers_chat`), what other code does with it
(`test_transformers_code`).
"""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers_folders import SHAPES, TEXTS, call, refuses, text, write

import syllabary
from syllabary.compat import tokenizers as compat

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
Pair = tuple[Any, Any]
DIGITS = pre_tokenizers.Sequence(
    [pre_tokenizers.Split(Regex(r"\d"), "isolated"), pre_tokenizers.ByteLevel(use_regex=False)]
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {shape: write(shape, tmp_path_factory.mktemp(shape)) for shape in SHAPES}


@pytest.fixture(params=SHAPES)
def pair(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Pair:
    """The same tokenizer, ours and theirs."""
    return both(folders[request.param])


def both(folder: Path, **settings: Any) -> Pair:
    ours = syllabary.load(folder).as_transformers(**settings)
    return ours, transformers.PreTrainedTokenizerFast.from_pretrained(folder, **settings)


def plain(value: Any) -> Any:
    """Arrays and tensors as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def same(ours: Any, theirs: Any, told: object) -> None:
    assert list(ours) == list(theirs), told
    for key in theirs:
        assert type(ours[key]) is type(theirs[key]), (told, key)
        assert plain(ours[key]) == plain(theirs[key]), (told, key)


def same_places(ours: Any, theirs: Any, random: Random, told: object) -> None:
    """What a `BatchEncoding` says of tokens, words and characters."""
    for row, encoding in enumerate(theirs.encodings):
        assert ours.tokens(row) == theirs.tokens(row), told
        assert ours.word_ids(row) == theirs.word_ids(row), told
        assert ours.sequence_ids(row) == theirs.sequence_ids(row), told
        for _ in range(3):
            place, sequence = random.randrange(40), random.randrange(encoding.n_sequences)
            for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
                mine, yours = (getattr(one[row], name)(place, sequence) for one in (ours, theirs))
                assert mine == yours, (told, name, place, sequence)
            if place < len(encoding):
                for name in ("token_to_chars", "token_to_word", "token_to_sequence"):
                    assert getattr(ours[row], name)(place) == getattr(encoding, name)(place), (told, name)


def test_calls(pair: Pair, prove: bool) -> None:
    ours, theirs = pair
    random = Random(7)
    for _ in range(4000 if prove else 150):
        texts, options = call(random, theirs.all_special_tokens, theirs.pad_token is not None)
        try:
            expected = theirs(*texts, **options)
        except BaseException as error:  # noqa: BLE001 (one that is no refusal is raised again)
            refuses(lambda texts=texts, options=options: ours(*texts, **options), error, options)
            continue
        found = ours(*texts, **options)
        same(found, expected, (texts, options))
        assert found.n_sequences == expected.n_sequences
        same_places(found, expected, random, (texts, options))


def test_tensors(pair: Pair) -> None:
    ours, theirs = pair
    if theirs.pad_token is None:
        ours.pad_token = theirs.pad_token = theirs.eos_token
    for kind in ("np", "pt"):
        for options in ({}, {"return_offsets_mapping": True}, {"return_overflowing_tokens": True}):
            asked = {"padding": True, "truncation": True, "max_length": 12, "return_tensors": kind, **options}
            same(ours(TEXTS, **asked), theirs(TEXTS, **asked), asked)
            same(ours(TEXTS[0], **asked), theirs(TEXTS[0], **asked), asked)
    with pytest.raises(ValueError, match="Unable to create tensor"):
        ours(TEXTS, return_tensors="pt")
    asked = {"padding": "max_length", "max_length": 6, "truncation": False, "add_special_tokens": False}
    for one, other in zip(
        *(tok(TEXTS, **asked, return_tensors="np")["input_ids"] for tok in pair), strict=True
    ):
        assert one.tolist() == other.tolist()  # rows above the length stay as long as they are
    with pytest.raises(ValueError, match="Unable to create tensor"):
        ours(TEXTS, **asked, return_tensors="pt")


def test_encode_tokenize_and_targets(pair: Pair) -> None:
    ours, theirs = pair
    random = Random(8)
    for _ in range(30):
        one, two = text(random, theirs.all_special_tokens), text(random, theirs.all_special_tokens)
        assert ours.encode(one) == theirs.encode(one)
        assert ours.encode(one, two, add_special_tokens=False) == theirs.encode(
            one, two, add_special_tokens=False
        )
        assert ours.tokenize(one) == theirs.tokenize(one)
        assert ours.tokenize(one, two, add_special_tokens=True) == theirs.tokenize(
            one, two, add_special_tokens=True
        )
        asked = {"text_target": two, "max_target_length": 8, "truncation": True, "max_length": 16}
        same(ours(one, **asked), theirs(one, **asked), (one, two))
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[2], "")]
    same(ours(pairs), theirs(pairs), "a batch of pairs")


def test_a_template_that_is_not_around_the_text(tmp_path: Path) -> None:
    """What it says of the text holds without special tokens too."""
    folder = write("bytes", tmp_path)
    made = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    twice = processors.TemplateProcessing(single="$A <s> $A", pair="$B $A", special_tokens=[("<s>", 0)])
    made["post_processor"] = json.loads(twice.__getstate__())
    (folder / "tokenizer.json").write_text(json.dumps(made), "utf-8")
    ours, theirs = both(folder)
    for special in (True, False):
        same(ours("one", add_special_tokens=special), theirs("one", add_special_tokens=special), special)
        assert ours.tokenize("one two", add_special_tokens=special) == theirs.tokenize(
            "one two", add_special_tokens=special
        )


def test_decode(pair: Pair) -> None:
    ours, theirs = pair
    random = Random(9)
    for _ in range(60):
        ids = [random.randrange(len(theirs)) for _ in range(random.randrange(12))]
        for skip in (False, True):
            for clean in (None, False, True):
                asked = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean}
                assert ours.decode(ids, **asked) == theirs.decode(ids, **asked), (ids, asked)
    rows = theirs(TEXTS[:4])["input_ids"]
    for one in (rows, [np.array(row) for row in rows], np.array([row[:1] for row in rows])):
        assert ours.batch_decode(one, skip_special_tokens=True) == theirs.batch_decode(
            one, skip_special_tokens=True
        )
    assert ours.decode(3) == theirs.decode(3)
    assert ours.decode([3, 10**6]) == theirs.decode([3, 10**6])  # no token: passed over, as there
    for ids in ([], rows[0]):
        assert ours.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
    tokens = theirs.convert_ids_to_tokens(rows[0])
    assert ours.convert_tokens_to_ids([*tokens, "nope"]) == theirs.convert_tokens_to_ids([*tokens, "nope"])
    assert ours.convert_tokens_to_string(tokens) == theirs.convert_tokens_to_string(tokens)


def test_the_vocabulary(pair: Pair) -> None:
    ours, theirs = pair
    assert isinstance(ours, transformers.PreTrainedTokenizerFast)
    assert isinstance(ours, transformers.PreTrainedTokenizerBase)
    assert (len(ours), ours.vocab_size, ours.is_fast) == (len(theirs), theirs.vocab_size, True)
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_added_vocab() == theirs.get_added_vocab()
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_ids == theirs.all_special_ids
    assert ours.model_max_length == theirs.model_max_length
    assert (ours.padding_side, ours.truncation_side) == (theirs.padding_side, theirs.truncation_side)
    for paired in (False, True):
        assert ours.num_special_tokens_to_add(paired) == theirs.num_special_tokens_to_add(paired)


def test_pad(pair: Pair) -> None:
    ours, theirs = pair
    if theirs.pad_token is None:
        with pytest.raises(ValueError, match="does not have a padding token"):
            ours(TEXTS, padding=True)
        return
    rows = [{"input_ids": [1, 2]}, {"input_ids": [3]}]
    same(ours.pad(rows, return_tensors="np"), theirs.pad(rows, return_tensors="np"), rows)


def test_save_and_open(pair: Pair, tmp_path: Path) -> None:
    ours, theirs = pair
    ours.save_pretrained(tmp_path / "ours")
    theirs.save_pretrained(tmp_path / "theirs")
    names = sorted(path.name for path in (tmp_path / "theirs").iterdir())
    assert sorted(path.name for path in (tmp_path / "ours").iterdir()) == names
    for opened in (
        transformers.AutoTokenizer.from_pretrained(tmp_path / "ours"),
        type(ours).from_pretrained(tmp_path / "ours"),
        syllabary.load(tmp_path / "ours").as_transformers(),
    ):
        same(opened(TEXTS), theirs(TEXTS), "opened again")
        assert opened.special_tokens_map == theirs.special_tokens_map
    config = json.loads((tmp_path / "ours" / "tokenizer_config.json").read_text("utf-8"))
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"


def test_pickle_and_copy(pair: Pair) -> None:
    ours, theirs = pair
    before = pickle.dumps(ours)
    expected = theirs(TEXTS)
    same(ours(TEXTS), expected, "as it is")
    assert pickle.dumps(ours) == before  # what datasets takes the hash of
    same(pickle.loads(before)(TEXTS), expected, "pickled")
    same(copy.deepcopy(ours)(TEXTS), expected, "copied")
    encoded = pickle.loads(pickle.dumps(ours(TEXTS)))
    assert encoded["input_ids"] == expected["input_ids"]
    assert encoded.word_ids(0) == expected.word_ids(0)


def test_added_tokens(pair: Pair) -> None:
    ours, theirs = pair
    texts = ["a <new> b<new>c", "dog dogs", "<x>y"]
    for one in pair:
        one(texts)
        assert one.add_tokens(["<new>", AddedToken("dog", single_word=True)]) >= 1
        assert one.add_special_tokens({"mask_token": "<x>"}) == 1
    same(ours(texts), theirs(texts), "added")
    assert (len(ours), ours.mask_token_id) == (len(theirs), theirs.mask_token_id)
    assert ours.decode(ours(texts[0])["input_ids"]) == theirs.decode(theirs(texts[0])["input_ids"])


def test_changes_of_the_parts_are_seen(folders: dict[str, Path]) -> None:
    for change in (
        lambda one: setattr(one.backend_tokenizer, "normalizer", normalizers.Lowercase()),
        lambda one: setattr(
            one._tokenizer, "post_processor", processors.BertProcessing(("</s>", 1), ("<s>", 0))
        ),
        lambda one: setattr(one._tokenizer.pre_tokenizer, "add_prefix_space", True),
        lambda one: setattr(one.backend_tokenizer, "pre_tokenizer", DIGITS),
        lambda one: setattr(one, "add_bos_token", True),
        lambda one: one.backend_tokenizer.add_special_tokens(["world"]),
    ):
        pair = both(folders["bytes"])
        for one in pair:
            one(TEXTS)
            change(one)
        same(pair[0](TEXTS), pair[1](TEXTS), "changed")
    held = both(folders["bytes"])
    parts = [one._tokenizer.pre_tokenizer for one in held]
    for one, part in zip(held, parts, strict=True):
        one(TEXTS)
        part.add_prefix_space = True
    same(held[0](TEXTS), held[1](TEXTS), "changed later")


def test_settings_of_a_call_stay_with_it(pair: Pair) -> None:
    ours, theirs = pair
    expected = theirs(TEXTS[0])
    ours(TEXTS[0], truncation=True, max_length=8)
    same(ours(TEXTS[0]), expected, "after a call that truncates")


def test_roles_given_at_once(folders: dict[str, Path]) -> None:
    ours, theirs = both(folders["llama"], pad_token="<pad>", padding_side="left", model_max_length=10)
    assert (ours.pad_token_id, len(ours)) == (theirs.pad_token_id, len(theirs))
    same(
        ours(TEXTS, padding="max_length", truncation=True),
        theirs(TEXTS, padding="max_length", truncation=True),
        "",
    )


def without_an_unknown_token(folder: Path) -> Path:
    """A `tokenizer.json` of four tokens."""
    theirs = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "c": 3}, [("a", "b")]))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    theirs.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@pytest.mark.parametrize("text", ["axb ab", "xab abx xb", "x", "", ["ab", "axb c"], [["ax", "b"], ["x"]]])
def test_characters_without_a_token_are_dropped(text: Any, tmp_path: Path) -> None:
    """Where there is no unknown token; what stands beside them merges."""
    path = without_an_unknown_token(tmp_path)
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), pad_token="c")
    ours = syllabary.load(path).as_transformers(pad_token="c")
    before = pickle.dumps(ours)
    words = bool(text) and isinstance(text[0], list)
    for options in (
        {},
        {"return_offsets_mapping": True, "padding": True},
        {"truncation": True, "max_length": 1, "padding": "max_length", "return_tensors": None},
    ):
        found = ours(text, is_split_into_words=words, **options)
        assert dict(found) == dict(theirs(text, is_split_into_words=words, **options))
    if isinstance(text, str):
        assert ours.tokenize(text) == theirs.tokenize(text)
    assert pickle.dumps(ours) == before
    with pytest.raises(syllabary.UnknownSymbolError):
        ours.syllabary.encode("x")


def test_an_old_folder(folders: dict[str, Path], tmp_path: Path) -> None:
    """Roles in a map, with tokens that tokenizer.json does not have."""
    (tmp_path / "tokenizer.json").write_bytes((folders["llama"] / "tokenizer.json").read_bytes())
    roles = {"pad_token": {"content": "<pad>", "lstrip": True}, "additional_special_tokens": ["<a>", "is"]}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(roles), encoding="utf-8")
    ours, theirs = both(tmp_path)
    texts = ["x <pad> y", "this is<a>it"]
    same(ours(texts), theirs(texts), roles)
    tok = syllabary.load(tmp_path)
    assert tok.encode_batch(texts, special="allow") == theirs(texts, add_special_tokens=False)["input_ids"]
    assert tok.token_to_id("<pad>") == theirs.pad_token_id


def test_what_is_no_text(folders: dict[str, Path]) -> None:
    ours, _theirs = both(folders["bytes"])
    for wrong in (3, [3], [["a", "b", "c"]], {"a": 1}, [None]):
        with pytest.raises((ValueError, TypeError)):
            ours(wrong)
    with pytest.raises(ValueError, match="2 texts and 1"):
        ours(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="text_pair a str"):
        ours(["a"], "b")
    assert ours([])["input_ids"] == []


def test_misuse_that_makes_theirs_panic(folders: dict[str, Path]) -> None:
    ours, _theirs = both(folders["roberta"])
    for options in ({"max_length": 1}, {"max_length": 4, "stride": 3, "return_overflowing_tokens": True}):
        with pytest.raises(ValueError, match=r"max_length|stride"):
            ours(TEXTS[0], truncation=True, **options)


def test_a_template_that_names_an_unknown_token(folders: dict[str, Path], tmp_path: Path) -> None:
    """Theirs panics when it is asked for the ids; `compat.tokenizers` says it, too."""
    file = json.loads((folders["bert"] / "tokenizer.json").read_text(encoding="utf-8"))
    del file["post_processor"]["special_tokens"]["[CLS]"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    for encode in (
        syllabary.load(tmp_path).encode_full,
        syllabary.load(tmp_path).as_transformers(),
        compat.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode,
    ):
        with pytest.raises(syllabary.VocabularyError, match=r"the template has '\[CLS\]', and its special"):
            encode("a")


def test_sides_and_sizes_that_are_none(folders: dict[str, Path]) -> None:
    """Asked for alone or with all fields, as lists or arrays: an error here as there, and no row."""
    pads, cuts = {"padding": True}, {"truncation": True, "max_length": 8}
    fixed: dict[str, Any] = {"padding": "max_length"}
    wrong: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("padding_side", {}, {**pads, "padding_side": "up"}),
        ("padding_side", {"padding_side": "up"}, pads),
        ("truncation_side", {"truncation_side": "up"}, cuts),
        ("pad_to_multiple_of", {}, {**pads, "pad_to_multiple_of": -8}),
        ("max_length", {}, {**fixed, "max_length": -1}),
    ]
    for field in ({}, {"return_offsets_mapping": True}, {"return_tensors": "np"}):
        for named, changed, options in wrong:
            ours, theirs = both(folders["bytes"])
            for name, value in changed.items():
                setattr(ours, name, value)
                setattr(theirs, name, value)
            with pytest.raises((ValueError, OverflowError)):
                theirs(TEXTS[0], **options, **field)
            with pytest.raises(ValueError, match=named):
                ours(TEXTS[0], **options, **field)
            ours("a", **({} if changed else {"padding_side": "up"}), **field)  # not used, as there
        with pytest.raises(ValueError, match="max_length is 1099511627776: give 0 to 16777216"):
            ours("a", **fixed, max_length=2**40, **field)


def test_ids_below_zero_are_no_text(pair: Pair) -> None:
    """A label that is left out of the loss, decoded: an error, as there."""
    ours, theirs = pair
    with pytest.raises(OverflowError):
        theirs.decode([3, -100])
    with pytest.raises(syllabary.UnknownTokenError, match="id -100 at index 1"):
        ours.decode([3, -100])


def test_what_tokenizer_json_cannot_hold() -> None:
    tok = syllabary.train(["ab ab ab"] * 2, num_merges=1, unit="word")
    with pytest.raises(syllabary.FormatError, match=r"unit 'word'.*; `syllabary convert` to a"):
        tok.as_transformers()


def test_published_vocabulary(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((shared / "vocabs" / "gpt2_tokenizer.json").read_bytes())
    ours, theirs = both(tmp_path, pad_token="<|endoftext|>")
    random = Random(10)
    for _ in range(40):
        texts, options = call(random, ["<|endoftext|>"], pads=True)
        same(ours(*texts, **options), theirs(*texts, **options), (texts, options))
