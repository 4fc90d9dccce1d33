"""`tok.as_transformers()` where ids are drawn at random (dropout, Unigram's `alpha`), and its encodings.

All that one `BatchEncoding` says is of one draw, whenever it is asked for. Leaves out: what is drawn
(`test_dropout`), calls without (`test_transformers`).
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from transformers_folders import TEXTS, write

import syllabary
from syllabary.compat import tokenizers as compat

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
DRAWS = 20  # which are not all the same
OPTIONS: list[dict[str, Any]] = [
    {},
    {"return_offsets_mapping": True},
    {"return_tensors": "np", "padding": True},
    {"truncation": True, "max_length": 12, "padding": "max_length"},
    {"truncation": True, "max_length": 9, "stride": 2, "return_overflowing_tokens": True},
]


@pytest.fixture(scope="module", params=["bytes", "roberta", "llama"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(request.param, tmp_path_factory.mktemp(request.param))


def dropping(folder: Path, dropout: float) -> tuple[Any, Any]:
    """Ours and theirs."""
    pair = (
        syllabary.load(folder).as_transformers(pad_token="</s>"),
        transformers.PreTrainedTokenizerFast.from_pretrained(folder, pad_token="</s>"),
    )
    for one in pair:
        one("a")
        one.backend_tokenizer.model.dropout = dropout
    return pair


def of_one_draw(tok: Any, found: Any, texts: list[str]) -> None:
    """The tokens and the places of the ids of each row. texts: of the rows."""
    assert len(found.encodings) == len(found["input_ids"]) == len(texts)
    for row, text in enumerate(texts):
        ids = np.asarray(found["input_ids"][row]).tolist()
        assert found.tokens(row) == tok.convert_ids_to_tokens(ids)
        assert len(found.word_ids(row)) == len(ids)
        offsets = found.encodings[row].offsets
        if "offset_mapping" in found:
            assert found["offset_mapping"][row] == offsets
        for at, (start, end) in enumerate(offsets):
            if start < end and found.sequence_ids(row)[at] == 0:
                first = found.char_to_token(row, start)
                assert offsets[first][0] <= start < offsets[first][1]
                assert end <= len(text)


def test_a_call_is_one_draw(folder: Path) -> None:
    ours, _theirs = dropping(folder, 0.5)
    text = TEXTS[0]
    for options in OPTIONS:
        drawn = set()
        for _ in range(DRAWS):
            found = ours([text, TEXTS[1]], **options)
            drawn.add(repr([np.asarray(row).tolist() for row in found["input_ids"]]))
            samples = found.get("overflow_to_sample_mapping", [0, 1])
            of_one_draw(ours, found, [(text, TEXTS[1])[sample] for sample in samples])
            kept = pickle.loads(pickle.dumps(found))
            assert kept.tokens(0) == found.tokens(0)
        assert len(drawn) > 1, options
    for call in (
        lambda: ours(text, TEXTS[1]),
        lambda: ours(text.split(), is_split_into_words=True),
        lambda: ours(text, return_special_tokens_mask=True),
    ):
        assert len({tuple(call()["input_ids"]) for _ in range(DRAWS)}) > 1
        one = call()
        assert one.tokens() == ours.convert_ids_to_tokens(one["input_ids"])
    assert len({tuple(ours.tokenize(text)) for _ in range(DRAWS)}) > 1
    assert len({tuple(ours.encode(text)) for _ in range(DRAWS)}) > 1
    assert len({tuple(copy.deepcopy(ours).encode(text)) for _ in range(DRAWS)}) > 1
    ours.backend_tokenizer.model.dropout = None
    assert len({tuple(ours.encode(text)) for _ in range(6)}) == 1


def test_where_every_merge_is_passed_over(folder: Path) -> None:
    """Which is as theirs has it, each field."""
    ours, theirs = dropping(folder, 1.0)
    for options in OPTIONS:
        found, expected = ours(TEXTS, **options), theirs(TEXTS, **options)
        for key in expected:
            assert np.array_equal(found[key], expected[key]) or found[key] == expected[key], key
        for row in range(len(expected["input_ids"])):
            assert found.tokens(row) == expected.tokens(row)
            assert found.word_ids(row) == expected.word_ids(row)
            assert found.encodings[row].offsets == expected.encodings[row].offsets
    assert dict(ours(TEXTS[0], TEXTS[1])) == dict(theirs(TEXTS[0], TEXTS[1]))


def test_the_mask_of_the_assistant_is_of_the_ids(folder: Path) -> None:
    ours, _theirs = dropping(folder, 0.5)
    template = (
        "{% for message in messages %}{% generation %}{{ message.content }}{% endgeneration %} end "
        "{% endfor %}"
    )
    chat = [{"role": "assistant", "content": TEXTS[0]}]
    for _ in range(5):
        found = ours.apply_chat_template(
            chat, chat_template=template, return_dict=True, return_assistant_tokens_mask=True
        )
        masked = zip(found["input_ids"], found["assistant_masks"], strict=True)
        written = ours.decode([token for token, mask in masked if mask], skip_special_tokens=True)
        assert written.strip() == TEXTS[0]


def test_ways_of_unigram(tmp_path: Path) -> None:
    """Set on the model, and taken back; as in `compat.tokenizers`."""
    folder = write("t5", tmp_path)
    ours = syllabary.load(folder).as_transformers()
    beside = compat.Tokenizer.from_file(str(folder / "tokenizer.json"))
    text, best = TEXTS[0], ours(TEXTS[0])["input_ids"]
    model = ours.backend_tokenizer.model
    for alpha, size in ((0.1, None), (0.1, 4)):
        for one in (model, beside.model):
            one.alpha, one.nbest_size = alpha, size
        for call in (ours.encode, lambda text: beside.encode(text).ids):
            assert len({tuple(call(text)) for _ in range(DRAWS)}) > 1
        found = ours([text, TEXTS[1]], padding=True, return_offsets_mapping=True)
        of_one_draw(ours, found, [text, TEXTS[1]])
        assert ours.decode(found["input_ids"][0], skip_special_tokens=True).startswith("Hello")
    model.alpha = None
    assert {tuple(ours.encode(text)) for _ in range(5)} == {tuple(best)}


def test_encodings_have_the_methods_of_the_library(folder: Path) -> None:
    rows = []
    for tok, kind in zip(dropping(folder, 0.0), (compat.Encoding, tokenizers.Encoding), strict=True):
        batch = tok([TEXTS[0], TEXTS[1]], [TEXTS[2], TEXTS[3]])
        one, two = batch.encodings
        assert type(one) is kind
        lengths = [len(one), len(two), one.n_sequences]
        merged = kind.merge([one, two])
        with pytest.warns(DeprecationWarning, match="word_ids"):
            words = one.words
        two.set_sequence_id(3)
        one.truncate(5, stride=1)
        one.pad(8, pad_id=1, pad_token="<pad>", direction="left")
        told = [[each.ids, each.tokens, each.offsets] for each in (one, two, merged, *one.overflowing)]
        rows.append([lengths, words, two.sequence_ids, told, batch["input_ids"], batch.tokens(0)])
    assert rows[0] == rows[1]
