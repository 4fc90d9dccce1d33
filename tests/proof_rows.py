"""What proofs have compared, kept in `build/` one row a comparison that held, until the page is written.

Adds `keep`, by which a proof may be run in pieces: a row takes the place of an earlier one of the same
comparison. Leaves out: the page (`tools/write_proof.py`).
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"
PROVE = bool(os.environ.get("SYLLABARY_PROVE"))


def keep(tokenizer: str, peer: str, compared: str, tokens: dict[str, int], file: str = "models.json") -> None:
    """A row of a proof; on other days nothing. tokens: how many, for each text."""
    if not PROVE:
        return
    BUILD.mkdir(exist_ok=True)
    rows = json.loads((BUILD / file).read_text("utf-8")) if (BUILD / file).is_file() else []
    told = {"tokenizer": tokenizer, "peer": peer, "compared": compared}
    others = [row for row in rows if any(row[name] != value for name, value in told.items())]
    when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    rows = [*others, {**told, "when": when, "tokens": tokens}]
    (BUILD / file).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
