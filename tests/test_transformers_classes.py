"""Folders of which a class of `transformers` says the rest: beside `AutoTokenizer`, which makes that class.

Leaves out: folders that say all themselves (`test_transformers`).
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from transformers_folders import SHAPES, TEXTS

import syllabary
from syllabary.formats.transformers_classes import CLASSES

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
END = "<|endoftext|>"


def pair_folder(folder: Path, split: str = "gpt2", **config: Any) -> syllabary.Tokenizer:
    """A folder of `vocab.json`, `merges.txt` and these settings; what was trained."""
    tok = syllabary.train(TEXTS * 3, vocab_size=300, split=split, special_tokens=[END])
    tok.save(folder / "vocab.json", "gpt2")
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return tok


@pytest.mark.parametrize("prefix", [True, False, None])
def test_a_space_in_front_of_a_pair(tmp_path: Path, prefix: bool | None) -> None:
    told = {} if prefix is None else {"add_prefix_space": prefix}
    trained = pair_folder(tmp_path, tokenizer_class="GPT2Tokenizer", **told)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for path in (tmp_path, tmp_path / "vocab.json", tmp_path / "merges.txt"):
        ours = syllabary.load(path, split="gpt2", special_tokens=trained.special_tokens)
        for text in (*TEXTS, f"low{END}low", " low", "\n", f"{END} low{END}"):
            found, want = ours.encode_full(text, special="allow"), theirs(text, return_offsets_mapping=True)
            assert found.ids == want["input_ids"], text
            assert found.offsets == want["offset_mapping"], text
        assert (ours.encode("low") == trained.encode(" low")) == bool(prefix)
    again = syllabary.load(tmp_path, split="gpt2", special_tokens=trained.special_tokens).as_transformers()
    assert again(TEXTS)["input_ids"] == theirs(TEXTS)["input_ids"]


def test_a_space_in_front_with_another_split(tmp_path: Path) -> None:
    trained = pair_folder(tmp_path, "gpt4", add_prefix_space=True)
    with pytest.raises(syllabary.FormatError, match=r"add_prefix_space: true is read with the split gpt2"):
        syllabary.load(tmp_path, split="gpt4", special_tokens=trained.special_tokens)
    pair_folder(tmp_path, add_prefix_space="yes")
    with pytest.raises(syllabary.FormatError, match="add_prefix_space: must be"):
        syllabary.load(tmp_path, split="gpt2", special_tokens=trained.special_tokens)


def test_the_name_is_what_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare("BertTokenizer", tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    for path in (tmp_path, tmp_path.name, f"./{tmp_path.name}/"):
        theirs, tok = transformers.AutoTokenizer.from_pretrained(path), syllabary.load(path)
        for ours in (tok.as_transformers(), tok.with_settings(pad_token="[UNK]").as_transformers()):
            assert ours.name_or_path == ours.init_kwargs["name_or_path"] == theirs.name_or_path == str(path)
    assert tok == syllabary.load(tmp_path)
    tok.as_transformers().save_pretrained(tmp_path / "again")
    assert "name_or_path" not in (tmp_path / "again" / "tokenizer_config.json").read_text("utf-8")
    called = tok.as_transformers(name_or_path="mine")
    assert called.name_or_path == called.init_kwargs["name_or_path"] == "mine"
    assert syllabary.train(TEXTS, vocab_size=270).as_transformers().name_or_path == ""


@pytest.mark.parametrize("prefix", [None, "mine"])
def test_what_is_uploaded_names_the_class(
    prefix: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hub's is a folder as any other: `AutoTokenizer` opens it where syllabary is not installed."""
    ours, uploaded = syllabary.train(TEXTS, vocab_size=270).as_transformers(), dict[str, bytes]()

    def upload(_self: Any, folder: str, repository: str, *_: Any, **__: Any) -> None:
        assert repository == "me/again"
        uploaded.update({file.name: file.read_bytes() for file in Path(folder).iterdir()})

    class Hub:
        def create_repo(self, name: str, **_: Any) -> Any:
            return SimpleNamespace(repo_id=f"me/{name}")

    monkeypatch.setattr(transformers.tokenization_utils_base, "hf_api", Hub)
    monkeypatch.setattr(type(ours), "_upload_modified_files", upload)
    ours.save_pretrained(tmp_path / "again", push_to_hub=True, filename_prefix=prefix)
    config = "tokenizer_config.json" if prefix is None else f"{prefix}-tokenizer_config.json"
    assert json.loads(uploaded[config])["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert uploaded == {file.name: file.read_bytes() for file in (tmp_path / "again").iterdir()}


LIKE = {
    **dict.fromkeys(("Camembert", "DebertaV2", "BigBird", "Barthez", "Albert", "T5", "XL", "MBart"), "t5"),
    "Pegasus": "t5",
    **dict.fromkeys(("Nllb", "Gemma", "Seamless"), "llama"),
    **dict.fromkeys(("MPNet", "Bert", "Electra", "LayoutLM"), "bert"),
}


def bare(name: str, folder: Path, **config: Any) -> Path:
    """A folder whose settings name a class, and nothing of the roles."""
    shape = next((shape for part, shape in LIKE.items() if part in name), "roberta")
    found = json.loads(SHAPES["roberta" if name.startswith("Roberta") else shape]().to_str())
    roles = dict.fromkeys(CLASSES[name.removesuffix("Fast")].roles.values())
    vocab = found["model"]["vocab"]
    if shape == "t5":
        vocab += [[token, 0.0] for token in roles if token not in {token for token, _score in vocab}]
    elif name.startswith("Deberta"):
        vocab |= {token: len(vocab) + index for index, token in enumerate(roles)}
    (folder / "tokenizer.json").write_text(json.dumps(found))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **config}))
    return folder


