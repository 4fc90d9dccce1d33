"""Code written for `transformers` and `datasets`, unchanged, with our tokenizer in it.

Leaves out: that calls give the same (`test_transformers`).
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from transformers_folders import TEXTS, write

import syllabary

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")
datasets = pytest.importorskip("datasets", reason="the extra arrow is not installed")

Pair = tuple[Any, Any]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    folder = write("roberta", tmp_path / "folder")
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    return syllabary.load(folder).as_transformers(), theirs


def test_collators(pair: Pair) -> None:
    for make in (
        lambda tok: transformers.DataCollatorWithPadding(tok, pad_to_multiple_of=8),
        lambda tok: transformers.DataCollatorForLanguageModeling(tok, mlm=False),
        lambda tok: transformers.DataCollatorForLanguageModeling(tok, mlm=True, mlm_probability=0.3),
        lambda tok: transformers.DataCollatorForTokenClassification(tok),
        lambda tok: transformers.DataCollatorForSeq2Seq(tok),
    ):
        found = []
        for tok in pair:
            rows = [tok(one, truncation=True, max_length=30) for one in TEXTS[:4]]
            if "TokenClass" in type(make(tok)).__name__ or "Seq2Seq" in type(make(tok)).__name__:
                rows = [{**row, "labels": row["input_ids"]} for row in rows]
            torch.manual_seed(0)
            found.append(make(tok)(rows))
        assert list(found[0]) == list(found[1])
        for key in found[0]:
            assert torch.equal(found[0][key], found[1][key])


def test_datasets_map(pair: Pair, tmp_path: Path) -> None:
    ours, _theirs = pair
    hasher = datasets.fingerprint.Hasher
    first = hasher.hash(ours)
    data = datasets.Dataset.from_dict({"text": [one for one in TEXTS if one.strip()] * 3})
    rows = [
        data.map(lambda batch, tok=tok: tok(batch["text"], truncation=True), batched=True, batch_size=5)
        for tok in pair
    ]
    assert rows[0]["input_ids"] == rows[1]["input_ids"]
    spread = data.map(Encode(ours), batched=True, batch_size=5, num_proc=2)
    assert spread["input_ids"] == rows[1]["input_ids"]
    ours(TEXTS, padding=True)
    ours.decode([3, 10**6])
    assert ours.backend_tokenizer.get_vocab_size() == len(ours)
    for one in (ours, pickle.loads(pickle.dumps(ours)), copy.copy(ours)):
        assert hasher.hash(one) == first  # so that what was mapped is found again
    ours.add_tokens("<another>")
    assert hasher.hash(ours) != first


class Encode:
    """A function that carries a tokenizer to other processes."""

    def __init__(self, tok: Any) -> None:
        self.tok = tok

    def __call__(self, batch: dict[str, list[str]]) -> Any:
        return self.tok(batch["text"], truncation=True)


def test_a_pipeline_and_generation(pair: Pair) -> None:
    config = transformers.GPT2Config(vocab_size=len(pair[1]), n_positions=64, n_embd=16, n_layer=1, n_head=2)
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    texts = [
        transformers.pipeline("text-generation", model=model, tokenizer=tok)(
            "Hello world", max_new_tokens=6, do_sample=False, pad_token_id=2
        )
        for tok in pair
    ]
    assert texts[0] == texts[1]


def test_token_classification(pair: Pair) -> None:
    config = transformers.RobertaConfig(
        vocab_size=len(pair[1]),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    torch.manual_seed(0)
    model = transformers.RobertaForTokenClassification(config).eval()
    found = [
        transformers.pipeline(
            "token-classification", model=model, tokenizer=tok, aggregation_strategy="simple"
        )("Hello world, how are you doing today?")
        for tok in pair
    ]
    assert found[0] == found[1]


def test_trainer(pair: Pair, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="accelerate, which Trainer needs, is not installed")
    ours, _theirs = pair
    config = transformers.GPT2Config(vocab_size=len(ours), n_positions=64, n_embd=16, n_layer=1, n_head=2)
    data = datasets.Dataset.from_dict({"text": TEXTS[:6]}).map(
        lambda batch: ours(batch["text"], truncation=True, max_length=32),
        batched=True,
        remove_columns=["text"],
    )
    trainer = transformers.Trainer(
        model=transformers.GPT2LMHeadModel(config),
        args=transformers.TrainingArguments(
            output_dir=str(tmp_path / "run"),
            max_steps=2,
            per_device_train_batch_size=2,
            report_to=[],
            use_cpu=True,
        ),
        train_dataset=data,
        processing_class=ours,
        data_collator=transformers.DataCollatorForLanguageModeling(ours, mlm=False),
    )
    trainer.train()
    trainer.save_model()
    assert (
        transformers.AutoTokenizer.from_pretrained(tmp_path / "run")(TEXTS)["input_ids"]
        == ours(TEXTS)["input_ids"]
    )
