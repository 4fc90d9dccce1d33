"""`train(..., start=tok)`, the call: sizes, ids, record, what is refused, and the command line.

Leaves out: what is learned (`test_start`).
"""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_start import GREEK, LOW, plain

import syllabary
from syllabary import surgery
from syllabary.cli import main
from syllabary.errors import EarlyStopWarning, TrainingError
from syllabary.reference.train import train as reference_train
from syllabary.spec import SplitSpec, TokenizerSpec, TrainOptions

pytestmark = pytest.mark.filterwarnings("ignore::syllabary.errors.EarlyStopWarning")


def test_sizes_ids_and_record() -> None:
    start = syllabary.train(LOW, 270, special_tokens=["<s>"])
    tok = syllabary.train(GREEK, 300, start=start)
    assert tok.vocab_size == 300
    assert dict(tok.vocab).items() >= dict(start.vocab).items()
    assert tok.special_tokens == {"<s>": 269}
    assert tok.encode(LOW[0], special="allow") == start.encode(LOW[0], special="allow")
    assert len(tok.encode(GREEK[0], "allow")) < len(start.encode(GREEK[0], "allow"))
    record: Any = tok.spec.record
    assert record["start"]["vocab_size"] == 270
    assert record["start"]["record"] == start.spec.record
    assert record["vocab_size"] == 300
    assert len(record["counts"]) == 30
    more = syllabary.train(GREEK, num_merges=3, start=tok)
    assert more.vocab_size == 303


def test_new_characters_come_first_and_old_ones_stay() -> None:
    start = syllabary.train(LOW, num_merges=5, unit="char", end_of_word="</w>")
    tok = syllabary.train(GREEK, num_merges=5, start=start)
    fresh = [tok.vocab[token_id] for token_id in range(start.vocab_size, tok.vocab_size - 5)]
    assert fresh == sorted(fresh)
    assert all(token.decode().removesuffix("</w>") in GREEK[0] for token in fresh)
    assert tok.decode(tok.encode(GREEK[0])) == GREEK[0].replace("  ", " ")


@pytest.mark.parametrize("least", [None, 0, 1, 4])
def test_the_least_count_is_as_options_of_hugging_face_say(least: int | None) -> None:
    text = ["low lower lowest newer newest wider widest\n"] * 3 + ["once only here\n"]
    options: dict[str, Any] = {} if least is None else {"min_frequency": least}

    def trained(size: int) -> syllabary.Tokenizer:
        return syllabary.train(text, like="huggingface", options={**options, "vocab_size": size})

    going_on = syllabary.train(text, 300, start=trained(30))
    assert going_on.vocab == trained(300).vocab
    assert going_on.vocab_size < 300


@pytest.mark.parametrize("given", [{}, {"special_tokens": ["<s>", "a"]}, {"min_frequency": 3}])
def test_documents_that_are_read_once_leave_the_same_file(given: dict[str, Any], tmp_path: Path) -> None:
    text = ["low lower lowest newer newest wider widest\n"] * 2 + ["once only here\n"]
    data = []
    for source in (text, iter(text)):
        syllabary.train(source, 60, like="huggingface", **given).save(tmp_path / "tok.syllabary.json")
        data.append((tmp_path / "tok.syllabary.json").read_bytes())
    assert data[0] == data[1]


def test_truncating_goes_back_the_same_way() -> None:
    start = syllabary.train(LOW, 270, special_tokens=["<s>"])
    tok = syllabary.train(GREEK, 320, start=start)
    assert tok.truncate(300).spec == syllabary.train(GREEK, 300, start=start).spec
    back = tok.truncate(270)
    assert plain(back.spec) == plain(start.spec)
    assert tok.truncate(265).spec == start.truncate(265).spec


def test_what_is_not_given_is_as_the_start_was_trained() -> None:
    start = syllabary.train(LOW, 262, min_frequency=1, tie_break="largest-pair")
    tok = syllabary.train(LOW, 280, start=start)
    assert tok.spec.record["tie_break"] == "largest-pair"
    assert tok.merges == syllabary.train(LOW, 280, min_frequency=1, tie_break="largest-pair").merges
    other = syllabary.train(LOW, 280, start=start, min_frequency=3, tie_break="smallest-ids")
    assert other.spec.record["min_frequency"] == 3


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"split": "gpt2"}, "split='gpt2': start decides it, and has o200k"),
        ({"unit": "char"}, "unit='char': start decides it"),
        ({"end_of_word": "</w>"}, "end_of_word='</w>': start decides it"),
        ({"normalize": "NFC"}, "normalize='NFC': start decides it"),
        ({"fallback": True}, "fallback=True: start decides it"),
        ({"alphabet": "seen"}, "alphabet='seen': start decides it"),
        ({"byte_order": "gpt2"}, "byte_order='gpt2': start decides it"),
        ({"like": "rustbpe"}, "like='rustbpe' is not as start was trained"),
        ({"like": "sentencepiece"}, "start does not go with like='sentencepiece'"),
        ({"special_tokens": ["<e>"]}, "'<e>' is none of start's"),
        ({"vocab_size": 200}, "vocab_size is 200, but start has 270 tokens"),
        ({"vocab_size": 270}, "so that nothing would be learned: set it to 271 or more"),
    ],
)
def test_what_contradicts_the_start_is_refused(options: dict[str, Any], sentence: str) -> None:
    start = syllabary.train(LOW, 270, special_tokens=["<s>"])
    with pytest.raises(TrainingError) as caught:
        syllabary.train(GREEK, **{"vocab_size": 300, **options}, start=start)
    assert sentence in str(caught.value)


