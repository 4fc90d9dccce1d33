"""What proofs have compared, kept in `build/` a row for each tokenizer, until the page is written.

Adds `keep`, by which a proof may be run in pieces: what is compared again
takes the place of what was. Leaves out: the page (`tools/write_proof.py`).
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"
PROVE = bool(os.environ.get("SYLLABARY_PROVE"))


def keep(tokenizer: str, peer: str, compared: str, text: str, tokens: int, file: str = "models.json") -> None:
    """In a proof: so many tokens of a text were compared, and none differs. On other days nothing."""
    if not PROVE:
        return
    BUILD.mkdir(exist_ok=True)
    rows = json.loads((BUILD / file).read_text("utf-8")) if (BUILD / file).is_file() else []
    told = {"tokenizer": tokenizer, "peer": peer, "compared": compared}
    earlier = next((row for row in rows if all(row[name] == value for name, value in told.items())), None)
    if earlier is None:
        rows.append(earlier := {**told, "tokens": {}})
    earlier["when"] = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    earlier["tokens"][text] = tokens
    (BUILD / file).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
