"""Training and files of `syllabary.compat.tokenizers`, beside the library: the same `tokenizer.json`.

Adds trainers over drawn text and options, files, the models' own files, the five implementations. Leaves out:
what is drawn (`tokenizers_calls`), what training does (`test_train_huggingface`).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers as theirs
import tokenizers_calls as calls
from tokenizers_calls import plain, text

from syllabary.compat import tokenizers as ours
from syllabary.errors import FormatError

LIBRARIES = (theirs, ours)


def options(t: Any, source: random.Random) -> dict[str, Any]:
    """Options of `BpeTrainer`, no hash table deciding: decorated characters are special tokens, in order."""
    told: dict[str, Any] = {"vocab_size": source.choice([40, 90, 300]), "show_progress": False}
    told["min_frequency"] = source.choice([0, 1, 2])
    told["special_tokens"] = ["<s>", t.AddedToken("[MASK]", lstrip=True)]
    if source.random() < 0.5:
        told["initial_alphabet"] = ["x", "yz", "é"]
    if source.random() < 0.3:
        told["max_token_length"] = 5
    return told


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("from_files", [False, True])
def test_bpe_is_trained_alike(seed: int, from_files: bool, tmp_path: Path) -> None:
    """From texts, lists of texts and files; components and options drawn."""
    saved = []
    for t in LIBRARIES:
        source = random.Random(seed)
        tokenizer = t.Tokenizer(t.models.BPE(unk_token=source.choice([None, "<s>"])))
        tokenizer.normalizer = source.choice(calls.NORMALIZERS[:8])(t)
        tokenizer.pre_tokenizer = source.choice(calls.PRE_TOKENIZERS)(t)
        trainer = t.trainers.BpeTrainer(**options(t, source))
        documents = [*calls.CORPUS[: source.randint(1, 5)], *(text(source) for _ in range(6))]
        if from_files:
            path = tmp_path / "text"
            path.write_text("\n".join(documents), encoding="utf-8", newline="")
            tokenizer.train([str(path)], trainer)
        elif seed % 2:
            tokenizer.train_from_iterator([documents[:2], documents[2:]], trainer)
        else:
            tokenizer.train_from_iterator(iter(documents), trainer, length=len(documents))
        saved.append((tokenizer.to_str(pretty=True), plain(tokenizer.encode(documents[-1]))))
    assert saved[1] == saved[0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["BPE", "WordLevel"])
def test_added_tokens_are_words_of_their_own(kind: str, seed: int, tmp_path: Path) -> None:
    """Those that are there before training are cut out of its text, and so those of an earlier one."""
    saved = []
    for t in LIBRARIES:
        source = random.Random(seed)
        tokenizer = t.Tokenizer(getattr(t.models, kind)(unk_token="<s>"))
        tokenizer.normalizer = source.choice(calls.NORMALIZERS[:8])(t)
        tokenizer.pre_tokenizer = source.choice(calls.PRE_TOKENIZERS)(t)
        flags = {name: source.random() < 0.3 for name in ("lstrip", "single_word", "normalized")}
        tokenizer.add_tokens([t.AddedToken("ow l", **flags), "Quick", "é"])
        documents = ["low low lower Quick brown é new low Quick", "The Quickest", *calls.CORPUS[:2]]
        (tmp_path / "text").write_text("\n".join(documents), encoding="utf-8", newline="")
        for specials in (["<s>", "er"], ["the", "<s>"]):
            told = {"special_tokens": specials, "vocab_size": 60, "show_progress": False}
            trainer = getattr(t.trainers, f"{'Bpe' if kind == 'BPE' else kind}Trainer")(**told)
            if seed % 2:
                tokenizer.train([str(tmp_path / "text")], trainer)
            else:
                tokenizer.train_from_iterator(documents, trainer)
            saved.append(tokenizer.to_str())
    assert saved[2:] == saved[:2]


def test_training_with_a_custom_pre_tokenizer() -> None:
    """Words are then counted in Python."""

    class Letters:
        def split(self, index: int, part: Any) -> list[Any]:
            half = len(str(part)) // 2
            return [part[:half], part[half:]]

        def pre_tokenize(self, pretok: Any) -> None:
            pretok.split(self.split)

    vocabularies = []
    for t in LIBRARIES:
        tokenizer = t.Tokenizer(t.models.BPE())
        tokenizer.normalizer = t.normalizers.Lowercase()
        tokenizer.pre_tokenizer = t.pre_tokenizers.PreTokenizer.custom(Letters())
        tokenizer.train_from_iterator(
            calls.CORPUS, t.trainers.BpeTrainer(vocab_size=120, show_progress=False)
        )
        vocabularies.append((tokenizer.get_vocab(), tokenizer.encode("lazyquick").ids))
    assert vocabularies[1] == vocabularies[0]


def test_word_models_are_trained_alike() -> None:
    """WordLevel to the same file; WordPiece (a hash table gives ids of `##` characters) to one cutting so."""
    words, files = [], []
    for t in LIBRARIES:
        tokenizer = t.Tokenizer(t.models.WordLevel(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = t.pre_tokenizers.Whitespace()
        trainer = t.trainers.WordLevelTrainer(vocab_size=30, special_tokens=["[UNK]"], show_progress=False)
        tokenizer.train_from_iterator(calls.CORPUS, trainer)
        files.append(tokenizer.to_str())
        bert = t.BertWordPieceTokenizer()
        bert.train_from_iterator(
            ["A first sentence", "Another sentence", "And a last one"], show_progress=False
        )
        words.append((set(bert.get_vocab()), bert.encode("A sentence lasts").tokens, bert.get_vocab_size()))
    assert files[1] == files[0]
    assert words[1] == words[0]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("from_files", [False, True])
def test_unigram_is_trained_alike(seed: int, from_files: bool, tmp_path: Path) -> None:
    """The same tokens and cuts; scores but for rounding, and for those of characters that were dropped."""
    found, scores = [], []
    for t in LIBRARIES:
        source = random.Random(seed)
        tokenizer = t.Tokenizer(t.models.Unigram())
        tokenizer.normalizer = source.choice(calls.NORMALIZERS[:8])(t)
        tokenizer.pre_tokenizer = source.choice(calls.PRE_TOKENIZERS)(t)
        documents = [*calls.CORPUS, *(text(source) for _ in range(6))]
        told: dict[str, Any] = {"vocab_size": source.choice([400, 700]), "show_progress": False}
        told["special_tokens"] = ["<pad>", t.AddedToken("[MASKED]", lstrip=True)]
        told["unk_token"] = source.choice(["<unk>", "<pad>"])
        if seed % 2:
            told |= {"initial_alphabet": ["x", "yz", "é"], "n_sub_iterations": 1, "shrinking_factor": 0.5}
        trainer = t.trainers.UnigramTrainer(**told)
        if from_files:
            path = tmp_path / "text"
            path.write_text("\n".join(documents), encoding="utf-8", newline="")
            tokenizer.train([str(path)], trainer)
        else:
            tokenizer.train_from_iterator(iter(documents), trainer, length=len(documents))
        vocab = json.loads(tokenizer.to_str())["model"]["vocab"]
        scores.append({piece: score for piece, score in vocab if len(piece) > 1})
        first = [piece for piece, score in vocab if score == 0.0]
        whole = json.loads(tokenizer.to_str())
        found.append([
            set(tokenizer.get_vocab()), first, whole["model"]["unk_id"], whole["added_tokens"],
            [tokenizer.encode(line).tokens for line in documents[:3]],
        ])  # fmt: skip
    assert found[1] == found[0]
    assert scores[1] == pytest.approx(scores[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_unigram_special_tokens_that_stand_in_the_text(seed: int) -> None:
    """They are learned too, and have two ids: the same names, cuts and added tokens."""
    found = []
    for t in LIBRARIES:
        source = random.Random(seed)
        tokenizer = t.Tokenizer(t.models.Unigram())
        tokenizer.pre_tokenizer = t.pre_tokenizers.WhitespaceSplit()
        lines = [text(source).lower() + source.choice([" <s>", " <s>x e", "<unk>", " "]) for _ in range(40)]
        trainer = t.trainers.UnigramTrainer(
            vocab_size=400,
            special_tokens=source.choice([["<s>", "<unk>"], ["e", t.AddedToken("<s>", lstrip=True)]]),
            unk_token=source.choice(["<unk>", "e", None]),
            show_progress=False,
        )
        tokenizer.train_from_iterator(lines, trainer)
        whole = json.loads(tokenizer.to_str())
        names = sorted(name for name, _score in whole["model"]["vocab"])
        encoded = [tokenizer.encode(line).tokens for line in (*lines, "<s>a e<unk>")]
        size, added = tokenizer.get_vocab_size(), [one["content"] for one in whole["added_tokens"]]
        found.append([names, encoded, size, added, whole["model"]["unk_id"], tokenizer.id_to_token(0)])
        assert len(names) > len(set(names))
    assert found[1] == found[0]


def test_unigram_without_text_or_room() -> None:
    """Special tokens remain; too many characters are an `Exception` of the same words."""
    found = []
    for t in LIBRARIES:
        tokenizer = t.Tokenizer(t.models.Unigram())
        trainer = t.trainers.UnigramTrainer(
            special_tokens=["<s>"], unk_token="<u>", vocab_size=9, show_progress=False
        )
        tokenizer.train_from_iterator([], trainer)
        with pytest.raises(
            Exception, match="The vocabulary is not large enough to contain all chars"
        ) as caught:
            tokenizer.train_from_iterator(["abcdefghijklm"], trainer)
        found.append([tokenizer.to_str(), str(caught.value), type(caught.value)])
    assert found[1] == found[0]


def test_nothing_to_learn_is_no_error() -> None:
    """No files, no text: special tokens and the initial alphabet remain."""
    for feed in (lambda k, r: k.train([], r), lambda k, r: k.train_from_iterator([], r)):
        saved = []
        for t in LIBRARIES:
            tokenizer = t.Tokenizer(t.models.BPE())
            feed(
                tokenizer,
                t.trainers.BpeTrainer(special_tokens=["<s>"], initial_alphabet=["a"], show_progress=False),
            )
            saved.append(tokenizer.to_str())
        assert saved[1] == saved[0]


@pytest.mark.parametrize("name", ["ByteLevelBPETokenizer", "CharBPETokenizer", "SentencePieceBPETokenizer"])
def test_implementations_are_alike(name: str, tmp_path: Path) -> None:
    """Trained, shown, saved as model and as file, read again, encoding and decoding."""
    found = []
    for number, t in enumerate(LIBRARIES):
        tokenizer = getattr(t, name)()
        tokenizer.train_from_iterator(
            [line[:30] for line in calls.CORPUS[:2]], vocab_size=600, show_progress=False
        )
        folder = tmp_path / str(number)
        folder.mkdir()
        files = tokenizer.save_model(str(folder), "p")
        again = getattr(t, name).from_file(*files)
        tokenizer.enable_padding(length=20, direction="left")
        encoding = tokenizer.encode("the quick brown fox", "jumps")
        vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
        found.append([
            repr(tokenizer), repr(again), set(vocabulary), [Path(one).name for one in files],
            encoding.tokens, encoding.offsets, tokenizer.decode(encoding.ids), tokenizer.padding,
            again.encode("the quick").tokens, tokenizer.token_to_id(vocabulary[3]),
            type(tokenizer.model).__name__, str(tokenizer.normalizer),
        ])  # fmt: skip
        tokenizer.normalizer = t.normalizers.Lowercase()
        assert tokenizer.normalize("A") == "a"
    assert found[1] == found[0]


def test_files_are_the_same_bytes(tmp_path: Path) -> None:
    """`tokenizer.json`, `vocab.json`, `merges.txt`, `vocab.txt`; and each reads the other's."""
    source = random.Random(1)
    written = []
    for number, (t, model) in enumerate(zip(LIBRARIES, calls.models(source), strict=True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        tokenizer = t.Tokenizer(model)
        tokenizer.post_processor = calls.PROCESSORS[6](t)
        tokenizer.enable_truncation(9)
        tokenizer.save(str(folder / "tokenizer.json"))
        model.save(str(folder))
        t.models.WordPiece({"a": 0, "b": 1}).save(str(folder), "w")
        t.models.WordLevel({"b": 1, "a": 0}).save(str(folder), "l")
        t.models.Unigram([("a", -0.5)], 0).save(str(folder))
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[1] == written[0]
    data = written[0]["tokenizer.json"]
    assert ours.Tokenizer.from_buffer(data).to_str() == theirs.Tokenizer.from_buffer(data).to_str()
    assert ours.models.WordPiece.read_file(str(tmp_path / "0" / "w-vocab.txt")) == {"a": 0, "b": 1}


def test_a_carriage_return_is_a_part_of_a_token(tmp_path: Path) -> None:
    """Only behind a line it is none, as of a file from Windows."""
    vocab, merges, words = (tmp_path / name for name in ("vocab.json", "merges.txt", "vocab.txt"))
    vocab.write_bytes(b'{"a\\rb": 0, "x": 1, "a\\rbx": 2}')
    merges.write_bytes(b"#version: 0.2\r\na\rb x\r\n")
    words.write_bytes(b"a\rb\nc\r\nd\n")
    for t in LIBRARIES:
        assert t.models.WordPiece.read_file(str(words)) == {"a\rb": 0, "c": 1, "d": 2}
        assert t.models.BPE.read_file(str(vocab), str(merges))[1] == [("a\rb", "x")]


@pytest.mark.parametrize(
    "wrong",
    [
        "{}", "[]", "nothing", '{"model": {}}',
        '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "more": 1}',
        '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}',
        '{"model": {"type": "Other", "vocab": {}}}',
        '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "normalizer": {"type": "NFX"}}',
        '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "post_processor": {"type": "NFC"}}',
        '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "padding": 3}',
        '{"model": {"type": "BPE", "vocab": 3, "merges": []}}',
        '{"model": {"type": "Unigram", "vocab": null}}',
        '{"model": {"type": "Unigram", "vocab": [[]]}, "added_tokens": [{"id": 0, "content": "a"}]}',
        '{"model": {"type": "Unigram", "vocab": [["a", 0, 1]]}, "added_tokens": [{"content": "a", "id": 0}]}',
    ],
)  # fmt: skip
def test_damaged_files_are_refused(wrong: str) -> None:
    """An exception that is no panic, in both."""
    with pytest.raises(Exception):  # noqa: B017, PT011 (theirs is a plain Exception)
        theirs.Tokenizer.from_str(wrong)
    with pytest.raises(FormatError, match=r"."):
        ours.Tokenizer.from_str(wrong)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """`OSError` with the path."""
    for call in (
        lambda: ours.Tokenizer.from_file(str(tmp_path / "none")),
        lambda: ours.Tokenizer(ours.models.BPE()).train([str(tmp_path / "none")]),
        lambda: ours.Tokenizer(ours.models.BPE()).save(str(tmp_path / "none" / "x")),
    ):
        with pytest.raises(OSError, match="none"):
            call()
    with pytest.raises(Exception, match="Error while reading vocab & merges files"):
        ours.models.BPE.from_file("none", "none")
