"""Post-processors in a `Sequence`, each of which puts tokens around what the one before gave.

Leaves out: one alone (`test_transformers`), and `special_tokens_mask`, which is 1 for all that was added.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from transformers_folders import TEXTS, write

import syllabary

transformers = pytest.importorskip("transformers", reason="the extra transformers is not installed")
from tokenizers import processors  # noqa: E402 (installed with it)

BOS, EOS = ("<s>", 0), ("</s>", 1)
CHAINED = {
    "bert": processors.BertProcessing(EOS, BOS),
    "roberta": processors.RobertaProcessing(EOS, BOS, trim_offsets=False, add_prefix_space=False),
    "bos": processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B:1", special_tokens=[BOS]),
    "eos": processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[EOS]
    ),
    "bytes": processors.ByteLevel(trim_offsets=False),
}  # fmt: skip


@pytest.mark.parametrize("names", list(itertools.product(CHAINED, repeat=2)), ids="-".join)
def test_two_post_processors(names: tuple[str, str], tmp_path: Path) -> None:
    folder = write("bytes", tmp_path)
    made = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    chain = [json.loads(CHAINED[name].__getstate__()) for name in names]
    made["post_processor"] = {"type": "Sequence", "processors": chain}
    (folder / "tokenizer.json").write_text(json.dumps(made), "utf-8")
    ours = syllabary.load(folder).as_transformers()
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    templates = {"bos", "eos"}.issuperset(names)  # of a pair theirs panics
    for text, pair in [(TEXTS[0], None), ("", None), (TEXTS[1:3], None)] + [("a", TEXTS[2])] * (
        not templates
    ):
        for asked in ({}, {"return_offsets_mapping": True, "return_token_type_ids": True}):
            assert dict(ours(text, pair, **asked)) == dict(theirs(text, pair, **asked)), (text, pair)
