"""Writes `docs/proof.md`, `proof-homes.md` and `proof-models.md` from what `make prove` leaves in `build/`.

Adds the table, the totals, and with which versions and when. Leaves out: comparing anything.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import syllabary

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "build" / "proof.json"
HOMES = ROOT / "build" / "compatibility.json"
HOMES_PAGE = ROOT / "docs" / "proof-homes.md"
MODELS = ROOT / "build" / "models.json"
MODELS_PAGE = ROOT / "docs" / "proof-models.md"
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

HOMES_HEAD = """# Real tokenizers against their home libraries

Written by `tools/write_proof.py` from what `make prove` compared; not edited by hand.

Ids, tokens, spans and decoded text, each equal for every text: the first megabyte of each corpus, and
10,000 strings of control characters, marks, spaces of every kind, emoji with joiners, right-to-left text,
special tokens inside words and very long runs (`tests/hard_text.py`). Spans are compared where the home
library tells them: tiktoken only tells where a token starts.

| Tokenizer | Home library | Text | Tokens |
|---|---|---|--:|
"""

MODELS_HEAD = """# Every model against its home library

Written by `tools/write_proof.py` from what `make prove` compared; not edited by hand.

Tokenizers trained here by the peers, over the combinations of their options: `tests/words_peers.py` and
`tests/home_models.py` say which. A row is a comparison that held for every token: of 10,000 hard strings
(`tests/hard_text.py`) and of the first megabyte of each corpus. Numbers: thousands of tokens.

- *ids, tokens, spans, text*: each corpus as one text, each string alone; the last is what the ids decode to.
- *full, whole*: every field of full encodings (ids, tokens, offsets, type ids, both masks, word ids, sequence
  ids), framed by a post-processor, of documents of 1000 characters and of pairs of them.
- *full, cut and padded*: the same, truncated on that side with a stride of 5 to 256 tokens (strings: 24) and
  padded; all parts that overflow. Padding is counted.
"""


def models(rows: list[dict[str, Any]], _when: str) -> str:
    """The page of the third record: one table, a column for each text."""
    texts = list(dict.fromkeys(text for row in rows for text in row["tokens"]))
    peers = ", ".join(sorted({row["peer"] for row in rows}))
    lines = [
        MODELS_HEAD,
        f"syllabary {syllabary.__version__}, {peers}, Python {platform.python_version()}.\n",
    ]
    lines += [
        f"| Tokenizer | Peer | Compared | Day | {' | '.join(texts)} |",
        "|---|---|---|---|" + "--:|" * len(texts),
    ]
    for row in sorted(rows, key=lambda row: (row["tokenizer"], row["compared"])):
        counts = [f"{row['tokens'][text] / 1000:,.0f}" if text in row["tokens"] else "" for text in texts]
        told = (row["tokenizer"], row["peer"].partition(" ")[0], row["compared"], row["when"])
        lines.append(f"| {' | '.join((*told, *counts))} |")
    total = sum(sum(row["tokens"].values()) for row in rows)
    return "\n".join(lines) + f"\n\n{len(rows)} rows, {total:,} tokens.\n"


def homes(rows: list[dict[str, Any]], when: str) -> str:
    """The page of the second record."""
    lines = [f"| {row['tokenizer']} | {row['peer']} | {row['text']} | {row['tokens']:,} |" for row in rows]
    total = sum(row["tokens"] for row in rows)
    versions = f"{when}, syllabary {syllabary.__version__}, Python {platform.python_version()}.\n"
    head = HOMES_HEAD.replace("| Tokenizer", f"{versions}\n| Tokenizer")
    return head + "\n".join([*lines, f"| **all** | | | {total:,} |"]) + "\n"


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


def written(record: Path, target: Path, make: Callable[[list[dict[str, Any]], str], str]) -> bool:
    """Write a page from its record; `False` if no run has left one."""
    if not record.is_file():
        print(f"no {record.relative_to(ROOT)}: run `make prove` first", file=sys.stderr)
        return False
    rows = json.loads(record.read_text(encoding="utf-8"))
    if not rows:
        print(f"{record.relative_to(ROOT)}: the run compared nothing", file=sys.stderr)
        return False
    when = datetime.fromtimestamp(record.stat().st_mtime, timezone.utc).strftime("%Y-%m-%d")
    target.write_text(make(rows, when), encoding="utf-8", newline="\n")
    print(f"{target.relative_to(ROOT)}: {len(rows)} comparisons")
    return True


def main() -> int:
    """Write the pages; 1 if a record is missing."""
    done = [
        written(RECORD, PAGE, page),
        written(HOMES, HOMES_PAGE, homes),
        written(MODELS, MODELS_PAGE, models),
    ]
    return 0 if all(done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
