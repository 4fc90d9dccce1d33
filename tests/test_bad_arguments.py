"""Arguments of the wrong type or size, to every public function: an exception that names the argument.

Leaves out: text, files and ids that are of the right type and yet bad (`test_bad_input`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_bad_input import BATCH_ENCODERS, ENCODERS, TOK, train

import syllabary
from syllabary import surgery
from syllabary.errors import TextError, TrainingError, UnknownTokenError
from syllabary.formats import FORMATS

HUGE = 2**70
INTEGERS = ["vocab_size", "num_merges", "min_frequency", "max_token_length"]


@pytest.mark.parametrize("name", [*INTEGERS, "threads"])
@pytest.mark.parametrize("wrong", ["x", "9", 1.5, True, [9], np.array([9])])
def test_integers_of_another_type(name: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{name} is .*: give an integer"):
        train(**{name: wrong})


def test_integers_of_numpy_are_integers() -> None:
    assert train(vocab_size=np.int64(260), threads=np.uint8(2), min_frequency=np.int32(2)).vocab_size == 260


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_beyond_all_bounds(name: str) -> None:
    most = 2**64 - 1 if name == "min_frequency" else 2**32 - 1  # counts are wider than ids
    for number in (most + 1, HUGE):
        with pytest.raises(TrainingError, match=f"{name} is {number}: {most} is the most"):
            train(**{name: number})


@pytest.mark.parametrize("name", ["vocab_size", "max_token_length"])
def test_sizes_of_our_unigram_trainer_beyond_all_bounds(name: str) -> None:
    with pytest.raises(TrainingError, match=f"{name} is {HUGE}: {2**32 - 1} is the most"):
        train(model="unigram", **{name: HUGE})


@pytest.mark.parametrize("name", INTEGERS)
def test_sizes_for_integers_beyond_all_bounds(name: str) -> None:
    with pytest.raises(TrainingError, match=f"{name} is {HUGE}: "):
        syllabary.train_ids([[1, 2, 1, 2]], **{name: HUGE})


@pytest.mark.parametrize("model", ["wordpiece", "wordlevel"])
def test_an_unknown_token_without_text(model: str) -> None:
    with pytest.raises(TrainingError, match="unk_token is empty: give the text"):
        train(model=model, options={"unk_token": ""})


@pytest.mark.parametrize(
    "options, message",
    [
        ({"normalizer": b"NFC"}, "at normalizer: must be a name, an object .*, not bytes"),
        ({"pre_tokenizer": ["Digits", {3}]}, r"at pre_tokenizer\[1\]: must be a name, .*, not set"),
        ({"decoder": {"type": "Fuse"}, "pre_tokenizer": {"type": "Digits", "individual_digits": b"x"}},
         "individual_digits.*not bytes"),
    ],
)  # fmt: skip
def test_components_that_are_no_json(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        train(like="huggingface", options=options)


@pytest.mark.parametrize(
    "options",
    [{"min_frequency": 0}, {"min_frequency": -3}, {"max_token_length": 0}, {"num_merges": -1}],
)
def test_integers_that_are_too_small(options: dict[str, Any]) -> None:
    (name, value), *_ = options.items()
    with pytest.raises(TrainingError, match=f"{name} is {value}: set it to [01] or more"):
        train(**options)


@pytest.mark.parametrize("threads", [0, -1, 1025, HUGE])
def test_threads(threads: int) -> None:
    for call in (
        lambda: train(threads=threads),
        lambda: TOK.encode_batch(["a"], threads=threads),
        lambda: TOK.encode_batch_array(["a"], threads=threads),
        lambda: TOK.count_batch(["a"], threads=threads),
        lambda: TOK.encode_files([], threads=threads),
    ):
        with pytest.raises(ValueError, match=f"threads is {threads}: give 1 to 1024, or None"):
            call()


@pytest.mark.parametrize("name", ["unit", "tie_break", "byte_order", "alphabet", "like"])
def test_choices(name: str) -> None:
    with pytest.raises(TrainingError, match=rf"{name}='x' is none of \w+"):
        train(**{name: "x"})
    for wrong in (3, b"byte", ["byte"]):
        with pytest.raises(TypeError, match=f"{name} is .*: give str"):
            train(**{name: wrong})


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"split": 3}, TypeError, "split is 3: give str or None"),
        ({"split": b"gpt2"}, TypeError, "split is b'gpt2': give str or None"),
        ({"split": "a\ud800"}, TextError, "split: lone surrogate U[+]D800 at character 1"),
        ({"end_of_word": 3, "unit": "char"}, TypeError, "end_of_word is 3: give str or None"),
        ({"end_of_word": "\ud800", "unit": "char"}, TextError, "end_of_word: lone surrogate"),
        ({"end_of_word": "", "unit": "char"}, TrainingError, "end_of_word is empty"),
        ({"end_of_word": "</w>"}, TrainingError, 'needs unit="char"'),
        ({"fallback": "x", "unit": "char"}, TypeError, "fallback is 'x': give True or False"),
        ({"fallback": True}, TrainingError, 'fallback=True needs unit="char"'),
        ({"progress": "x"}, TypeError, "progress is 'x': give True, False or a function"),
        ({"special_tokens": "foo"}, TypeError, "special_tokens must be an iterable of str, not str"),
        ({"special_tokens": 3}, TypeError, "special_tokens must be an iterable of str, not int"),
        ({"special_tokens": {"<s>": 3}}, TypeError, "special_tokens is dict: give a list of the texts"),
        ({"special_tokens": {"<s>", "</s>"}}, TypeError, "special_tokens is set, which has no order: give a"),
        ({"special_tokens": frozenset(["<s>"])}, TypeError, "special_tokens is frozenset, which has no"),
        ({"special_tokens": None}, TypeError, "special_tokens must be an iterable of str"),
        ({"special_tokens": ["a", 3]}, TypeError, r"special_tokens\[1\] is int: give str"),
        ({"special_tokens": ["\udfff"]}, TextError, "special token 0: lone surrogate U[+]DFFF"),
        ({"vocab_size": 300, "num_merges": 3}, TrainingError, "set one of vocab_size"),
        ({"source": 5}, TypeError, "a source is a path .*, not int; one document is"),
        ({"source": None}, TypeError, "not NoneType"),
        ({"source": b"text"}, TypeError, "not bytes"),
        ({"source": ["a", 5]}, TypeError, "item 1 of the source is int"),
        ({"checkpoint": 5}, TypeError, "checkpoint is 5: give str or PathLike, or None"),
        ({"checkpoint": b"x"}, TypeError, "checkpoint is b'x': give str or PathLike, or None"),
    ],
)
def test_other_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        train(**options)


@pytest.mark.parametrize("wrong", [3, None, b"abc", ["a"], np.array([97])])
def test_what_is_no_text(wrong: Any) -> None:
    for encode in ENCODERS:
        with pytest.raises(TypeError, match=f"text must be a str, not {type(wrong).__name__}"):
            encode(wrong)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ("abc", "texts must be an iterable of str, not str"),
        (b"abc", "texts must be an iterable of str, not bytes"),
        (3, "texts must be an iterable of str, not int"),
        (None, "texts must be an iterable of str, not NoneType"),
        (["a", 3], r"texts\[1\] is int: give str"),
        ([b"a"], r"texts\[0\] is bytes: give str"),
    ],
)
def test_what_are_no_texts(wrong: Any, message: str) -> None:
    for encode in BATCH_ENCODERS:
        with pytest.raises(TypeError, match=message):
            encode(wrong)


def test_an_error_inside_the_callers_own_iterable_is_the_callers() -> None:
    def texts() -> Any:
        yield "a"
        raise OverflowError("mine")

    for read in (*BATCH_ENCODERS, train):
        with pytest.raises(OverflowError, match="mine"):
            read(texts())


@pytest.mark.parametrize(
    "special, error, message",
    [
        ("x", ValueError, "special='x' is not"),
        ("<|end|>", ValueError, "meant {'<|end|>'}"),
        (3, TypeError, "special is 3: give"),
        (None, TypeError, "special is None: give"),
        (b"allow", TypeError, "special is b'allow': give"),
        ({"<x>"}, UnknownTokenError, "'<x>', which is no special token of this tokenizer: it has '<|end|>'"),
        ([3], UnknownTokenError, "names 3, which is no special token"),
        ([["<|end|>"]], UnknownTokenError, "names ['<|end|>'], which is no special token"),
        (np.array(["<x>", "<y>"]), UnknownTokenError, "names '<x>', which is no special token"),
        (np.array("<x>"), TypeError, "special is array('<x>'"),
    ],
)
def test_policies(special: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        TOK.encode("a", special)
    with pytest.raises(error):
        TOK.encode_batch(["a"], special)
    with pytest.raises(error):
        TOK.encode_files([], special=special)
    with pytest.raises(error, match=re.escape(message)):
        TOK.steps("a", special)


def test_names_in_an_array_are_names() -> None:
    text, names = "low<|end|>", np.array(["<|end|>"])
    assert TOK.encode(text, names) == TOK.encode(text, "allow")  # type: ignore[arg-type]
    assert list(TOK.steps(text, names))[-1][-1] == TOK.encode("<|end|>", "allow")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: TOK.offsets("a", "x"), ValueError, "unit='x'"),  # type: ignore[arg-type]
        (lambda: TOK.decode([97], errors="nope"), ValueError, "errors='nope' is no error handler"),
        (lambda: TOK.decode([97], errors=3), TypeError, "errors is 3: give str"),  # type: ignore[arg-type]
        (lambda: TOK.decoder("nope"), ValueError, "errors='nope' is no error handler"),
        (lambda: TOK.decode([97], errors="a\0b"), ValueError, "is no error handler: give"),
        (lambda: TOK.decode([97], errors="\ud800"), ValueError, "is no error handler: give"),
        (lambda: TOK.encode_full_batch(["a"], overflow=1), TypeError, "overflow is 1: give"),  # type: ignore[arg-type]
        (lambda: TOK.encode_full("a", is_pretokenized=""), TypeError, "is_pretokenized is ''"),  # type: ignore[arg-type]
        (lambda: TOK.token_to_id(3), TypeError, "token is 3: give bytes or str"),  # type: ignore[arg-type]
        (lambda: TOK.token_to_id(["a"]), TypeError, "token is .*: give bytes or str"),  # type: ignore[arg-type]
        (lambda: TOK.token_to_id("zzz"), KeyError, "'zzz' is no token of this vocabulary"),
        (lambda: TOK.token_to_id("\ud800"), UnknownTokenError, "is no token of this vocabulary"),
        (lambda: TOK.encode_files(3), TypeError, "paths must be an iterable"),  # type: ignore[arg-type]
        (lambda: TOK.encode_files(["a", 3]), TypeError, r"paths\[1\] is int"),  # type: ignore[list-item]
        (lambda: TOK.encode_files([], separator=""), ValueError, "separator is empty"),
        (lambda: TOK.encode_files([], separator=3), TypeError, "separator is 3"),  # type: ignore[arg-type]
        (lambda: TOK.encode_files([], separator="\ud800"), TextError, "separator: lone surrogate"),
        (lambda: syllabary.Tokenizer(3), TypeError, "spec is int: give a TokenizerSpec"),  # type: ignore[arg-type]
        (lambda: TOK.save(3), TypeError, "path is 3: give str"),  # type: ignore[arg-type]
        (lambda: TOK.save("a.json", format="nope"), ValueError, "no format is named 'nope'"),
        (lambda: TOK.save("a.json", format=["gguf"]), ValueError, "no format is named ..gguf'"),
        (lambda: syllabary.load(3), TypeError, "path_or_name is 3"),  # type: ignore[arg-type]
        (lambda: syllabary.load(b"x"), TypeError, "path_or_name is b'x'"),  # type: ignore[arg-type]
        (lambda: syllabary.load(None), TypeError, "path_or_name is None: give str or P"),  # type: ignore[arg-type]
        (lambda: TOK.save(None), TypeError, "path is None: give str or PathLike"),  # type: ignore[arg-type]
        (lambda: syllabary.load(b"x" * 9999), TypeError, r"is b'x{1,40}\.\.\..*from a file"),  # type: ignore[arg-type]
        (lambda: TOK.save(b"x.json"), TypeError, "path is b'x.json': give str or"),  # type: ignore[arg-type]
        (lambda: surgery.unreachable(5), TypeError, "tok is 5: give a Tok"),  # type: ignore[arg-type]
        (lambda: surgery.extend(TOK, 5), TypeError, "other is 5: give a Tok"),  # type: ignore[arg-type]
        (lambda: surgery.add("a", ["b"]), TypeError, "tok is 'a': give a"),  # type: ignore[arg-type]
        (lambda: surgery.add(TOK, {"<a>", "<b>"}), TypeError, "tokens is set, which has no order: give"),
        (lambda: surgery.add(TOK, {"<a>": 300}), TypeError, "tokens is dict: give a list of the texts"),
        (lambda: surgery.remove(5, []), TypeError, "tok is 5: give a Tok"),  # type: ignore[arg-type]
        (lambda: surgery.truncate(5, 5), TypeError, "tok is 5: give a Tok"),  # type: ignore[arg-type]
        (lambda: syllabary.load("nowhere.json"), FileNotFoundError, "nowhere.json"),
        (lambda: syllabary.load("cl200k"), KeyError, "'cl200k' is no file, and no published encoding"),
    ],
)
def test_other_arguments(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "special_tokens, error, message",
    [
        ("foo", TypeError, "special_tokens is 'foo': give a dict"),
        (["foo"], TypeError, "give a dict"),
        ({"foo": "x"}, TypeError, "the id of special token 'foo' is 'x': give an integer"),
        ({"foo": True}, TypeError, "give an integer"),
        ({3: 500}, TypeError, "special token 3 is int: give str"),
        ({"foo": 97}, ValueError, "id 97 is both 'foo' and the token b'a'"),
        ({"foo": 300, "bar": 300}, ValueError, "id 300 is both 'foo' and 'bar'"),
        ({"": 300}, ValueError, "is empty"),
        ({"foo": -4}, ValueError, "id -4 is negative"),
        ({"foo": HUGE}, ValueError, "is above 4294967294"),
    ],
)
def test_special_tokens_of_a_rank_file(
    special_tokens: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    assert any(form.name == "tiktoken" for form in FORMATS)
    train().save(tmp_path / "r.tiktoken")
    with pytest.raises(error, match=message):
        syllabary.load(tmp_path / "r.tiktoken", split="gpt4", special_tokens=special_tokens)
    with pytest.raises(TypeError, match="split is 3: give str or None"):
        syllabary.load(tmp_path / "r.tiktoken", split=3)  # type: ignore[arg-type]


def test_ids_of_special_tokens_may_be_integers_of_numpy(tmp_path: Path) -> None:
    train().save(tmp_path / "r.tiktoken")
    numbers: Any = {"foo": np.int64(300)}
    found = syllabary.load(tmp_path / "r.tiktoken", split="gpt4", special_tokens=numbers).special_tokens
    assert [(name, number, type(number)) for name, number in found.items()] == [("foo", 300, int)]


@pytest.mark.parametrize("index", ["x", 1.5, None])
def test_documents_of_ragged_by_no_integer(index: Any) -> None:
    ragged = TOK.encode_batch_array(["a", "b"])
    with pytest.raises(TypeError, match="give an integer or a slice"):
        ragged[index]
    for beyond in (2, -3):
        with pytest.raises(IndexError, match=f"document {beyond} of 2"):
            ragged[beyond]


@pytest.mark.parametrize("unit", ["ab", "a/b", "a.b"])
def test_what_is_in_a_file_instead_of_its_path_is_quoted_in_part(unit: str) -> None:
    with pytest.raises((FileNotFoundError, KeyError)) as caught:
        syllabary.load(unit * 1_000_000)
    assert unit * 5 in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["id_to_token", "token_to_id"])
def test_a_long_value_of_another_type_is_shown_in_part(name: str) -> None:
    with pytest.raises(TypeError, match=r"is \[0, 1, 2, .*…: give ") as caught:
        getattr(TOK, name)(list(range(9_999)))
    assert len(str(caught.value)) < 100
    with pytest.raises(UnknownTokenError) as unknown:
        TOK.token_to_id("ab" * 9_999)
    assert len(str(unknown.value)) < 150

    with pytest.raises(syllabary.SplitError) as split:
        syllabary.train(["a"], vocab_size=260, split="a" * 9_999)
    assert len(str(split.value)) < 500


class Column(list[object]):
    """As an array of pyarrow: its members are objects of its own."""

    def to_pylist(self) -> list[object]:
        return list(self)


@pytest.mark.parametrize("encode", BATCH_ENCODERS)
def test_a_column_of_pyarrow_is_no_list(encode: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"^texts is Column: give texts\.to_pylist\(\)$"):
        encode(Column([object()]))
    with pytest.raises(TypeError, match=r"^the source is Column: give its \.to_pylist\(\)$"):
        syllabary.train(Column([object()]), vocab_size=260)


class Table(list[str]):
    """As a data frame: its members are the names of its columns."""

    columns = ("text",)


@pytest.mark.parametrize("encode", BATCH_ENCODERS)
def test_a_table_is_no_list_of_its_names(encode: Callable[..., Any]) -> None:
    tables: list[Any] = [Table(["text"]), {"text": ["a", "b"]}]
    for table in tables:
        with pytest.raises(TypeError, match=r'^texts is (Table|dict): give one column, as texts\["text"\]$'):
            encode(table)
    with pytest.raises(TypeError, match=r'^the source is Table: give one column, as source\["text"\]$'):
        syllabary.train(tables[0], vocab_size=260)


def test_bools_of_torch_are_no_ids() -> None:
    torch = pytest.importorskip("torch")
    for name in ("decode", "decode_bytes"):
        with pytest.raises(TypeError, match=r"^ids is a tensor of bools: give integers"):
            getattr(TOK, name)(torch.tensor([True, False]))
        assert getattr(TOK, name)(torch.tensor([97])) in ("a", b"a")


def test_tensors_of_no_ids_are_told_with_their_shape() -> None:
    torch = pytest.importorskip("torch")
    for wrong, said in (
        (torch.tensor([97.0]), r"float32 with shape \(1,\)"),
        (torch.tensor([[97]]), r"int64 with shape \(1, 1\)"),
        (torch.tensor(97), r"int64 with shape \(\)"),
    ):
        for name in ("decode", "decode_bytes"):
            with pytest.raises(TypeError, match=f"^ids is a tensor of {said}: give integers"):
                getattr(TOK, name)(wrong)
        with pytest.raises(TypeError, match=f"^sequence 0 of the batch: ids is a tensor of {said}"):
            TOK.decode_batch([wrong])
    assert TOK.decode_batch(torch.tensor([[97]])) == ["a"]


def test_a_mask_is_not_passed_over() -> None:
    masked: Any = np.ma.MaskedArray([97, 98], [False, True])
    for name in ("decode", "decode_bytes"):
        with pytest.raises(TypeError, match=r"^ids is MaskedArray: give .*ids\.compressed\(\)"):
            getattr(TOK, name)(masked)
    with pytest.raises(TypeError, match="sequence 1 of the batch: ids is MaskedArray"):
        TOK.decode_batch([[97], masked])
    whole = syllabary.IdTokenizer([97, 98])
    for act in (whole.encode, whole.decode):
        with pytest.raises(TypeError, match="is MaskedArray"):
            act(masked)