@pytest.mark.parametrize("name", [f"{name}{fast}" for name in CLASSES for fast in ("", "Fast")])
def test_roles_of_a_class(name: str, tmp_path: Path) -> None:
    theirs = transformers.AutoTokenizer.from_pretrained(bare(name, tmp_path))
    assert type(theirs).__name__ != "TokenizersBackend"
    tok = syllabary.load(tmp_path)
    ours = tok.as_transformers()
    roles = {role: text for role, text in theirs.special_tokens_map.items() if text in tok.special_tokens}
    assert ours.special_tokens_map == tok.roles == roles
    assert roles or name.startswith("GPT2")
    assert ours.model_input_names == theirs.model_input_names
    assert len(ours) == tok.vocab_size
    pads = {"padding": True} if "pad_token" in roles else {}
    assert list(ours(TEXTS[:2], TEXTS[1:3], **pads)) == list(theirs(TEXTS[:2], TEXTS[1:3], **pads))
    ours.save_pretrained(tmp_path / "again")
    again = syllabary.load(tmp_path / "again")
    assert again.roles == roles
    assert again.as_transformers().model_input_names == theirs.model_input_names
    if name.startswith("Bert"):
        assert dict(ours(TEXTS, TEXTS, padding=True)) == dict(theirs(TEXTS, TEXTS, padding=True))
        assert tok.encode_full("a", padding=9).tokens[-1] == "[PAD]"


def test_what_a_folder_says_of_roles_holds(tmp_path: Path) -> None:
    bare("BertTokenizer", tmp_path, pad_token=None, mask_token="[UNK]", model_input_names=["input_ids"])
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tok = syllabary.load(tmp_path)
    ours = tok.as_transformers()
    assert ours.special_tokens_map == theirs.special_tokens_map == tok.roles
    assert (ours.pad_token, ours.mask_token) == (theirs.pad_token, theirs.mask_token) == (None, "[UNK]")
    assert list(ours("a", "b")) == list(theirs("a", "b"))
    without = tok.with_settings(cls_token=None, model_max_length=9)
    assert {*tok.roles} - {*without.roles} == {"cls_token"}
    assert without.as_transformers().cls_token is None
    assert "pad_token" not in without.roles
    assert tok.with_settings(tokenizer_class=None).roles == {"mask_token": "[UNK]"}


def test_a_role_of_a_class_in_the_vocabulary_alone(tmp_path: Path) -> None:
    bare("BertTokenizer", tmp_path)
    found = json.loads((tmp_path / "tokenizer.json").read_text())
    found["added_tokens"] = [one for one in found["added_tokens"] if one["content"] != "[MASK]"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(found))
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tok = syllabary.load(tmp_path)
    assert tok.encode("a [MASK] b", "allow") == theirs.encode("a [MASK] b", add_special_tokens=False)
    assert tok.roles == theirs.special_tokens_map


