"""What `bench/encode.py` is to reach, and what it reached: rows of a record -> goals.

Leaves out: measuring. A row whose ids are not ours is no peer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from encode_parts import LISTED, OURS, PAIR, QUARTER, THIRD, TWO, WORST
from encode_peers import RC3
from train_goals import goal

Goal = dict[str, Any]
Rows = dict[str, dict[str, Any]]
Key = tuple[str, str, str]  # part, corpus, vocabulary

FIRST, WARM, GIGABYTE = 2.5, 1.3, 1000.0
LISTED_FIRST = 1.0
READ_LISTED = ("fastokens", RC3, "tokenizers")  # from a tokenizer.json
LIST_GIGATOKEN, LIST_TIKTOKEN = 2.0, 8.0
SCALED = 0.95
DECODED, COUNTED, LOADED = 4.0, 1.05, 6.0
MEMORY, A_THREAD, CONSTANT = 64 * 1.048576, 16 * 1.048576, 4.0  # MB; the last: of a cache that fills
MODEL_SENTENCEPIECE, MODEL_RC3 = 5.0, 3.0
LINEAR, COSTLY = 5.0, 4.0  # for four times the text; a token against English's
PATTERN = 2.0


def by_cell(rows: list[dict[str, Any]]) -> dict[Key, Rows]:
    """(part, corpus, vocabulary) -> lane -> row, without rows of other ids."""
    found: dict[Key, Rows] = {}
    for row in rows:
        if row["equal"]:
            found.setdefault((row["part"], row["corpus"], row["vocab"]), {})[row["lane"]] = row
    return found


def per_byte(row: dict[str, Any], key: str) -> float:
    """Seconds of a byte; of a call or a load, where the texts are not one pass."""
    whole: float = row[key] if row[key] is not None else row["median_first"]
    return whole / (row["bytes"] or 1)


def times(rows: Rows, peers: Callable[[str], bool], key: str) -> tuple[float, str] | None:
    """How many times as fast as the fastest of the peers ours is, and which that is."""
    found = {
        name: per_byte(row, key) for name, row in rows.items() if peers(name) and not name.startswith(OURS)
    }
    if not found:
        return None
    best = min(found, key=lambda name: found[name])
    return found[best] / per_byte(rows[OURS], key), best


def faster(
    where: str, rows: Rows, least: float, key: str, peers: Callable[[str], bool] = bool
) -> Iterator[Goal]:
    """At least so many times as fast as the best of the peers."""
    if (found := times(rows, peers, key)) is not None:
        passes = "first pass" if key == "median_first" else "warm"
        text = f"{where}, {passes}: times the speed of {found[1]}, at least {least:g}"
        yield goal(text, found[0], found[0] >= least)


def only(peer: str) -> Callable[[str], bool]:
    """That peer."""
    return lambda name: name == peer


def of_arrays(where: str, key: Key, rows: Rows) -> Iterator[Goal]:
    """Arrays on the first pass and warm, and the memory that it took."""
    yield from faster(where, rows, FIRST, "median_first")
    yield from faster(where, rows, WARM, "median_warm")
    ours = rows[OURS]
    if key[1:] == ("english", "r50k"):
        rate = ours["bytes"] / (ours["median_warm"] or ours["median_first"]) / 1e6
        yield goal(f"{where}, warm: MB/s, at least {GIGABYTE:g}", rate, rate >= GIGABYTE)
    most = max(ours["median_peak_mb"], ours["median_warm_peak_mb"])
    text = f"{where}: peak MB above input and output, at most {MEMORY:.1f}"
    yield goal(text, most, most <= MEMORY)


def of_listed(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """Arrays by a list of merges."""
    yield from faster(where, rows, LISTED_FIRST, "median_first")


def of_lists(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """Lists."""
    yield from faster(where, rows, LIST_GIGATOKEN, "median_first", only("gigatoken"))
    yield from faster(where, rows, LIST_GIGATOKEN, "median_warm", only("gigatoken"))
    yield from faster(where, rows, LIST_TIKTOKEN, "median_first", only("tiktoken"))


def of_short(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """A call a string."""
    if (found := times(rows, bool, "median_first")) is not None:
        yield goal(f"{where}: times the speed of {found[1]}, above 1", found[0], found[0] > 1)


def of_threads(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """Two threads against two processes, and what a thread costs."""
    if TWO not in rows or PAIR not in rows:
        return
    gained = rows[PAIR]["median_first"] / rows[TWO]["median_first"]
    text = f"{where}: two threads' speed, as a share of two processes', at least {SCALED:g}"
    yield goal(text, gained, gained >= SCALED)
    more = rows[TWO]["median_peak_mb"] - rows[OURS]["median_peak_mb"]
    yield goal(f"{where}: MB more with a second thread, at most {A_THREAD:.1f}", more, more <= A_THREAD)


def of_decoding(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """Ids to text or bytes."""
    yield from faster(where, rows, DECODED, "median_warm")


def of_counting(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """Against our own encoding, and how memory grows with the text."""
    ours = rows[OURS]
    for key in ("median_first", "median_warm"):
        found = rows[f"{OURS}, encoding"][key] / ours[key]
        text = f"{where}, {'warm' if key == 'median_warm' else 'first pass'}: times our own encoding's speed"
        yield goal(f"{text}, at least {COUNTED:g}", found, found >= COUNTED)
    if THIRD in rows and ours.get("median_work_peak_mb") is not None:
        more = ours["median_work_peak_mb"] - rows[THIRD]["median_work_peak_mb"]
        text = f"{where}: MB more than for a third of the text, at most {CONSTANT:g}"
        yield goal(text, more, more <= CONSTANT)


def of_loading(where: str, key: Key, rows: Rows) -> Iterator[Goal]:
    """From the file to the first ids."""
    if key[2] != "r50k" and "tiktoken" in rows:
        found = rows["tiktoken"]["median_first"] / rows[OURS]["median_first"]
        yield goal(f"{where}: times the speed of tiktoken, at least {LOADED:g}", found, found >= LOADED)
    if LISTED in rows:
        theirs = {name: rows[name]["median_first"] for name in READ_LISTED if name in rows}
        best = min(theirs, key=theirs.__getitem__, default=None)
        if best is not None:
            found = theirs[best] / rows[LISTED]["median_first"]
            yield goal(f"{where}, tokenizer.json: times the speed of {best}, above 1", found, found > 1)


def of_models(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """A sentencepiece model."""
    for key in ("median_first", "median_warm"):
        yield from faster(where, rows, MODEL_SENTENCEPIECE, key, only("sentencepiece"))
        yield from faster(where, rows, MODEL_RC3, key, only(RC3))


def of_worst(where: str, key: Key, rows: Rows) -> Iterator[Goal]:
    """Four times the text takes about four times as long."""
    grown = rows[OURS]["median_first"] / rows[QUARTER]["median_first"]
    if key[1] in WORST:
        yield goal(f"{where}: times as long for 4 times the text, at most {LINEAR:g}", grown, grown <= LINEAR)


def of_patterns(where: str, _key: Key, rows: Rows) -> Iterator[Goal]:
    """A pattern of one's own."""
    yield from faster(where, rows, PATTERN, "median_first", only("tiktoken"))


