"""Writes `docs/proof.md` from `build/proof.json`, which a run of `make prove` leaves.

Adds the table, the totals, and with which versions and when. Leaves out: comparing anything.
"""

from __future__ import annotations

import json
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import syllabary

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "build" / "proof.json"
PAGE = ROOT / "docs" / "proof.md"

HEAD = """# Proof on published vocabularies

Written by `tools/write_proof.py` from what `make prove` compared; not edited by hand. Each row is a
comparison that held for every token: the whole corpus, in parts of a megabyte, encoded by the engine and by
the peer, and decoded back to the same text.

For tiktoken's vocabularies that is twice: as ordinary text (the tokens counted here), and with special
tokens allowed, after `<|endoftext|>` was put in the place of blank lines and into words with "tion" (as many
as the last column says). For Hugging Face's library, which always takes special tokens for what they are, it
is the second alone, and the tokens counted are its.
"""


def page(rows: list[dict[str, Any]], when: str) -> str:
    """The page for the rows of a run."""
    versions = f"syllabary {syllabary.__version__}, {', '.join(sorted({row['peer'] for row in rows}))}"
    lines = [HEAD, f"{when}, {versions}, Python {platform.python_version()}, {platform.machine()}.\n"]
    lines += ["| Vocabulary | Peer | Corpus | Bytes | Tokens | Special tokens |", "|---|---|---|--:|--:|--:|"]
    for row in sorted(rows, key=lambda row: (row["peer"], row["vocabulary"], row["corpus"])):
        lines.append(f"| {row['vocabulary']} | {row['peer']} | {row['corpus']} | {numbers(row)} |")
    total = {key: sum(row[key] for row in rows) for key in ("bytes", "tokens", "special")}
    lines.append(f"| **all** | | | {numbers(total)} |")
    return "\n".join(lines) + "\n"


def numbers(row: dict[str, Any]) -> str:
    """The last three columns."""
    return " | ".join(f"{row[key]:,}" for key in ("bytes", "tokens", "special"))


def main() -> int:
    """Write the page; 1 if no run has left a record."""
    if not RECORD.is_file():
        print(f"no {RECORD.relative_to(ROOT)}: run `make prove` first", file=sys.stderr)
        return 1
    rows = json.loads(RECORD.read_text(encoding="utf-8"))
    if not rows:
        print("the run compared nothing", file=sys.stderr)
        return 1
    when = datetime.fromtimestamp(RECORD.stat().st_mtime, timezone.utc).strftime("%Y-%m-%d")
    PAGE.write_text(page(rows, when), encoding="utf-8", newline="\n")
    print(f"{PAGE.relative_to(ROOT)}: {len(rows)} comparisons")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