PIECES = ["▁", "▁low", "er", "▁a", "▁b", *"lowerabmskMASK<>[]"]
BYTES = [*"Ġlowerabmsk<>[]MASK", "Ġl", "ow", "Ġlow"]


def small(name: str) -> Any:
    """A tokenizer of a class, put together as the class does it."""
    one = getattr(transformers, name)
    special = [*dict.fromkeys(CLASSES[name].roles.values())]
    if name == "MPNetTokenizer":
        return one(vocab={token: index for index, token in enumerate([*special, "low", "a", "b", "##er"])})
    if name == "BlenderbotTokenizer":
        vocab = {token: index for index, token in enumerate(dict.fromkeys([*special, *BYTES]))}
        return one(vocab=vocab, merges=[("Ġ", "l"), ("o", "w"), ("Ġl", "ow")])
    pieces = dict.fromkeys([*special, *PIECES])
    if name == "NllbTokenizer":
        return one(vocab={token: index for index, token in enumerate(pieces)}, merges=[])
    return one(vocab=[(token, 0.0 if token in special else -1.0 - at) for at, token in enumerate(pieces)])


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("name", [name for name, one in CLASSES.items() if one.strips])
def test_a_mask_that_takes_the_space_before_it(name: str, told: bool, tmp_path: Path) -> None:
    """Of a file that does not add the mask token: as text in the settings, or in the class alone."""
    small(name).save_pretrained(tmp_path)
    path, mask = tmp_path / "tokenizer.json", CLASSES[name].roles["mask"]
    found = json.loads(path.read_text("utf-8"))
    kept = [one for one in found["added_tokens"] if one["content"] != mask]
    path.write_text(json.dumps({**found, "added_tokens": kept}), "utf-8")
    if not told:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    theirs, tok = transformers.AutoTokenizer.from_pretrained(tmp_path), syllabary.load(tmp_path)
    ours = tok.as_transformers()
    assert ours.special_tokens_map == theirs.special_tokens_map == tok.roles
    for text in ("low", f"a {mask} b", f"low  {mask}  low", mask, f"lower   {mask} {mask}{mask}a"):
        want = theirs(text, return_offsets_mapping=True)
        assert dict(ours(text, return_offsets_mapping=True)) == dict(want), text
        full = tok.encode_full(text, special="allow")
        assert (full.ids, full.offsets) == (want["input_ids"], want["offset_mapping"]), text


LANGUAGES = [
    ("MBartTokenizer", {}, "en_XX"),
    ("MBartTokenizer", {"src_lang": "de_DE"}, "de_DE"),
    ("MBart50Tokenizer", {"src_lang": "de_DE", "tgt_lang": "en_XX"}, "de_DE"),
    ("MBart50TokenizerFast", {"src_lang": None}, "en_XX"),
    ("NllbTokenizer", {"src_lang": "fra_Latn"}, "fra_Latn"),
    ("NllbTokenizer", {"legacy_behaviour": True}, "eng_Latn"),
]


