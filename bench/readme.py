"""Write the README's figures from bench/results, between their markers.

    python bench/readme.py [--check]

Leaves out: measuring (`encode.py`, `train.py`, `greek.py`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parent.parent / "README.md"
START, END = "<!-- encode:begin, written by bench/readme.py -->", "<!-- encode:end -->"
TRAIN_START, TRAIN_END = "<!-- training: written by bench/readme.py -->", "<!-- /training -->"
# What else a record of encoding tells: the beginning of goals, the peer in them, and how to say it.
OTHER_PARTS = (
    ("listed,", "", "the first pass by a tokenizer.json (fastest peer)"),
    ("lists,", "gigatoken", "lists (gigatoken)"),
    ("short, 36 B to a list", "", "a string of 36 B to a list (fastest peer)"),
    ("decode,", "", "decoding (fastest peer)"),
    ("load,", "tiktoken", "loading (tiktoken)"),
    ("sentencepiece,", "sentencepiece", "a sentencepiece model (sentencepiece)"),
    ("pattern,", "tiktoken", "an unknown pattern (tiktoken)"),
)
GREEK_START, GREEK_END = "<!-- greek: written by bench/readme.py -->", "<!-- /greek -->"


FIRST_PASS = ("gigatoken", "fastokens", "tokenizers 1.0.0rc3", "tiktoken")


def encoding(record: dict[str, Any]) -> str:
    """A row a corpus: our first and warm rate, and how many times the peers' that is."""
    rows = [row for row in record["rows"] if row["part"] == "first-pass" and row["equal"]]
    cells = {(row["vocab"], row["corpus"], row["lane"]): row for row in rows}
    vocabs, corpora, lanes = (list(dict.fromkeys(key[at] for key in cells)) for at in (0, 1, 2))
    peers = [name for name in FIRST_PASS if name in lanes]
    more = [f"{vocab}, fastest peer" for vocab in vocabs[1:]]
    lines = [
        f"| corpus | first, MB/s | {' | '.join(peers + more)} | warm, MB/s | fastest peer |",
        "|---|" + "--:|" * (len(peers + more) + 3),
    ]
    for corpus in corpora:
        ours = cells[vocabs[0], corpus, "syllabary"]
        first, warm = (ours["bytes"] / ours[key] / 1e6 for key in ("median_first", "median_warm"))
        told = [_times(cells, vocabs[0], corpus, [peer], "median_first") for peer in peers]
        told += [_times(cells, vocab, corpus, peers, "median_first") for vocab in vocabs[1:]]
        last = _times(cells, vocabs[0], corpus, peers, "median_warm")
        lines.append(f"| {corpus} | {first:.0f} | {' | '.join(told)} | {warm:.0f} | {last} |")
    versions = [f"{name} {found}" for name, found in record["versions"].items() if found and "rc" not in name]
    size = max((row["bytes"] for row in rows), default=0) / 1e6
    lines += [
        "",
        f"One core, {vocabs[0]}'s published vocabulary unless said, {size:.0f} MB of documents of 3 KB to "
        "arrays, and how many times each peer's speed that is. “First” is text that the process has not "
        "seen, “warm” the same text again. Medians of interleaved runs, each in a process of its own, "
        f"{'with equal ids' if all(row['equal'] for row in record['rows']) else 'rows of equal ids'}. "
        f"{_elsewhere(record)}{', '.join(versions)}; {record['machine']['processor']}; {_commands(record)}.",
    ]
    return "\n".join(lines)


def _commands(record: dict[str, Any]) -> str:
    """What made the record: the last command, if parts of it were measured at other times."""
    *others, last = record["command"].split(" ; ")
    if not others:
        return f"{record['when'][:10]}: `{last}`"
    when, _, command = last.partition(": ")
    since = record["when"][:10]
    return f"{when[:10]}: `{command}`, the rest since {since} by those in `bench/results/encode.json`"


def _times(cells: dict[tuple[str, ...], Any], vocab: str, corpus: str, peers: list[str], key: str) -> str:
    """Of the fastest of the peers' speeds."""
    ours = cells.get((vocab, corpus, "syllabary"))
    found = [cells[vocab, corpus, peer][key] for peer in peers if (vocab, corpus, peer) in cells]
    least = min((seconds for seconds in found if seconds), default=None)
    return "—" if ours is None or least is None else f"{least / ours[key]:.1f}×"


def _elsewhere(record: dict[str, Any]) -> str:
    """The least and the most of the other parts, as far as the record has them."""
    told = []
    for part, peer, what in OTHER_PARTS:
        reached = [row["reached"] for row in record["goals"] if _is(row["goal"], part, peer)]
        if reached:
            low, high = (f"{ratio:.2g}" for ratio in (min(reached), max(reached)))
            told.append(f"{what} {low if low == high else f'{low}–{high}'}")
    return f"Times the speed elsewhere: {', '.join(told)}. " if told else ""


def _is(goal: str, part: str, peer: str) -> bool:
    """Whether the goal is one of that part, against that peer."""
    return goal.startswith(part) and f": times the speed of {peer}" in goal


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
    wanted = text
    if (RESULTS / "encode.json").is_file():
        record = json.loads((RESULTS / "encode.json").read_text("utf-8"))
        wanted = filled(wanted, START, END, encoding(record))
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