PARTS: dict[str, Callable[[str, Key, Rows], Iterator[Goal]]] = {
    "first-pass": of_arrays,
    "listed": of_listed,
    "lists": of_lists,
    "short": of_short,
    "threads": of_threads,
    "decode": of_decoding,
    "count": of_counting,
    "load": of_loading,
    "sentencepiece": of_models,
    "worst": of_worst,
    "pattern": of_patterns,
}


def token_costs(cells: dict[Key, Rows]) -> Iterator[Goal]:
    """Worst cases: seconds of a token against those of the ordinary text measured beside them."""
    ordinary = {
        key[2]: rows[OURS] for key, rows in cells.items() if key[0] == "worst" and key[1] not in WORST
    }
    for (part, corpus, vocab), rows in cells.items():
        if part == "worst" and corpus in WORST and vocab in ordinary:
            cost, usual = (row["median_first"] / row["ids"] for row in (rows[OURS], ordinary[vocab]))
            text = f"worst, {corpus}, {vocab}: times {ordinary[vocab]['corpus']}'s time for a token"
            yield goal(f"{text}, at most {COSTLY:g}", cost / usual, cost / usual <= COSTLY)


def goals(record: dict[str, Any]) -> list[Goal]:
    """All goals that the record's rows can tell of."""
    cells = by_cell(record["rows"])
    found: list[Goal] = []
    for key, rows in cells.items():
        if OURS in rows:
            where = ", ".join(filter(None, key))
            found += PARTS[key[0].partition(",")[0]](where, key, rows)
    found += token_costs(cells)
    for row in record["rows"]:
        if not row["equal"]:
            where = ", ".join(filter(None, (row["part"], row["corpus"], row["vocab"])))
            found.append(goal(f"{where}: {row['lane']} gives our ids", False, False))
    return found
