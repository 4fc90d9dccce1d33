"""What the writers of Unicode tables share: to write the file, or to say whether it is up to date.

Leaves out: the tables (`unicode_tables`, `normalization_tables`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(about: str | None, path: Path, build: Callable[[], str], asked: str) -> int:
    """Write what `build` gives, or with `--check` say whether `path` is what those `asked` answer."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    arguments = parser.parse_args()
    text = build()
    if arguments.check:
        same = path.read_text(encoding="utf-8") == text
        print(f"the tables are what {asked}" if same else f"the tables differ: they are not what {asked}")
        return 0 if same else 1
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {path.relative_to(ROOT)}: {len(text):,} characters")
    return 0
