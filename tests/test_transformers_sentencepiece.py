"""sentencepiece models for `transformers`: ids are sentencepiece's, special tokens those of `AutoTokenizer`.

Leaves out: what `tokenizer.json` holds of a model (`test_formats_sentencepiece_peer`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from sentencepiece_models import edited, train
from transformers_folders import saved_and_opened

import syllabary

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
MISTRAL = Path(__file__).parents[2] / "shared" / "vocabs" / "mistral_v1.model"
PLAIN = (
    *(
        "the cat sat on the mat",
        "naïve café",
        "漢字かな 東京",
        "😀 👨‍👩‍👧",
        "12345 2024",
        "μῆνιν ἄειδε θεὰ",
        "A",
        ".",
    ),
    *(
        "HTTPServer camelCase",
        "xyzzy ababab",
        "don't can't",
        "x" * 300,
        "שלום مرحبا हिन्दी",
        "a.b,c;d",
        "[INST] hi",
    ),
    *(
        "arma virumque cano",
        "Troiae qui primus ab oris",
        "of the hat",
        "lower lower",
        "1999",
        "(a) [b] {c}",
        "né",
    ),
    *("cafe\u0301", "é", "<s", "s>", "<unk", "<0x41>", "http://a.b/c?d=e", "print('x')", "one, two; three."),
)
SPACES = ("Hello  world", " lead", "trail ", "  two   three  ", "a\nb\tc", "\u3000x", "", " ", "a\u2581b")
SPECIAL = ("a</s>the", "<s>the cat", "the <unk> cat", "</s>", "the<s></s>cat")
LLAMA = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
IDENTITY = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
T5_IDS = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}


def folder(path: Path, config: dict[str, Any] | None, **options: Any) -> bytes:
    """A folder of a model and its settings; the model."""
    data = train(path, vocab_size=460, **options)
    (path / "tokenizer.model").write_bytes(data)
    if config is not None:
        (path / "tokenizer_config.json").write_text(json.dumps(config))
    return data


def opened(path: Path, **settings: Any) -> Any:
    with pytest.warns(syllabary.LossWarning, match="in whose tokenizer.json is lost: that '<"):
        return syllabary.load(path).as_transformers(**settings)


def peer(data: bytes) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=data)


@pytest.mark.parametrize(
    "options", [{}, {"add_bos_token": True}, {"add_eos_token": True, "add_bos_token": True}]
)
def test_a_folder_of_llama(options: dict[str, Any], tmp_path: Path) -> None:
    data = folder(tmp_path, {**LLAMA, **options}, byte_fallback=True, **IDENTITY)
    theirs, ours, home = transformers.AutoTokenizer.from_pretrained(tmp_path), opened(tmp_path), peer(data)
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_tokens == theirs.all_special_tokens == ["<s>", "</s>", "<unk>"]
    assert (ours.padding_side, len(ours)) == (theirs.padding_side, len(theirs))
    before = [1] if "add_bos_token" in options else []
    after = [2] if "add_eos_token" in options else []
    for text in (*PLAIN, *SPACES):
        found = ours(text)["input_ids"]
        assert found == [*before, *home.encode(text), *after], text
        assert ours.decode(found, skip_special_tokens=True) == home.decode(home.encode(text)), text
    for text in PLAIN:
        assert dict(ours(text, "the cat")) == dict(theirs(text, "the cat")), text
        ids = theirs(text)["input_ids"]
        assert ours.decode(ids) == theirs.decode(ids), text
    batch = [*PLAIN[:5]]
    pad = {"padding": True, "return_token_type_ids": True}
    ours.pad_token = theirs.pad_token = "</s>"
    assert dict(ours(batch, batch, **pad)) == dict(theirs(batch, batch, **pad))


@pytest.mark.skipif(not MISTRAL.is_file(), reason="no folder shared/ beside the repository")
def test_mistral(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(MISTRAL.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**LLAMA, "add_bos_token": True}))
    theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), opened(tmp_path)
    home = peer(MISTRAL.read_bytes())
    for text in (*PLAIN, *SPACES):
        assert ours(text)["input_ids"] == [1, *home.encode(text)], text
    for text in PLAIN:
        assert dict(ours(text)) == dict(theirs(text)), text


def test_special_tokens_in_text_stand_between_texts(tmp_path: Path) -> None:
    home = peer(folder(tmp_path, LLAMA, byte_fallback=True, **IDENTITY))
    ours = opened(tmp_path)
    for text in SPECIAL:
        want = list[int]()
        for part in re.split("(<s>|</s>|<unk>)", text):
            want += [home.piece_to_id(part)] if part in ours.all_special_tokens else home.encode(part)
        assert ours(text)["input_ids"] == want, text
        assert ours.decode(want, skip_special_tokens=True).count("<") == 0
    assert syllabary.load(tmp_path).encode("a</s>the") == home.encode("a</s>the")


@pytest.mark.parametrize(
    "config",
    [{}, {"legacy": False}, {"additional_special_tokens": [f"<extra_id_{i}>" for i in range(100)]}],
)
def test_a_folder_of_t5(config: dict[str, Any], tmp_path: Path) -> None:
    told = {"tokenizer_class": "T5Tokenizer", **config}
    data = folder(tmp_path, told, model_type="unigram", normalization_rule_name="nmt_nfkc", **T5_IDS)
    theirs, ours, home = transformers.AutoTokenizer.from_pretrained(tmp_path), opened(tmp_path), peer(data)
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert {*ours.all_special_tokens} == {*theirs.all_special_tokens}
    assert ours.get_vocab() == theirs.get_vocab()
    for text in (*PLAIN, *SPACES[:5], "a <extra_id_0> b <extra_id_99>.", "a</s>the"):
        found = ours(text)["input_ids"]
        assert dict(ours(text)) == dict(theirs(text)), text
        assert ours(text, "the cat")["input_ids"] == theirs(text, "the cat")["input_ids"], text
        assert ours(text).word_ids() == theirs(text).word_ids(), text
        where = {"return_offsets_mapping": True}
        assert ours(text, **where)["offset_mapping"] == theirs(text, **where)["offset_mapping"], text
        assert ours.decode(found) == theirs.decode(found), text
        if "<" not in text:
            assert found == [*home.encode(text), 1], text


@pytest.mark.parametrize("kind", ["bpe", "unigram", "char"])
@pytest.mark.parametrize(
    "more", [{}, {"pad_id": 3, "control_symbols": ["<mask>"], "user_defined_symbols": ["<x>"]}]
)
def test_a_model_alone(kind: str, more: dict[str, Any], tmp_path: Path) -> None:
    data = folder(tmp_path, {}, model_type=kind, **IDENTITY, **more)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    ours, home = opened(tmp_path / "tokenizer.model"), peer(data)
    roles = {**theirs.special_tokens_map, **({"pad_token": "<pad>"} if more else {})}
    assert ours.special_tokens_map == roles
    assert {*ours.all_special_tokens} == {*theirs.all_special_tokens} - {"<x>"}
    for text in (*PLAIN, *SPACES):
        assert ours(text)["input_ids"] == home.encode(text), text


def test_saved_and_opened_again(tmp_path: Path) -> None:
    folder(tmp_path, {**LLAMA, "add_bos_token": True, "chat_template": "{{ bos_token }}x"}, **IDENTITY)
    ours = opened(tmp_path, pad_token="</s>")
    for one in saved_and_opened(ours, tmp_path / "again"):
        assert one.special_tokens_map == ours.special_tokens_map
        assert one.all_special_tokens == ours.all_special_tokens
        assert one.padding_side == "left"
        assert one.apply_chat_template([{"role": "user", "content": ""}], tokenize=False) == "<s>x"
        for text in (*PLAIN, *SPACES, *SPECIAL):
            assert dict(one(text)) == dict(ours(text)), text


def test_another_bos_is_put_before_texts(tmp_path: Path) -> None:
    folder(tmp_path, {**LLAMA, "add_bos_token": True}, control_symbols=["<go>"], **IDENTITY)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path, bos_token="<go>")
    assert opened(tmp_path, bos_token="<go>")("the cat")["input_ids"] == theirs("the cat")["input_ids"]
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path, add_bos_token=False)
    assert opened(tmp_path, add_bos_token=False)("the cat")["input_ids"] == theirs("the cat")["input_ids"]


def test_what_is_lost_is_named(tmp_path: Path) -> None:
    folder(tmp_path, None, model_type="unigram", user_defined_symbols=["<x>"])
    with pytest.warns(syllabary.LossWarning) as caught:
        syllabary.load(tmp_path).as_transformers()
    (one,) = caught
    assert one.filename == __file__
    for part in (
        "'<unk>', '<s>', '</s>' are in no text",
        "character map",
        "32 bits",
        "1 token is",
        "decodes",
    ):
        assert part in str(one.message), part


@pytest.mark.parametrize("name", ["M2M100Tokenizer", "XGLMTokenizer", "SeamlessM4TTokenizerFast"])
def test_a_class_with_other_ids_is_refused(name: str, tmp_path: Path) -> None:
    folder(tmp_path, {"tokenizer_class": name})
    tok = syllabary.load(tmp_path)
    with pytest.raises(syllabary.FormatError, match=rf"tokenizer_class '{name}'.*tokenizer_class=None"):
        tok.as_transformers()
    with pytest.warns(syllabary.LossWarning):
        assert tok.with_settings(tokenizer_class=None).as_transformers()("the cat")["input_ids"]


LEGACY = ("a<s>b", "<s> a</s>the", " the cat", "\u2581a", "</s>", "", " ", "the <unk> cat</s>cat")


@pytest.mark.parametrize(
    "config", [{"legacy": False}, {"legacy": False, "add_bos_token": True}, {"add_prefix_space": False}]
)
@pytest.mark.parametrize("removes", [False, True])
def test_a_space_in_front_as_llama_has_it(config: dict[str, Any], removes: bool, tmp_path: Path) -> None:
    options = {**IDENTITY, "remove_extra_whitespaces": removes}
    home = peer(folder(tmp_path, {**LLAMA, **config}, byte_fallback=True, **options))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    with pytest.warns(
        syllabary.LossWarning, match=rf"\({next(iter(config))}: false\) the space .*: ids change there"
    ):
        ours = syllabary.load(tmp_path).as_transformers()
    for text in (*PLAIN, *([] if removes else [*LEGACY, *SPACES])):
        found = ours(text, return_offsets_mapping=True)
        assert dict(found) == dict(theirs(text, return_offsets_mapping=True)), text
        assert ours.decode(found["input_ids"]) == theirs.decode(found["input_ids"]), text
    if "legacy" in config:
        assert ours("the cat", add_special_tokens=False)["input_ids"] == home.encode("the cat")
        assert ours.tokenize("a<s>the")[:2] == ["\u2581a", "<s>"]
        assert ours.tokenize("a<s>the")[2:] != ["\u2581the"]
    again = {**LLAMA, **config, "legacy": True, "add_prefix_space": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(again))
    assert opened(tmp_path).tokenize("a<s>the") == ["\u2581a", "<s>", "\u2581the"]


@pytest.mark.filterwarnings("ignore::syllabary.LossWarning")
def test_what_the_caller_says_of_the_text(tmp_path: Path) -> None:
    """As if the folder said it."""
    folder(tmp_path, LLAMA, byte_fallback=True, **IDENTITY)
    tok = syllabary.load(tmp_path)
    for told in ({"legacy": False}, {"add_prefix_space": False}):
        asked, said = tok.as_transformers(**told), tok.with_settings(**told).as_transformers()
        for text in LEGACY:
            assert dict(asked(text)) == dict(said(text))
            assert asked.decode(asked(text)["input_ids"]) == said.decode(asked(text)["input_ids"])
        assert asked(" the cat")["input_ids"] != tok.as_transformers()(" the cat")["input_ids"]
    bare = tok.with_settings(tokenizer_class=None)
    for key, value in (("add_prefix_space", False), ("split_by_punct", True)):
        with pytest.raises(syllabary.FormatError, match=rf"{key}: .* a tokenizer without a class with it"):
            bare.as_transformers(**{key: value})
        assert bare.as_transformers(**{key: not value}).tokenize("the") == bare.as_transformers().tokenize(
            "the"
        )


def test_a_model_whose_ids_all_change_is_refused(tmp_path: Path) -> None:
    folder(tmp_path, LLAMA, treat_whitespace_as_suffix=True)
    with pytest.raises(syllabary.FormatError, match="the space that sentencepiece adds at the end of a text"):
        syllabary.load(tmp_path).as_transformers()
    data = edited(folder(tmp_path, LLAMA), "unused")
    (tmp_path / "tokenizer.model").write_bytes(data)
    with pytest.raises(syllabary.FormatError, match="cut again once made: ids change"):
        syllabary.load(tmp_path).as_transformers()
    data = train(tmp_path, model_type="word", vocab_size=100)
    (tmp_path / "tokenizer.model").write_bytes(data)
    with pytest.raises(syllabary.FormatError, match=r"tokenizer\.json cannot hold"):
        syllabary.load(tmp_path).as_transformers()


@pytest.mark.parametrize("options", [IDENTITY, {}])
@pytest.mark.parametrize("told", [{}, {"legacy": True}])
def test_added_tokens_within_words(told: dict[str, Any], options: dict[str, Any], tmp_path: Path) -> None:
    """Found as `AutoTokenizer` finds them; what follows is a text of its own. Of a saved folder too."""
    home = peer(folder(tmp_path, {**LLAMA, **told}, **options))
    theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), opened(tmp_path)
    ours.save_pretrained(tmp_path / "again")
    again = syllabary.load(tmp_path / "again").as_transformers()
    kinds = [transformers.AddedToken("qzq", rstrip=True), transformers.AddedToken("<t>", special=True)]
    for one in (theirs, ours, again):
        assert one.add_tokens(["zq", *kinds]) == 3
    for text in ("ezqt", "azqb", "the zq", "zqzq", "the qzq  the", "a<t>b", "zq"):
        ids = theirs(text)["input_ids"]
        found = ours(text)["input_ids"]
        added = [number for number in found if number >= 460]
        assert added == [number for number in ids if number >= 460] != [], text
        assert found == again(text)["input_ids"], text
        if told and (options or " " not in text):  # as there, each part has its space, and keeps it
            assert found == ids, text
    for text in ("zq zq", "the zq cat", "azqb"):  # what sentencepiece gives each part, its space in front too
        parts = [home.encode(part) for part in text.split("zq")]
        between = [*parts[0], *(number for part in parts[1:] for number in (460, *part))]
        assert ours(text)["input_ids"] == between, text
    assert ours("the cat")["input_ids"] == opened(tmp_path)("the cat")["input_ids"]
    flags = ours.added_tokens_decoder
    assert [flags[number].rstrip for number in (460, 461, 462)] == [False, True, False]


def test_spaces_in_front_of_what_is_decoded(tmp_path: Path) -> None:
    """One goes, as in `AutoTokenizer`; sentencepiece takes all, where it takes spaces out of text."""
    folder(tmp_path, LLAMA)
    theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), opened(tmp_path)
    parts = ours.convert_tokens_to_ids(["<unk>", "\u2581", "\u2581a", "a", "<s>"])
    for size in range(5):
        for places in range(5**size):
            ids = [parts[places // 5**at % 5] for at in range(size)]
            for skips in (True, False):
                want = theirs.decode(ids, skip_special_tokens=skips)
                assert ours.decode(ids, skip_special_tokens=skips) == want, ids
    assert ours.decode(parts[:3], skip_special_tokens=True) == " a"