def multilingual(name: str, folder: Path, told: dict[str, Any] | None = None) -> None:
    """A folder of such a class, with four languages."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    names = [*special, *PIECES[:5], *"lowerab", "de_DE", "en_XX", "eng_Latn", "fra_Latn", "<mask>"]
    vocab: Any = [(token, 0.0 if token in special else -1.0 - at) for at, token in enumerate(names)]
    if name.startswith("Nllb"):
        vocab = {token: index for index, token in enumerate(dict.fromkeys(names))}
    getattr(transformers, name.removesuffix("Fast"))(vocab=vocab).save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **(told or {})}))


@pytest.mark.parametrize("name, told, language", LANGUAGES)
def test_a_class_that_marks_the_language(
    name: str, told: dict[str, Any], language: str, tmp_path: Path
) -> None:
    """That of `src_lang`, or of the class, whatever template the file has; codes are special tokens."""
    multilingual(name, tmp_path, told)
    theirs, tok = transformers.AutoTokenizer.from_pretrained(tmp_path), syllabary.load(tmp_path)
    ours = tok.as_transformers()
    assert language in tok.encode_full("low").tokens
    assert set(ours.all_special_tokens) == set(theirs.all_special_tokens)
    texts = ["low a", "lower  <mask> b", "", "a de_DEb"]
    for pairs in (None, texts[::-1]):
        assert dict(ours(texts, pairs, padding=True)) == dict(theirs(texts, pairs, padding=True))
    for text in texts:
        ids = theirs(text)["input_ids"]
        assert tok.encode_full(text, special="allow").ids == ids
        for skips in (True, False):
            assert ours.decode(ids, skip_special_tokens=skips) == theirs.decode(
                ids, skip_special_tokens=skips
            )
    ours.save_pretrained(tmp_path / "again")
    assert syllabary.load(tmp_path / "again").encode_full("low").ids == theirs("low")["input_ids"]


@pytest.mark.parametrize("name", ["MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer"])
def test_another_language_for_a_tokenizer(name: str, tmp_path: Path) -> None:
    """`with_settings` and `as_transformers` as `src_lang` of theirs, told when opened or set; and saved."""
    multilingual(name, tmp_path)
    tok, theirs = syllabary.load(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    before = tok.encode_full("low a").ids
    for language in ("en_XX", "de_DE"):
        told = transformers.AutoTokenizer.from_pretrained(tmp_path, src_lang=language)
        theirs.src_lang = language
        changed = tok.with_settings(src_lang=language)
        changed.as_transformers().save_pretrained(tmp_path / "again")
        again = syllabary.load(tmp_path / "again")
        changed.save(tmp_path / "tok.syllabary.json")
        for pair in (None, "lower b"):
            want = theirs("low a", pair)["input_ids"]
            assert want == told("low a", pair)["input_ids"]
            for one in (changed, again, syllabary.load(tmp_path / "tok.syllabary.json")):
                assert one.encode_full("low a", pair).ids == one.as_transformers()("low a", pair)["input_ids"]
                assert one.encode_full("low a", pair).ids == want
            assert tok.as_transformers(src_lang=language)("low a", pair)["input_ids"] == want
    assert changed.with_settings(src_lang=None).encode_full("low a").ids == before
    assert tok.with_settings(model_max_length=9).encode_full("low a").ids == before
    if name.startswith("Nllb"):
        theirs.legacy_behaviour, theirs.src_lang = True, "fra_Latn"
        legacy = tok.with_settings(legacy_behaviour=True, src_lang="fra_Latn")
        assert legacy.encode_full("low a", "b").ids == theirs("low a", "b")["input_ids"]


def test_a_language_that_is_no_token(tmp_path: Path) -> None:
    multilingual("MBartTokenizer", tmp_path)
    for change in (
        lambda: syllabary.load(tmp_path).with_settings(src_lang="xx_XX"),
        lambda: syllabary.load(tmp_path).as_transformers(src_lang="xx_XX"),
    ):
        with pytest.raises(syllabary.FormatError, match=r"src_lang: 'xx_XX' is no token of this tokenizer"):
            change()
    bare("MBartTokenizer", tmp_path, src_lang="xx_XX")
    with pytest.raises(syllabary.FormatError, match=r"src_lang: 'xx_XX' is no token of this tokenizer"):
        syllabary.load(tmp_path)


def test_xlnet_pads_on_the_left(tmp_path: Path) -> None:
    small("XLNetTokenizer").save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "XLNetTokenizer"}))
    theirs, tok = transformers.AutoTokenizer.from_pretrained(tmp_path), syllabary.load(tmp_path)
    ours = tok.as_transformers()
    assert ours.padding_side == theirs.padding_side == "left"
    assert dict(ours(["low a", "a"], padding=True)) == dict(theirs(["low a", "a"], padding=True))
    assert tok.encode_full("a", padding=9).ids == theirs("a", padding="max_length", max_length=9)["input_ids"]
    assert tok.with_settings(padding_side="right").as_transformers().padding_side == "right"


def test_scores_of_a_folder_are_those_of_its_file(tmp_path: Path) -> None:
    """As serde_json reads them, which is not always the nearest number."""
    bare("T5Tokenizer", tmp_path)
    file = tmp_path / "tokenizer.json"
    found = json.loads(file.read_text("utf-8"))
    found["model"]["vocab"] = [[token, -6.9044739982887124] for token, _score in found["model"]["vocab"]]
    file.write_text(json.dumps(found), "utf-8")
    folder, alone = syllabary.load(tmp_path).spec.scores, syllabary.load(file).spec.scores
    assert folder == alone
    assert folder is not None
    assert {*folder.values()} == {-6.904473998288712}
