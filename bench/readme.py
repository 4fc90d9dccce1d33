"""Write the README's figures from bench/results, between their markers.

    python bench/readme.py [--check]

Leaves out: measuring (`run.py`, `train.py`, `greek.py`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parent.parent / "README.md"
START, END = "<!-- bench: written by bench/readme.py -->", "<!-- /bench -->"
TRAIN_START, TRAIN_END = "<!-- training: written by bench/readme.py -->", "<!-- /training -->"
GREEK_START, GREEK_END = "<!-- greek: written by bench/readme.py -->", "<!-- /greek -->"


def newest() -> dict[str, Any]:
    """The record of the last run."""
    record: dict[str, Any] = json.loads(max(RESULTS.glob("20*.json")).read_text("utf-8"))
    return record


def table(record: dict[str, Any]) -> str:
    """A row a corpus: our rate, and how many times longer each peer takes."""
    cells = {(row["corpus"], row["task"], row["lane"]): row for row in record["results"]}
    versions = record["versions"]
    lines = [
        "| corpus | train, MB/s | tokenizers takes | encode, MB/s | tokenizers takes | tiktoken takes |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for corpus in dict.fromkeys(corpus for corpus, _task, _lane in cells):
        ours = [cells[corpus, task, "syllabary"]["mb_per_second"] for task in ("train", "encode")]
        ratios = [
            cells[corpus, task, lane]["times_of_syllabary"]
            for task, lane in (("train", "tokenizers"), ("encode", "tokenizers"), ("encode", "tiktoken"))
        ]
        first, second, third = (f"{ratio:.1f}×" for ratio in ratios)
        lines.append(f"| {corpus} | {ours[0]:.0f} | {first} | {ours[1]:.0f} | {second} | {third} |")
    size = max(row["bytes"] for row in record["results"]) / 1e6
    lines += [
        "",
        f"One thread, GPT-2's split, {record['vocab_size']:,} tokens, first {size:.0f} MB of each corpus; "
        "medians of interleaved turns, with equal vocabularies and ids. Encoding gives lists; our memory of "
        "pieces begins empty in every turn, while tokenizers keeps its own; "
        f"tokenizers {versions['tokenizers']}, tiktoken {versions['tiktoken']}; "
        f"{record['machine']['processor']}, {record['when'][:10]}: `{record['command']}`.",
    ]
    return "\n".join(lines)


def training(record: dict[str, Any]) -> str:
    """A row a corpus: seconds and peak memory of each trainer; then what else was measured."""
    cells = {(row["corpus"], row["lane"]): row for row in record["cells"]}
    lanes = list(dict.fromkeys(lane for _corpus, lane in cells))
    lanes.remove("syllabary, 7 threads")  # measured once, for its bytes
    lines = [f"| corpus | {' | '.join(lanes)} |", "|---|" + "--:|" * len(lanes)]
    for corpus in dict.fromkeys(corpus for corpus, _lane in cells):
        rows = [cells.get((corpus, lane)) for lane in lanes]
        told = [row and f"{row['median_seconds']:.2f} s, {row['median_peak_mb']:.0f} MB" for row in rows]
        size = cells[corpus, "syllabary"]["bytes"] / 1e6
        lines.append(f"| {corpus}, {size:.0f} MB | {' | '.join(cell or '—' for cell in told)} |")
    other = [f"{row['corpus']} {row['peer']}" for row in record["equal"] if not row["equal"]]
    merges = f"other merges: {', '.join(other)}" if other else "equal merges"
    versions = [f"{name} {found}" for name, found in record["versions"].items() if found]
    machine = record["machine"]
    lines += [
        "",
        f"Seconds, and peak memory above the imports, training from the file: {record['vocab_size']:,} "
        f"tokens, GPT-2's split, {record['threads']} threads unless said; medians of interleaved "
        f"runs, each in a process of its own; {merges} from the same documents, ties in the same order. "
        f"{_beyond(record)}{', '.join(versions)}; {machine['processor']}, {machine['cores']} cores, "
        f"{record['when'][:10]}: `{record['command']}`.",
    ]
    return "\n".join(lines)


def _beyond(record: dict[str, Any]) -> str:
    """Text without a split, and training under a memory limit, as far as the record has them."""
    told = ""
    if whole := [row for row in record["unsplit"] if not row["corpus"].endswith("hundredth")]:
        seconds = ", ".join(f"{row['corpus']} {row['median_seconds']:.1f} s" for row in whole)
        told += f"{whole[0]['bytes'] / 1e6:.3g} MB without any split, 8,000 merges: {seconds}. "
    if rows := record["memory_limit"]:
        free, limited = (f"{row['median_seconds']:.0f} s, {row['median_peak_mb']:.0f} MB" for row in rows)
        told += f"{rows[0]['bytes'] / 1e6:,.0f} MB of text: {free}; under a limit of 256 MiB: {limited}. "
    return told


def greek(record: dict[str, Any]) -> str:
    """One line of figures: what counting and the model reach on 20 MB of Greek, and in what time."""
    reached = {row["name"]: row["bits_per_byte"] for row in record["baselines"]}
    figures = ", ".join(f"{name} {bits:.2f}" for name, bits in reached.items())
    documents = record["splits"]["val"]["documents"]
    return (
        f"On {record['bytes'] / 1e6:.0f} MB of Ancient Greek, from documents to a sampled sentence in "
        f"{record['seconds'] / 60:.1f} minutes on {record['machine']['cores']} CPU cores; bits per byte of "
        f"{documents} held-out works: {figures}, **the model {record['model']['bits_per_byte']:.2f}** "
        f"({record['when'][:10]}: `{record['command']}`)."
    )


def filled(text: str, start: str, end: str, content: str) -> str:
    """The text with `content` between two markers."""
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{content}\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Write, or with --check fail if that would change something."""
    text = README.read_text("utf-8")
    wanted = filled(text, START, END, table(newest()))
    if (RESULTS / "train.json").is_file():
        record = json.loads((RESULTS / "train.json").read_text("utf-8"))
        wanted = filled(wanted, TRAIN_START, TRAIN_END, training(record))
    record = json.loads((RESULTS / "greek.json").read_text("utf-8"))
    wanted = filled(wanted, GREEK_START, GREEK_END, greek(record))
    if "--check" in sys.argv[1:]:
        sys.exit("README.md is not what bench/readme.py writes" if wanted != text else 0)
    README.write_text(wanted, "utf-8")


if __name__ == "__main__":
    main()
