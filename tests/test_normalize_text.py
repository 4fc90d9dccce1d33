"""`normalize`: the text before it is cut, as sentencepiece and tokenizers show it.

Leaves out: the steps one by one (`test_steps_normalize`), models that normalize in training.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import tokenizers_calls as calls
from hypothesis import given
from implementations import Implementation, each
from sentencepiece_models import peer, train, variants
from strategies import texts
from test_formats_sentencepiece_peer import ODD_TEXTS, sampled, tokenizer_of

import syllabary
from syllabary.errors import SpecialTokenError, TextError
from syllabary.formats.hf_read import read_document
from syllabary.formats.strict_json import Json


@each
def test_sentencepiece(implementation: Implementation, tmp_path: Path, prove: bool) -> None:
    for number, options in enumerate(variants(60 if prove else 12, seed=5)):
        data, source = train(tmp_path, **options), random.Random(number)
        tokenizer, other = tokenizer_of(implementation, data, tmp_path), peer(data).processor
        for text in [*ODD_TEXTS, *sampled(source, 30)]:
            assert tokenizer.normalize(text, special="text") == other.normalize(text), (options, text)


@each
@pytest.mark.parametrize("make", calls.NORMALIZERS)
def test_hugging_face(implementation: Implementation, make: Any) -> None:
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    made.normalizer = make(tokenizers)
    spec = read_document(Json(json.loads(made.to_str()), "$", Path("tokenizer.json")))
    tokenizer = implementation.tokenizer(spec)
    for text in [*calls.CORPUS, *calls.WORDS, "".join(calls.WORDS)]:
        expected = text if made.normalizer is None else made.normalizer.normalize_str(text)
        assert tokenizer.normalize(text) == expected


@each
def test_special_tokens_stay_as_they_were_found(implementation: Implementation) -> None:
    made = syllabary.train(["to be or not to be"] * 3, num_merges=5, normalize="NFKC", special_tokens=["<ﬁ>"])
    tokenizer = implementation.tokenizer(made.spec)
    text = "ﬁne <ﬁ> ﬁ"
    assert tokenizer.normalize(text, special="allow") == "fine <ﬁ> fi"
    assert tokenizer.normalize(text, special={"<ﬁ>"}) == "fine <ﬁ> fi"
    assert tokenizer.normalize(text, special="text") == "fine <fi> fi"
    with pytest.raises(SpecialTokenError, match="at character 4"):
        tokenizer.normalize(text)
    with pytest.raises(TextError):
        tokenizer.normalize("a\ud800")


@given(texts())
def test_without_a_normalizer_it_is_the_text(text: str) -> None:
    tok = syllabary.train(["to be or not to be"] * 3, num_merges=5)
    assert tok.normalize(text) == text


@pytest.mark.parametrize("special", [["nope"], "nope", 5, None, [5], iter(["<s>"]), ["<s>"], ("<s>",)])
@pytest.mark.parametrize("text", ["a<s>", 5, b"a", None])
def test_what_is_wrong_is_said_as_by_encode(text: Any, special: Any) -> None:
    tok = syllabary.train(["to be or not to be"] * 3, num_merges=5, special_tokens=["<s>"])
    found = []
    for run in (tok.encode, tok.normalize):
        try:
            run(text, special=special)
            found.append(None)
        except (LookupError, TypeError, ValueError) as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]
