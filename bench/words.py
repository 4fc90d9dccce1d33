"""Encoding with WordPiece and WordLevel: MB a second of CPU time, ours beside tokenizers', one thread.

    python bench/words.py [--mb 1] [--peers build/peers]

Trains the tokenizers here, by tokenizers 0.23.3, on some of every corpus of `../shared`; then each library
encodes documents of 3 KB of each corpus, first pass, in a process of its own, the libraries in turns. Ids
are compared. Writes `bench/results/words.json`. Leaves out: more than one thread, lists of text (`encode`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
MADE = ROOT / "build" / "words"
RESULT = ROOT / "bench" / "results" / "words.json"
LANES = ("syllabary", "tokenizers 0.23.3", "tokenizers 1.0.0rc3")
MODELS = ("wordpiece-uncased", "wordpiece-cased", "wordlevel")
ROUNDS = 3


def text_of(corpus: str, size: int) -> str:
    """The first bytes of a corpus."""
    with lzma.open(CORPORA / f"{corpus}.txt.xz") as file:
        return file.read(size).decode("utf-8", "ignore")


def corpora() -> list[str]:
    """The names of all of them."""
    return sorted(path.name.removesuffix(".txt.xz") for path in CORPORA.glob("*.txt.xz"))


def train(model: str) -> Path:
    """The file of a tokenizer that tokenizers trained, made once."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    path = MADE / f"{model}.json"
    if path.exists():
        return path
    trainer: Any
    told: dict[str, Any] = {"vocab_size": 30_000, "special_tokens": ["[UNK]"], "show_progress": False}
    if model == "wordlevel":
        tok, trainer = Tokenizer(models.WordLevel(unk_token="[UNK]")), trainers.WordLevelTrainer(**told)
        tok.pre_tokenizer = pre_tokenizers.Whitespace()
    else:
        tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        trainer = trainers.WordPieceTrainer(**told, limit_alphabet=6000)
        tok.normalizer = normalizers.BertNormalizer(lowercase=model.endswith("uncased"))
        tok.pre_tokenizer, tok.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    tok.train_from_iterator((text_of(name, 1_500_000) for name in corpora()), trainer)
    path.parent.mkdir(parents=True, exist_ok=True)
    tok.save(str(path))
    return path


def lane(library: str, file: str, corpus: str, size: int) -> dict[str, Any]:
    """Seconds of CPU time to encode a corpus, and a digest of the ids."""
    text = text_of(corpus, size)
    documents = [text[at : at + 3000] for at in range(0, len(text), 3000)]
    if library == "syllabary":
        import syllabary

        ours = syllabary.load(file)
        start = time.process_time()
        ragged = ours.encode_batch_array(documents, special="text", threads=1)
        seconds = time.process_time() - start
        ids = ragged.ids.tolist()
    else:
        import tokenizers

        assert library.endswith(tokenizers.__version__), tokenizers.__file__
        peer = tokenizers.Tokenizer.from_file(file)
        start = time.process_time()
        found = peer.encode_batch_fast(documents, add_special_tokens=False)
        seconds = time.process_time() - start
        ids = [token_id for one in found for token_id in one.ids]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()
    return {"seconds": seconds, "bytes": len(text.encode()), "digest": digest}


def measured(library: str, *arguments: str, peers: Path) -> dict[str, Any]:
    """The same in a process of its own."""
    folders = [str(ROOT / "python")] + ([str(peers / "tokenizers-rc3")] if "rc3" in library else [])
    env = {**os.environ, "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    env["PYTHONPATH"] = os.pathsep.join([*reversed(folders), env.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, "--lane", library, *arguments]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Measure all, print a table, write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=float, default=1)
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--lane", nargs=4, metavar=("LIBRARY", "FILE", "CORPUS", "BYTES"))
    options = parser.parse_args()
    if options.lane:
        library, file, corpus, size = options.lane
        print(json.dumps(lane(library, file, corpus, int(size))))
        return
    rows: list[dict[str, Any]] = []
    lanes = LANES if (options.peers / "tokenizers-rc3").is_dir() else LANES[:2]
    for model in MODELS:
        file = train(model)
        for corpus in corpora():
            best: dict[str, float] = {}
            digests = set()
            for _round in range(ROUNDS):
                for library in lanes:
                    size = str(int(options.mb * 1e6))
                    found = measured(library, str(file), corpus, size, peers=options.peers)
                    speed = found["bytes"] / found["seconds"] / 1e6
                    best[library] = max(best.get(library, 0), speed)
                    digests.add(found["digest"])
            row = {"model": model, "corpus": corpus, "same_ids": len(digests) == 1, "MB/s": best}
            rows.append(row)
            print(json.dumps(row), flush=True)
    RESULT.write_text(json.dumps({"mb": options.mb, "rounds": ROUNDS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
