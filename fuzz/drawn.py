"""Feed drawn text to every split and encoder: `python fuzz/drawn.py --inputs 100000`.

Each target (`targets`) computes the same in several ways. A text on which they differ is made as small as it
stays wrong, kept in fuzz/broken/text/TARGET/ with the seed and its number, and the run goes on; exit code 1
if there were any. The same seed draws the same texts in the same order. Leaves out: damaged files (`run`).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from targets import Target, targets
from texts import draw

HERE = Path(__file__).resolve().parent
VOCABS = HERE.parent.parent / "shared" / "vocabs"
TOGETHER = (10, 40, 100, 300)  # texts
TRIES = 2000  # at making a text smaller

Text = TypeVar("Text", str, list[str])


def main() -> int:
    """Run; see the file's first lines."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--inputs", type=int, default=10_000, help="in all, over all targets")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--target", help="one target instead of all")
    arguments.add_argument("--vocabs", type=Path, default=VOCABS, help="a folder with tiktoken's rank files")
    options = arguments.parse_args()
    made = targets(options.vocabs)
    if options.target and options.target not in made:
        arguments.error(f"no target {options.target!r}; there are {', '.join(made)}")
    broken = 0
    for name in [options.target] if options.target else made:
        count = options.inputs // (1 if options.target else len(made))
        results = fuzz(name, made[name](), count, options.seed, HERE / "broken" / "text")
        broken += results["differ"]
        print(f"{name}: {results['agree']} agree, {results['differ']} differ", flush=True)
    return 1 if broken else 0


def fuzz(name: str, target: Target, inputs: int, seed: int, folder: Path) -> Counter[str]:
    """How many texts a target agreed with itself about; the others are kept in the folder."""
    chance = random.Random(f"{name} {seed}")
    results = Counter({"agree": 0, "differ": 0})
    end = 0
    while end < inputs:
        start, end = end, min(end + chance.choice(TOGETHER), inputs)
        fine: list[str] = []
        for number in range(start, end):
            text = draw(chance)
            if try_text(target, text, folder / name, f"{seed}-{number}"):
                fine.append(text)
        together = not fine or try_together(target, fine, folder / name, f"{seed}-{start}-together")
        results["agree"] += len(fine) if together else len(fine) - 1
    results["differ"] = inputs - results["agree"]
    return results


def try_text(target: Target, text: str, folder: Path, name: str) -> bool:
    """Whether a target agrees about a text; if not, it is kept."""
    found = tell(lambda: target.difference(text))
    if found:
        small = smaller(text, lambda part: tell(lambda: target.difference(part)) is not None)
        keep(folder / f"{name}.txt", small, tell(lambda: target.difference(small)) or found)
    return found is None


def try_together(target: Target, texts: list[str], folder: Path, name: str) -> bool:
    """The same for many texts at once, one of which may be the cause."""
    found = tell(lambda: target.difference_of_many(texts))
    if found:

        def wrong(part: list[str]) -> bool:
            return tell(lambda: target.difference_of_many(part)) is not None

        few = smaller(texts, wrong)
        for at, text in enumerate(few):
            few[at] = smaller(text, lambda part, at=at: wrong([*few[:at], part, *few[at + 1 :]]))  # type: ignore[misc]
        keep(folder / f"{name}.txt", "".join(few), tell(lambda: target.difference_of_many(few)) or found)
    return found is None


def tell(call: Callable[[], str | None]) -> str | None:
    """What differs; an error that is none of ours differs too."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of Rust is no Exception
        return f"{type(error).__name__}: {str(error)[:200]}"


def keep(path: Path, text: str, found: str) -> None:
    """Write a text on which something differs, and say what."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    print(f"{path}: {found}\n    {text!a:.300}", flush=True)


def smaller(whole: Text, wrong: Callable[[Text], bool]) -> Text:
    """What is left when parts are taken away for as long as the rest stays wrong."""
    size, tries = (len(whole) + 1) // 2, 0
    while size and tries < TRIES:
        at, before = 0, len(whole)
        while at < len(whole) and tries < TRIES:
            rest = whole[:at] + whole[at + size :]
            tries += 1
            if wrong(rest):
                whole = rest
            else:
                at += size
        size = size if size == 1 and len(whole) < before else size // 2
    return whole


if __name__ == "__main__":
    sys.exit(main())
