"""One training in a process of its own, for `bench/train.py`: its seconds, its memory and what it learned.

    python bench/train_lane.py TASK        TASK: JSON, see `Task`

The library is imported first; then large pages are made ready (`ready_memory`), and the process has its
peak begin anew (VmHWM of /proc/self/status: what `getrusage` says is inherited from the process before, and
what importing took for a moment would hide as much of training), trains from the file, and reads it again.
The last line printed is JSON: `seconds`, `peak_mb` above the imports, `learned` (tokens beyond the
alphabet), and digests of those tokens, of the merges (where the library tells them) and of the saved file
(ours).
Leaves out: turns, medians, comparison.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memory import forgotten, peak, ready_memory

# GPT-2's pattern as OpenAI published it: gigatoken, ffbpe and tokenizers have it built in.
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BLOCK = 1 << 20


class Task(NamedTuple):
    """What to train.

    lane: a name in LANES. documents: "file" (one document), "lines" (each with its line end), or "blocks"
        (of about 1 MB, cut where GPT-2's split cuts whatever stands around: the pieces are those of "file").
    """

    lane: str
    path: str
    vocab_size: int
    documents: str = "file"
    split: str | None = "gpt2"
    threads: int = 2
    like: str = "huggingface"
    memory_limit: str | None = None


class Learned(NamedTuple):
    """tokens: beyond the alphabet, in the order learned. merges: their halves. saved: bytes of the file."""

    tokens: list[bytes]
    merges: list[tuple[bytes, bytes]] | None = None
    saved: bytes | None = None


Lane = tuple[Callable[[], Any], Callable[[Any], Learned]]


def lines(path: str) -> Iterator[str]:
    """The lines of the file, each with its end."""
    with Path(path).open(encoding="utf-8", newline="\n") as file:
        yield from file


def blocks(path: str) -> Iterator[str]:
    """The file in documents, cut at a single line end between characters that are no space."""
    text = Path(path).read_bytes().decode()
    start = 0
    for cut in re.finditer(r"(?<=\S)\n(?=\S)", text):
        if cut.end() - start >= BLOCK:
            yield text[start : cut.end()]
            start = cut.end()
    yield text[start:]


def syllabary_lane(task: Task) -> Lane:
    """Ours; `like` decides order and ties, so that the merges are those of that tool."""
    import syllabary

    train = syllabary.train  # what it needs is imported with the name, not with the package
    options: dict[str, Any] = {"split": task.split, "alphabet": "all", "threads": task.threads}
    # Of `like="huggingface"` what decides merges; it would also take a file by its lines.
    order = {"min_frequency": 1, "byte_order": "gpt2"}
    options |= order if task.like == "huggingface" else {"like": task.like}
    if task.memory_limit is not None:
        options |= {"memory_limit": task.memory_limit}
    reading: dict[str, Callable[[str], Any]] = {"file": Path, "lines": lines, "blocks": blocks}

    def learned(tok: Any) -> Learned:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tok.syllabary.json")
            tok.save(path)
            saved = path.read_bytes()
        return Learned([left + right for left, right in tok.merges], tok.merges, saved)

    return lambda: train(reading[task.documents](task.path), task.vocab_size, **options), learned


def tokenizers_lane(task: Task) -> Lane:
    """Hugging Face's byte-level trainer. Given a file, it takes its lines as documents."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=task.split is not None)
    alphabet = pre_tokenizers.ByteLevel.alphabet()

    def train() -> Any:
        model = Tokenizer(models.BPE())
        model.pre_tokenizer = byte_level
        trainer = trainers.BpeTrainer(
            vocab_size=task.vocab_size, initial_alphabet=alphabet, show_progress=False
        )
        if task.documents == "lines":
            model.train([task.path], trainer)
        else:
            texts = blocks(task.path) if task.documents == "blocks" else [Path(task.path).read_text("utf-8")]
            model.train_from_iterator(texts, trainer)
        return model

    def learned(model: Any) -> Learned:
        from syllabary.reference.bytes_to_unicode import spell

        byte = {ord(spell(bytes([value]))): value for value in range(256)}
        pairs = json.loads(model.to_str())["model"]["merges"]
        merges = [
            (bytes(byte[ord(one)] for one in left), bytes(byte[ord(one)] for one in right))
            for left, right in pairs
        ]
        return Learned([left + right for left, right in merges], merges)

    return train, learned


def rustbpe_lane(task: Task) -> Lane:
    """Takes an iterator: the lines of the file."""
    import rustbpe

    def train() -> Any:
        model = rustbpe.Tokenizer()
        model.train_from_iterator(lines(task.path), task.vocab_size, pattern=GPT2)
        return model

    return train, lambda model: Learned(_by_id(dict(model.get_mergeable_ranks())))


def gigatoken_lane(task: Task) -> Lane:
    """Takes the file, as one document."""
    import gigatoken

    return (
        lambda: gigatoken.train_bpe(Path(task.path), task.vocab_size, []),
        lambda found: Learned([left + right for left, right in found[1]], found[1]),
    )


def ffbpe_lane(task: Task) -> Lane:
    """Counts the lines of the file, then learns: as its own `train_bpe`, with tokenizers' order of ties."""
    import ffbpe

    def train() -> Any:
        counter = ffbpe.PreTokenizer([]).word_counter()
        counter.add_source(lines(task.path))
        trainer = ffbpe.BpeTrainer([], initial_alphabet="byte_level", tie_break="smallest_pair_id")
        trainer.add_word_counter(counter)
        trainer.train(task.vocab_size)
        return trainer

    return train, lambda trainer: Learned(_by_id(trainer.vocab))


LANES: dict[str, Callable[[Task], Lane]] = {
    "syllabary": syllabary_lane,
    "gigatoken": gigatoken_lane,
    "rustbpe": rustbpe_lane,
    "tokenizers": tokenizers_lane,
    "ffbpe": ffbpe_lane,
}


def _by_id(ids: dict[bytes, int]) -> list[bytes]:
    """The tokens beyond the 256 bytes, in the order of their ids."""
    return sorted(ids, key=lambda token: ids[token])[256:]


def begun_anew() -> float:
    """What this process holds, in MB; its peak from here on, where the system lets it begin anew."""
    ready_memory()
    forgotten()
    return peak()


def digest(strings: list[bytes]) -> str:
    """Of the strings and where each ends."""
    found = hashlib.sha256()
    for string in strings:
        found.update(len(string).to_bytes(8, "little") + string)
    return found.hexdigest()[:16]


def main() -> None:
    """Train once and say what was seen."""
    task = Task(**json.loads(sys.argv[1]))
    train, learned = LANES[task.lane](task)
    before = begun_anew()
    start = time.perf_counter()
    result = train()
    seconds = time.perf_counter() - start
    peak_mb = peak() - before
    found = learned(result)
    pairs = None if found.merges is None else digest([half for pair in found.merges for half in pair])
    said = {
        "seconds": seconds,
        "peak_mb": peak_mb,
        "learned": len(found.tokens),
        "tokens_digest": digest(found.tokens),
        "merges_digest": pairs,
        "saved_digest": None if found.saved is None else digest([found.saved]),
    }
    print("\n" + json.dumps(said))


if __name__ == "__main__":
    main()
