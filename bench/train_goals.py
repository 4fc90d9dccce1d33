"""What `bench/train.py` is to reach, and what it reached: rows of a record -> goals.

Leaves out: measuring; goals of `like=` (bench/like.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Rows = dict[str, dict[str, Any]]

FASTER, CHINESE_FASTER = 4.0, 6.0
THIRD = ("greek", "multilingual", "chinese")
LEANEST = ("english", "code")
SCALING, SCALED = 1.7, ("english", "code")
UNSPLIT_SECONDS, UNSPLIT_FASTER = 60.0, 100.0


def goal(text: str, reached: float | bool, met: bool) -> dict[str, Any]:
    """One row."""
    return {"goal": text, "reached": reached if isinstance(reached, bool) else round(reached, 3), "met": met}


def by_corpus(cells: Sequence[dict[str, Any]]) -> dict[str, Rows]:
    """Corpus -> lane -> row."""
    found: dict[str, Rows] = {}
    for row in cells:
        found.setdefault(row["corpus"], {})[row["lane"]] = row
    return found


def of_corpus(corpus: str, rows: Rows) -> Iterator[dict[str, Any]]:
    """Against the fastest and the leanest peer, and over threads."""
    ours, one, seven = (rows[f"syllabary{more}"] for more in ("", ", 1 thread", ", 7 threads"))
    peers = [row for name, row in rows.items() if not name.startswith("syllabary")]
    if peers:
        times = min(row["median_seconds"] for row in peers) / ours["median_seconds"]
        least = CHINESE_FASTER if corpus == "chinese" else FASTER
        yield goal(f"{corpus}: times the fastest peer's speed, at least {least:g}", times, times >= least)
        share = ours["median_peak_mb"] / min(row["median_peak_mb"] for row in peers)
        if corpus in (*THIRD, *LEANEST):
            most = 1.0 if corpus in LEANEST else 1 / 3
            text = f"{corpus}: peak memory, as a share of the leanest peer's, at most {most:.2f}"
            yield goal(text, share, share <= most)
    if corpus in SCALED:
        times = one["median_seconds"] / ours["median_seconds"]
        yield goal(f"{corpus}: two threads, times one, at least {SCALING}", times, times >= SCALING)
    same = ours["saved_digest"] == one["saved_digest"] == seven["saved_digest"]
    yield goal(f"{corpus}: identical bytes from 1, 2 and 7 threads", same, same)


def of_unsplit(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Without a split: ours on the whole, and against tokenizers on a hundredth."""
    for corpus, lanes in by_corpus(rows).items():
        ours, seconds = lanes["syllabary"], lanes["syllabary"]["median_seconds"]
        size = f"{corpus}, {ours['bytes'] / 1e6:.3g} MB without a split"
        if not corpus.endswith("hundredth"):
            yield goal(f"{size}: seconds, at most {UNSPLIT_SECONDS:g}", seconds, seconds <= UNSPLIT_SECONDS)
        elif (peer := lanes.get("tokenizers")) is not None:
            times = peer["median_seconds"] / seconds
            text = f"{size}: times tokenizers' speed, at least {UNSPLIT_FASTER:g}"
            yield goal(text, times, times >= UNSPLIT_FASTER)
            same = ours["merges_digest"] == peer["merges_digest"]
            yield goal(f"{size}: merges equal to tokenizers'", same, same)


def goals(record: dict[str, Any], limit: int) -> list[dict[str, Any]]:
    """All goals that the record's rows can tell of. limit: bytes, of the run under `memory_limit`."""
    found = [row for corpus, rows in by_corpus(record["cells"]).items() for row in of_corpus(corpus, rows)]
    found += [
        goal(f"{row['corpus']}: {row['peer']} learns the same ({row['ours']})", row["equal"], row["equal"])
        for row in record["equal"]
    ]
    found += of_unsplit(record["unsplit"])
    if record["memory_limit"]:
        free, limited = record["memory_limit"]
        peak = limited["median_peak_mb"]
        text = f"{limited['bytes'] / 1e6:.0f} MB under a limit of {limit / 1e6:.0f} MB: peak in MB"
        found.append(goal(text, peak, peak * 1e6 <= limit))
        same = free["saved_digest"] == limited["saved_digest"]
        found.append(goal("under the limit the same bytes as without", same, same))
    return found