def test_what_agrees_with_the_start_may_be_said() -> None:
    start = syllabary.train(LOW, 262, special_tokens=["<s>"], normalize="NFC", split="gpt2", unit="char")
    told = {"split": "gpt2", "unit": "char", "normalize": "NFC", "special_tokens": ["<s>"]}
    assert syllabary.train(LOW, num_merges=2, start=start, **told).spec == (
        syllabary.train(LOW, num_merges=2, start=start).spec
    )


def test_tokenizers_that_cannot_be_continued(shared: Path) -> None:
    tok = syllabary.train(LOW, 262)
    model = syllabary.load(shared / "vocabs" / "mistral_v1.model")
    dropping = syllabary.Tokenizer(dataclasses.replace(tok.spec, dropout=0.1))
    for start, sentence in ((model, "merges by score"), (dropping, r"at random \(dropout 0.1\)")):
        with pytest.raises(TrainingError, match=sentence):
            syllabary.train(LOW, 40_000, start=start)
    for name in ("unigram", "wordlevel"):
        start = syllabary.train(LOW, 262, model=name)  # type: ignore[arg-type]
        with pytest.raises(TrainingError, match=f"cannot be continued: its model is '{name}'"):
            syllabary.train(LOW, 400, start=start)
    with pytest.raises(TypeError, match="give a Tokenizer"):
        syllabary.train(LOW, 300, start="tok.json")  # type: ignore[arg-type]
    with pytest.raises(syllabary.CorpusError, match="empty"):
        syllabary.train([""], 300, start=tok)


def test_what_leaves_no_room_for_a_merge_is_told() -> None:
    """Symbols of the text that are new are learned; where nothing at all would be, it is an error."""
    start = syllabary.train(LOW, 30, unit="char")
    size = start.vocab_size
    for told in ({"vocab_size": size}, {"options": None, "vocab_size": size, "threads": 1}):
        with pytest.raises(TrainingError, match=f"set it to {size + 1} or more"):
            syllabary.train(["low"], start=start, **told)  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match=f"the text 3 new symbols: set it to {size + 3} or more"):
        syllabary.train(["low χψω"], size + 1, start=start)
    assert syllabary.train(["low χψω"], size + 3, start=start).vocab_size == size + 3
    large = syllabary.train(LOW, 270)
    grown = syllabary.train(LOW, 300, start=start)
    assert grown.vocab_size > size
    with pytest.warns(EarlyStopWarning, match="after 0 new merges with a vocabulary of 270"):
        assert syllabary.train(["l o w"], start=large).merges == large.merges
    with pytest.warns(EarlyStopWarning, match="after 0 new merges"):
        syllabary.train(["l o w"], num_merges=1, start=large)


def test_an_early_stop_points_here() -> None:
    start = syllabary.train(LOW, 262)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        syllabary.train(["ab ab"], 1000, start=start)
    assert [(one.category, Path(one.filename).name) for one in said] == [
        (EarlyStopWarning, "test_start_call.py")
    ]
    assert "a vocabulary of 26" in str(said[0].message)


def test_a_token_that_was_only_a_whole_piece_is_made_by_merges() -> None:
    tokens = dict(enumerate([*(bytes([n]) for n in range(256)), b"abcd", b"xy"]))
    alphabet = {bytes([n]): n for n in range(256)}
    spec = TokenizerSpec("byte", SplitSpec(r"\S+|\s"), tokens, alphabet, None, whole_pieces=True)
    start = syllabary.Tokenizer(spec)
    documents = ["abcd", "abcdz yabcd abcdx wabcd"]
    tok = syllabary.train(documents, 261, start=start)
    assert tok.vocab_size == 260
    assert 256 in [result for _left, _right, result in tok.spec.merges or ()]
    assert len(set(tok.vocab.values())) == tok.vocab_size
    options = TrainOptions(spec.split, vocab_size=261)
    assert plain(tok.spec) == plain(reference_train(documents, options, spec))


# ---- the command line ----


def test_start_on_the_command_line(working_folder: Path) -> None:
    Path("greek.txt").write_text("\n".join(GREEK), encoding="utf-8")
    start = surgery.add(syllabary.train(LOW, 270), ["<s>"], special=True).tokenizer
    start.save("old.json")
    command = ["train", "greek.txt", "--start", "old.json", "--vocab-size", "300"]
    result = CliRunner().invoke(main, [*command, "-o", "new.json"])
    assert result.exit_code == 0, result.stderr
    assert syllabary.load("new.json").vocab_size == 300
    assert dict(syllabary.load("new.json").vocab).items() >= dict(start.vocab).items()
    refused = CliRunner().invoke(main, [*command, "-o", "other.json", "--unit", "char"])
    assert refused.exit_code == 1
    assert "start decides it" in refused.stderr
    assert not Path("other.json").exists()


def test_a_format_that_cannot_hold_more_is_refused_before_training(working_folder: Path) -> None:
    Path("low.txt").write_text(" ".join(LOW), encoding="utf-8")
    syllabary.train(LOW, num_merges=9, like="subword-nmt").save("old.bpe")
    command = ["train", "low.txt", "--start", "old.bpe", "--num-merges", "3"]
    refused = CliRunner().invoke(main, [*command, "-o", "new.bpe"])
    assert refused.exit_code == 1
    assert "subword-nmt cannot hold" in refused.stderr
    assert not Path("new.bpe").exists()
    result = CliRunner().invoke(main, [*command, "-o", "new.json"])
    assert result.exit_code == 0, result.stderr
    assert len(syllabary.load("new.json").merges) == 12
