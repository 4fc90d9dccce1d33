"""Feed damaged files to every reader: `python fuzz/run.py --inputs 1000000`.

Reads the seeds in fuzz/seeds/FORMAT/, damages them and tries the reader. An input that breaks one is kept in
fuzz/broken/FORMAT/ and the run goes on; exit code 1 if there were any. On Linux memory is limited to 4 GiB.
Leaves out: coverage guidance, since readers are small and seeds hold every part of a format.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mutate import mutate
from readers import try_file

HERE = Path(__file__).parent
MEMORY = 4 << 30


def main() -> int:
    """Run; see the file's first lines."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--inputs", type=int, default=10_000, help="in all, over all formats")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--format", help="one format instead of all")
    options = arguments.parse_args()
    limit_memory()
    formats = sorted(path.name for path in (HERE / "seeds").iterdir())
    chosen = [options.format] if options.format else formats
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            start = time.monotonic()
            results = fuzz(name, options.inputs // len(chosen), options.seed, Path(folder))
            broken += results["broken"]
            counts = ", ".join(f"{count} {what}" for what, count in sorted(results.items()))
            print(f"{name}: {counts} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if broken else 0


def limit_memory() -> None:
    """To 4 GiB, where the system does that: neither Windows nor macOS."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, OSError, ValueError) as error:
        print(f"memory is not limited here: {error}", flush=True)


def fuzz(name: str, inputs: int, seed: int, folder: Path) -> Counter[str]:
    """How the reader of a format took so many damaged files: read, refused, broken."""
    chance = random.Random(f"{name} {seed}")
    seeds = [(path.name, path.read_bytes()) for path in sorted((HERE / "seeds" / name).iterdir())]
    results = Counter[str]()
    for _ in range(inputs):
        file_name, data = chance.choice(seeds)
        damaged = mutate(data, chance)
        path = folder / file_name
        path.write_bytes(damaged)
        try:
            results[try_file(path, name)] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of Rust is no Exception
            results["broken"] += 1
            keep = HERE / "broken" / name / f"{hashlib.sha256(damaged).hexdigest()[:12]}-{file_name}"
            keep.parent.mkdir(parents=True, exist_ok=True)
            keep.write_bytes(damaged)
            print(f"{keep}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    return results


if __name__ == "__main__":
    sys.exit(main())
