"""Stand-ins for what tokenizers' tests download: `python tools/tokenizers_stand_ins.py VOCABS TEXT CACHE`.

Writes a cache of `huggingface_hub` into the folder CACHE (then set `HF_HOME=CACHE HF_HUB_OFFLINE=1`): GPT-2's
and Llama 3's vocabularies of the folder VOCABS under the names that the tests ask for, the file TEXT for
their training texts, and small vocabularies made by hand that hold the words and ids that the tests name.
Leaves out: T5, ALBERT, Llama 2, BERT's cased one, of which there is nothing to make one from.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import syllabary

BERT = {
    "[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103, "?": 1029, "my": 2026, "name": 2171,
    "is": 2003, "john": 2198, "pair": 3940, "i": 1045, "love": 2293, "hugging": 17662, "##face": 12172,
    "do": 2079, "you": 2017, "georges": 8300,
}  # fmt: skip
GPT = {
    "<unk>": 0, "y</w>": 253, "name</w>": 1362, "is</w>": 544, "o": 7, "my</w>": 547, "john</w>": 2476,
    "hn</w>": 12662, "pair</w>": 2688,
}  # fmt: skip
ROBERTA = {
    "The": 133, "Ġquick": 2119, "Ġbrown": 6219, "Ġfox": 23602, "Ġjumps": 13855, "Ġover": 81, "Ġthe": 5,
    "Ġlazy": 22414, "Ġdog": 2335, "ĠThe": 20,
}  # fmt: skip
WIKI = {
    "[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[PAD]": 3, "[MASK]": 4, "Hello": 27253, ",": 16, "y": 93, "'": 11,
    "all": 5097, "!": 5, "How": 7961, "are": 5112, "you": 6218, "?": 35,
}  # fmt: skip
BERT_WIKI = [
    "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "welcome", "to", "the", "tok", "##eni", "##zer", "##s",
    "library", ".",
]  # fmt: skip
ADDED = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def main() -> int:
    """Write all of it."""
    if len(sys.argv) != 4:
        print("usage: tokenizers_stand_ins.py VOCABS TEXT CACHE", file=sys.stderr)
        return 2
    vocabs, text, cache = (Path(one) for one in sys.argv[1:])
    data = snapshot(cache, "datasets--hf-internal-testing--tokenizers-test-data")
    write(data / "roberta-base-vocab.json", renumbered(vocabs / "gpt2_encoder.json", ROBERTA))
    shutil.copyfile(vocabs / "gpt2_vocab.bpe", data / "roberta-base-merges.txt")
    for name in ("small.txt", "big.txt"):
        shutil.copyfile(text, data / name)
    words = {number: word for word, number in BERT.items()}
    lines = [words.get(number, f"[unused{number}]") for number in range(max(words) + 1)]
    (data / "bert-base-uncased-vocab.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    vocab, merges = spelled(GPT, "</w>")
    write(data / "openai-gpt-vocab.json", vocab)
    rows = "".join(f"{a} {b}\n" for a, b in merges)
    (data / "openai-gpt-merges.txt").write_text(rows, encoding="utf-8", newline="\n")
    vocab, merges = spelled(WIKI, "")
    model = {"type": "BPE", "unk_token": "[UNK]", "vocab": vocab, "merges": merges}
    write(data / "tokenizer-wiki.json", document(model, list(WIKI)[:5], {"type": "Whitespace"}))
    model = {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100, "vocab": {word: at for at, word in enumerate(BERT_WIKI)},
    }  # fmt: skip
    write(data / "bert-wiki.json", bert_wiki(document(model, BERT_WIKI[:5], {"type": "Whitespace"})))
    for name in ("models--gpt2", "models--hf-internal-testing--gpt-oss-20b"):
        shutil.copyfile(vocabs / "gpt2_tokenizer.json", snapshot(cache, name) / "tokenizer.json")
    special = {f"<|{number}|>": number for number in range(128000, 128256)}
    llama = syllabary.load(vocabs / "llama3.tiktoken", split="llama3", special_tokens=special)
    llama.save(snapshot(cache, "models--hf-internal-testing--Llama-3.1-8B-Instruct") / "tokenizer.json")
    return 0


def snapshot(cache: Path, name: str) -> Path:
    """The folder of a repository's files in the cache."""
    folder = cache / "hub" / name / "snapshots" / ("0" * 40)
    folder.mkdir(parents=True, exist_ok=True)
    (cache / "hub" / name / "refs").mkdir(exist_ok=True)
    (cache / "hub" / name / "refs" / "main").write_text("0" * 40, encoding="utf-8", newline="\n")
    return folder


def renumbered(path: Path, wanted: dict[str, int]) -> dict[str, int]:
    """A vocabulary in which some tokens have other ids; those that had them get theirs."""
    vocab: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    for token, number in wanted.items():
        other = next(name for name, one in vocab.items() if one == number)
        vocab[other], vocab[token] = vocab[token], number
    return vocab


def spelled(words: dict[str, int], suffix: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary with these ids, and merges that make each word from its left end on."""
    vocab, merges, new = dict(words), list[tuple[str, str]](), 100_000
    for word in words:
        if word.startswith(("[", "<")):
            continue
        body = word.removesuffix(suffix) if suffix else word
        symbols = [*body[:-1], body[-1] + word[len(body) :]]
        for at, symbol in enumerate(symbols):
            joined = "".join(symbols[: at + 1])
            for piece in (symbol, joined):
                if piece not in vocab:
                    vocab[piece] = new
                    new += 1
            pair = ("".join(symbols[:at]), symbol)
            if at and pair not in merges:
                merges.append(pair)
    return vocab, merges


def document(model: dict[str, Any], special: list[str], pre_tokenizer: dict[str, Any]) -> dict[str, Any]:
    """A `tokenizer.json` around a model."""
    added = [{"id": model["vocab"][word], "content": word, **ADDED} for word in special]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": None, "model": model,
    }  # fmt: skip


def bert_wiki(found: dict[str, Any]) -> dict[str, Any]:
    """With the template and normalizer that their tutorial builds."""
    steps = [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]
    found["normalizer"] = {"type": "Sequence", "normalizers": steps}
    slots = [("[CLS]", 1), ("[SEP]", 2)]
    single: list[Any] = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]  # fmt: skip
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]
    tokens = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in slots}
    found["post_processor"] = {"type": "TemplateProcessing", "single": single, "pair": pair,
                               "special_tokens": tokens}  # fmt: skip
    return found


def write(path: Path, value: Any) -> None:
    """JSON."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    raise SystemExit(main())
