"""Byte-level, 8k and 32k tokenizers on one corpus, an equal model on each: bits per byte, from a seed.

    python bench/compare.py --text english.txt.xz [--megabytes 10] [-- OPTIONS OF gpt compare]

Runs the commands that a user runs, and keeps what `syllabary gpt compare` writes (compare.json, .md, .png) in
bench/results, with the commands in the JSON. Leaves out: what the numbers mean, which the .md says in words.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from common import RESULTS, processor
from greek import head

SIZES = (256, 8_000, 32_000)


def main() -> None:
    """Run it in a temporary folder and keep the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--separator", default=r"\n\n")
    parser.add_argument("options", nargs="*", help="after --: options of `syllabary gpt compare`")
    given = parser.parse_args()
    commands: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.txt").write_text(head(given.text, int(given.megabytes * 1e6)), "utf-8")

        def run(*arguments: str) -> None:
            commands.append("syllabary " + shlex.join(arguments))
            print(commands[-1], flush=True)
            subprocess.run([sys.executable, "-m", "syllabary", *arguments], cwd=folder, check=True)

        read = ("text.txt", "--separator", given.separator)
        for size in SIZES:
            tok = f"{size}.syllabary.json"
            run("train", "-q", *read, "--vocab-size", str(size), "-o", tok)
            run("shard", "-q", *read, "-t", tok, "-o", f"tokens-{size}", "--val", "0.1")
        run("gpt", "compare", *(f"tokens-{size}" for size in SIZES), "-o", "out", *given.options)
        for suffix in ("md", "png"):
            shutil.copy(folder / "out" / f"compare.{suffix}", RESULTS / f"compare.{suffix}")
        found = json.loads((folder / "out" / "compare.json").read_text("utf-8"))
    record = {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "text": given.text.name,
        "megabytes": given.megabytes,
        "commands": commands,
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "versions": {name: version(name) for name in ("syllabary", "torch", "numpy")},
        "result": found,
    }
    (RESULTS / "compare.json").write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
