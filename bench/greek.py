"""The whole way on 20 MB of Ancient Greek: documents, tokenizer, shards, baselines, model, a sentence.

    python bench/greek.py --text greek.txt.xz [--megabytes 20] [--output greek.json] [-- OPTIONS OF gpt train]

Works stand between blank lines in that text. Every stage is a command of syllabary, run as a user runs it and
timed from outside; the record holds the commands, seconds, counts, bits per byte on held-out works (every
token of them) of the model and of the n-gram baselines. Goes to bench/results/greek.json or what --output
says, the curves to greek-loss.png beside it.
Leaves out: other settings; what the numbers mean stands in docs/tutorial-greek.md.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import RESULTS, processor

SEPARATOR = r"\n\n"
PROMPT = "μῆνιν ἄειδε θεὰ"


def head(path: Path, size: int) -> str:
    """Whole works from the beginning of the text, about `size` bytes of them."""
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        data = file.read(size)
    cut = data.rfind(b"\n\n")
    return data[: cut if cut > 0 else size].decode("utf-8", "strict" if cut > 0 else "ignore")


def run(name: str, arguments: list[str], folder: Path, stages: list[dict[str, Any]]) -> str:
    """Run one command in the folder; its seconds and words go to `stages`; what it printed comes back."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "syllabary", *arguments],
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    command = "syllabary " + shlex.join(arguments)
    print(f"{seconds:7.1f} s  {command}", flush=True)
    if done.returncode:
        raise SystemExit(f"failed: {command}\n{done.stdout}{done.stderr}")
    stages.append({"stage": name, "command": command, "seconds": round(seconds, 1)})
    return done.stdout


def whole_way(folder: Path, options: list[str]) -> dict[str, Any]:
    """All stages in a folder that holds `greek.txt`; the record without the machine."""
    stages: list[dict[str, Any]] = []
    read = ["greek.txt", "--separator", SEPARATOR]
    size = ["--vocab-size", "16000"]
    run("tokenizer", ["train", *read, *size, "-o", "greek.syllabary.json"], folder, stages)
    run(
        "shards",
        ["shard", *read, "-t", "greek.syllabary.json", "-o", "shards", "--val", "0.1"],
        folder,
        stages,
    )
    counted = json.loads(run("baselines", ["gpt", "baselines", "shards", "--json"], folder, stages))
    run("model", ["gpt", "train", "shards", "-o", "run", *options], folder, stages)
    model = json.loads(run("evaluation", ["gpt", "evaluate", "run", "shards", "--json"], folder, stages))
    sample = ["gpt", "sample", "run", "--prompt", PROMPT, "--max-tokens", "60", "--temperature", "0.8"]
    text = run("sample", [*sample, "--seed", "1"], folder, stages)
    index = json.loads((folder / "shards" / "index.json").read_text("utf-8"))
    splits = {
        name: {key: split[key] for key in ("documents", "tokens", "text_bytes")}
        for name, split in index["splits"].items()
    }
    seconds = round(sum(stage["seconds"] for stage in stages), 1)
    return {
        "stages": stages,
        "seconds": seconds,
        "splits": splits,
        "baselines": counted["baselines"],
        "model": model,
        "config": json.loads((folder / "run" / "config.json").read_text("utf-8")),
        "sample": text.strip(),
    }


def gpu() -> str | None:
    """The GPU that torch finds, asked in a process of its own."""
    ask = "import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else '')"
    return subprocess.run([sys.executable, "-c", ask], text=True, capture_output=True).stdout.strip() or None


def main() -> None:
    """Run it, print what came out, write it down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--output", type=Path, default=RESULTS / "greek.json")
    parser.add_argument("options", nargs="*", help="after --: options of `syllabary gpt train`")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = head(given.text, int(given.megabytes * 1e6))
        (folder / "greek.txt").write_text(text, "utf-8")
        record = whole_way(folder, given.options)
        shutil.copy(folder / "run" / "loss.png", given.output.with_name(f"{given.output.stem}-loss.png"))
    record |= {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": f"python bench/greek.py --text greek.txt.xz --megabytes {given.megabytes:g} -- "
        + shlex.join(given.options),
        "bytes": len(text.encode()),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "gpu": gpu()},
        "versions": {name: version(name) for name in ("syllabary", "torch", "numpy")},
    }
    given.output.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", "utf-8")
    print(f"{record['seconds']:.0f} s in all; bits per byte on held-out works:")
    for row in [*record["baselines"], {"name": "model", **record["model"]}]:
        print(f"  {row['name']:<14} {row['bits_per_byte']:.4f}")
    print(record["sample"])


if __name__ == "__main__":
    main()
