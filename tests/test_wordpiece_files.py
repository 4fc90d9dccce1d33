"""Files of WordPiece: BERT's `vocab.txt`, `tokenizer.json`; whole, converted and damaged.

Leaves out: encoding (`test_wordpiece`), WordLevel's (`test_wordlevel`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hard_text import hard_texts
from tokenizers import Tokenizer as Peer
from words_peers import bert, made

import syllabary
from syllabary import formats
from syllabary.convert import convert
from syllabary.errors import FormatError
from syllabary.framing import BertProcessing, Framing, Padding, Truncation
from syllabary.spec import Matching, Step
from syllabary.verify import verify

VOCAB = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "hello",
    "##lo",
    "hel",
    "é",
    "e",
    "字",
    "!",
    "H",
    "##ello",
]
TEXTS = ["Hello hello hellolo É é", "字hel!", "[CLS] hel [MASK]", ""]


def folder_of(folder: Path, config: object = None, lines: list[str] | None = None) -> Path:
    """A folder with `vocab.txt`, and the options beside it if there are any."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{line}\n" for line in lines or VOCAB), "utf-8")
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


CONFIGS: list[dict[str, Any]] = [
    {"do_lower_case": True},
    {"do_lower_case": False},
    {"do_lower_case": True, "strip_accents": False, "tokenize_chinese_chars": False},
    {"do_lower_case": False, "strip_accents": True, "mask_token": "!"},
]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_as_transformers_reads_it(config: dict[str, Any], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder = folder_of(tmp_path / "bert", {**config, "tokenizer_class": "BertTokenizer"})
    peer = transformers.BertTokenizerFast.from_pretrained(str(folder))
    tok = syllabary.load(folder)
    for text in [*TEXTS, *hard_texts(100, seed=2)]:
        assert tok.encode(text, special="allow") == peer.encode(text, add_special_tokens=False)
    tok.save(tmp_path / "tokenizer.json")
    assert json.loads((tmp_path / "tokenizer.json").read_text()) == json.loads(
        peer.backend_tokenizer.to_str()
    )


def test_the_casing_is_told_or_an_error(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bare")
    with pytest.raises(
        FormatError, match=r"give split='bert-uncased' or split='bert-cased', or put a tokeni"
    ):
        syllabary.load(folder)
    assert syllabary.load(folder, split="bert-uncased").encode("Hello É") == [5, 9]
    assert syllabary.load(folder / "vocab.txt", split="bert-cased").encode("Hello É") == [12, 13, 1]
    for split in ("gpt2", "none"):
        with pytest.raises(FormatError, match="the split of BERT is its own"):
            syllabary.load(folder, split=split)
    made("WordPiece", bert(True), None).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(FormatError, match="says its split and special tokens itself; leave out split"):
        syllabary.load(tmp_path / "tokenizer.json", split="bert-cased")


@pytest.mark.parametrize("config", CONFIGS[:3], ids=str)
def test_written_and_read_again(config: dict[str, Any], tmp_path: Path) -> None:
    tok = syllabary.load(folder_of(tmp_path / "one", config))
    (tmp_path / "two").mkdir()
    tok.save(tmp_path / "two", format="bert")
    assert (tmp_path / "two" / "vocab.txt").read_bytes() == (tmp_path / "one" / "vocab.txt").read_bytes()
    again = syllabary.load(tmp_path / "two").spec
    # What transformers' own file says beside the options of BERT is spelled out in the second.
    carried = {name: kept for name, kept in tok.spec.carried.items() if name != "transformers"}
    assert again.carried.keys() == tok.spec.carried.keys()
    assert replace(again, carried={name: again.carried[name] for name in carried}) == replace(
        tok.spec, carried=carried
    )
    tok.save(tmp_path / "own.syllabary.json")
    assert syllabary.load(tmp_path / "own.syllabary.json").spec == tok.spec
    beside = "the record of training, and what other formats alone hold: no id changes"
    for target, losses in (("tokenizer.json", (beside,)), ("three.syllabary.json", ())):
        done = convert(tok, tmp_path / target)
        assert (done.losses, done.same_ids) == (losses, done.texts)
    back = convert(tmp_path / "tokenizer.json", tmp_path / "two" / "vocab.txt")
    assert (back.losses, back.same_ids) == ((), back.texts)


def test_settings_stay_in_the_folder(tmp_path: Path) -> None:
    own = {"model_max_length": 512, "chat_template": "T", "padding_side": "left", "never_split": ["a"]}
    mask = {"content": "[MASK]", "lstrip": False, "__type": "AddedToken"}
    config = {"do_lower_case": False, **own, "mask_token": mask, "tokenizer_class": "ElectraTokenizer"}
    folder = folder_of(tmp_path / "bert", config)
    tok = syllabary.load(folder)
    tok.save(folder / "vocab.txt")
    written = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    assert {name: written[name] for name in config} == config
    assert written["pad_token"] == "[PAD]"
    again = syllabary.load(folder)
    assert (again.settings.chat_templates, again.settings.padding_side) == ({"default": "T"}, "left")
    assert again.settings.model_max_length == 512
    assert convert(tok, folder / "vocab.txt", strict=True).losses == ()
    assert json.loads((folder / "tokenizer_config.json").read_text("utf-8")) == written
    (folder / "chat_template.jinja").write_text("U")
    losses = convert(folder, tmp_path / "other-vocab.txt").losses
    assert losses == ("What only transformers holds beside the tokenizer is lost; no id changes.",)
    general = tok.with_settings(tokenizer_class="PreTrainedTokenizerFast")
    general.save(folder / "vocab.txt")
    written = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    assert written["tokenizer_class"] == "BertTokenizer"


@pytest.mark.parametrize("split", [None, "bert-cased", "bert-uncased"])
def test_settings_stay_beside_a_file_that_is_read_by_itself(split: str | None, tmp_path: Path) -> None:
    config = {"do_lower_case": False, "model_max_length": 512, "chat_template": "T", "never_split": ["a"]}
    folder = folder_of(tmp_path / "bert", config)
    file, beside = folder / "vocab.txt", folder / "tokenizer_config.json"
    tok = syllabary.load(file, split=split)
    assert (tok.settings.model_max_length, tok.settings.chat_templates) == (512, {"default": "T"})
    assert tok.spec == syllabary.load(folder, split=split).spec
    tok.save(file)
    written = json.loads(beside.read_text("utf-8"))
    assert {name: written[name] for name in config} == {**config, "do_lower_case": split == "bert-uncased"}
    beside.write_text("{")
    with pytest.raises(FormatError, match=r"tokenizer_config.json: not JSON"):
        syllabary.load(file, split=split)
    assert beside.read_text() == "{"


@pytest.mark.parametrize("key", ["padding", "truncation", "post_processor"])
def test_framing_that_vocab_txt_cannot_hold_is_named(key: str, tmp_path: Path) -> None:
    tok = syllabary.load(folder_of(tmp_path / "bert", {"do_lower_case": True}))
    template, target = tok.framing.post_processor, tmp_path / "new-vocab.txt"
    assert convert(tok, target, strict=True).losses == ()
    given: dict[str, Framing] = {
        "padding": Framing(template, padding=Padding(length=8)),
        "truncation": Framing(truncation=Truncation(max_length=4)),
        "post_processor": Framing((BertProcessing(("!", 11), ("[CLS]", 2)),)),
    }
    framed = tok.with_framing(given[key])
    with pytest.raises(FormatError, match="What only huggingface holds beside the tokenizer is lost"):
        convert(framed, target, strict=True)
    assert convert(framed, target).losses[0].startswith("What only huggingface holds")


def test_tokenizer_json_comes_out_as_it_went_in(tmp_path: Path) -> None:
    for options in ({}, {"continuing_subword_prefix": ""}, {"max_input_chars_per_word": 2**64 - 1}):
        peer = made("WordPiece", bert(False), {"type": "BertPreTokenizer"}, **options)
        peer.save(str(tmp_path / "tokenizer.json"))
        syllabary.load(tmp_path / "tokenizer.json").save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_text("utf-8") == peer.to_str(pretty=True)
    report = verify(tmp_path / "tokenizer.json", "tokenizers", TEXTS)
    assert report.difference is None


def test_an_unknown_token_that_is_none(tmp_path: Path) -> None:
    peer = json.loads(made("WordPiece", bert(False), {"type": "BertPreTokenizer"}, unk_token="<?>").to_str())
    (tmp_path / "tokenizer.json").write_text(json.dumps(peer))
    tok = syllabary.load(tmp_path)
    assert tok.spec.unknown is None
    with pytest.raises(syllabary.UnknownSymbolError):
        tok.encode("\U000104a5")
    tok.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(
        Peer.from_str(json.dumps(peer)).to_str()
    )


# ---- damage ----

Damage = Callable[[bytes], bytes]
BROKEN: list[tuple[Damage, str]] = [
    (lambda data: data + b"hello\n", "lines 6 and 15 are the same token 'hello'"),
    (lambda data: data.replace(b"[UNK]", b"[UNX]"), r"no line is the unknown token '\[UNK\]'"),
    (lambda data: data.replace(b"hel\n", b"h\xff\n"), "line 8 is not UTF-8"),
    (lambda data: data.replace(b"hel\n", b"\n"), "line 8 is empty"),
    (lambda data: data.replace(b"hel\n", b"hel \n"), "line 8 ends in whitespace"),
    (lambda data: data.replace(b"hel\n", b"h\rel\n"), "line 8 ends in whitespace, or holds a lone carriage"),
    (lambda data: b"", "no line is the unknown token"),
]


@pytest.mark.parametrize("damage, message", BROKEN, ids=[message for _damage, message in BROKEN])
def test_a_damaged_vocabulary_names_the_line(damage: Damage, message: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bert", {"do_lower_case": True})
    data = (folder / "vocab.txt").read_bytes()
    (folder / "vocab.txt").write_bytes(damage(data))
    with pytest.raises(FormatError, match=message) as raised:
        syllabary.load(folder)
    assert "vocab.txt" in str(raised.value)


def test_a_special_token_with_flags_is_its_text(tmp_path: Path) -> None:
    config = {"do_lower_case": True, "mask_token": {"content": "!", "lstrip": False}}
    assert "!" in syllabary.load(folder_of(tmp_path / "bert", config)).special_tokens


def test_lines_that_end_as_on_windows(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bert", {"do_lower_case": True})
    expected = syllabary.load(folder).spec
    (folder / "vocab.txt").write_bytes((folder / "vocab.txt").read_bytes().replace(b"\n", b"\r\n"))
    assert syllabary.load(folder).spec == expected


@pytest.mark.parametrize(
    "config, message",
    [
        ("{", "not JSON"),
        ("{}", "do_lower_case"),
        ('{"do_lower_case": 1}', "do_lower_case"),
        ('{"do_lower_case": true, "strip_accents": "no"}', "strip_accents"),
        ('{"do_lower_case": true, "unk_token": "<unk>"}', "no line is the unknown token '<unk>'"),
        ('{"do_lower_case": true, "unk_token": 5}', "unk_token"),
    ],
)
def test_damaged_options_are_named(config: str, message: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bert")
    (folder / "tokenizer_config.json").write_text(config)
    with pytest.raises(FormatError, match=message):
        syllabary.load(folder)


MODELS: list[tuple[dict[str, Any], str]] = [
    ({"unk_token": None}, "unk_token"),
    ({"unk_token": 1}, "unk_token"),
    ({"continuing_subword_prefix": None}, "continuing_subword_prefix"),
    ({"max_input_chars_per_word": -1}, "max_input_chars_per_word"),
    ({"max_input_chars_per_word": 2**64}, "max_input_chars_per_word"),
    ({"max_input_chars_per_word": True}, "max_input_chars_per_word"),
    ({"max_input_chars_per_word": 1.0}, "max_input_chars_per_word"),
    ({"vocab": {"a": 0, "b": 0}}, "'a' and 'b' have the same id 0"),
    ({"vocab": {"a": -1}}, "an id outside"),
    ({"vocab": ["a"]}, "vocab"),
    ({"merges": []}, "merges"),
]


@pytest.mark.parametrize("wrong, message", MODELS, ids=[str(wrong) for wrong, _message in MODELS])
def test_a_damaged_model_is_named(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    document = json.loads(made("WordPiece", None, None, vocab_size=300).to_str())
    document["added_tokens"] = []
    document["model"] |= wrong
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with pytest.raises(FormatError, match=message):
        syllabary.load(tmp_path)


def test_a_file_cut_short_is_an_error(tmp_path: Path, prove: bool) -> None:
    text = made("WordPiece", None, None, vocab_size=100).to_str()
    for size in range(0, len(text), 97 if prove else 997):
        (tmp_path / "tokenizer.json").write_text(text[:size])
        with pytest.raises(FormatError):
            syllabary.load(tmp_path / "tokenizer.json", format="huggingface")


# ---- what a format cannot hold ----


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"longest_piece": 50}, "words of more or less than 100"),
        ({"continuing_prefix": "@@"}, "another prefix than ##"),
        ({"unknown": None}, "without an unknown token"),
        ({"normalizer": ()}, "another normalizer"),
        ({"pretokenizer": (Step("Whitespace"),)}, "another normalizer or pre-tokenizer"),
        ({"decoder": None}, "decoder"),
        ({"added_tokens": {"<x>": 14}}, "added tokens"),
        ({"special_tokens": {"hello": 5}}, "special ones but the five"),
        ({"tokens": {0: b"[UNK]", 2: b"x"}, "special_tokens": {}, "unknown": 0}, "ids with gaps"),
        ({"matching": {"[CLS]": Matching(lstrip=True)}}, "match"),
    ],
    ids=str,
)
def test_what_vocab_txt_cannot_hold(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    spec = syllabary.load(folder_of(tmp_path / "bert", {"do_lower_case": True})).spec
    spec = replace(spec, carried={}, **changed)
    with pytest.raises(FormatError, match=message):
        formats.write(spec, tmp_path / "vocab.txt")
    assert not (tmp_path / "vocab.txt").exists()


@pytest.mark.parametrize("name", ["tiktoken", "gpt2", "minbpe", "sentencepiece", "subword-nmt"])
def test_formats_of_merges_refuse_the_model(name: str, tmp_path: Path) -> None:
    tok = syllabary.load(folder_of(tmp_path / "bert", {"do_lower_case": True}))
    for write in (
        lambda: tok.save(tmp_path / "x", format=name),
        lambda: convert(tok, tmp_path / "x", name),
    ):
        with pytest.raises(FormatError, match="cannot hold the model 'wordpiece', only bpe"):
            write()
    assert formats.refusal(name, unit="char", model="wordpiece")
    assert formats.refusal("bert", unit="char", model="wordpiece") is None
