"""Write testdata/peers/youtokentome.json: models of YouTokenToMe, and what it makes of texts with them.

Its last release, 1.0.6, builds only with Cython below 3 and is no part of the environment here: run this in
one of its own, `python tools/youtokentome_cases.py`, in the root of the repository. Leaves out: dropout.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import youtokentome

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "fuzz"))
import texts  # noqa: E402

TRAININGS = (
    {"vocab_size": 560},
    {"vocab_size": 400, "coverage": 0.8},
    {"vocab_size": 550, "pad_id": 3, "unk_id": 0, "bos_id": 1, "eos_id": 2},
    {"vocab_size": 530, "pad_id": 0, "unk_id": 7, "bos_id": -1, "eos_id": -1},
)


def cases() -> list[dict[str, object]]:
    """A model a training, with texts and their ids, and ids and their text."""
    found = []
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        corpus, path = Path(folder) / "corpus.txt", Path(folder) / "model.yttm"
        corpus.write_text("\n".join(texts.SNIPPETS * 3), encoding="utf-8", newline="\n")
        for options in TRAININGS:
            model = youtokentome.BPE.train(data=str(corpus), model=str(path), n_threads=1, **options)
            given = [texts.draw(chance)[:120].replace("\0", "") for _ in range(120)]
            ids = model.encode(given, output_type=youtokentome.OutputType.ID)
            decoded = model.decode(ids[:30])
            found.append(
                {
                    "model": path.read_text(encoding="utf-8"),
                    "cases": [list(pair) for pair in zip(given, ids, strict=True)],
                    "decoded": [list(pair) for pair in zip(ids[:30], decoded, strict=True)],
                }
            )
    return found


if __name__ == "__main__":
    lines = json.dumps(cases(), ensure_ascii=False, indent=0)
    (ROOT / "testdata" / "peers" / "youtokentome.json").write_text(
        lines + "\n", encoding="utf-8", newline="\n"
    )
