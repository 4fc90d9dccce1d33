"""Ctrl-C in the middle of one long text: encoding it, alone or in a batch, counting its tokens, and training.

A signal comes from a thread of the process while it is at work; how long the process then works is told by
the time of its processor, so that a busy machine changes nothing. Leaves out batches of short texts and
commands (`test_interrupted`, `test_cli`).
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's here")

GUARD = 300  # seconds after which a process that does not end is a failure
SECOND = 1.0

SCRIPT = """
import os, random, signal, sys, threading, time, warnings
import syllabary
warnings.simplefilter("ignore")
what, call, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
draw = random.Random(4)
table = bytes(97 + byte % 23 for byte in range(256))
noise = bytearray(draw.randbytes(13_000_000).translate(table))
noise[11::12] = b" " * len(noise[11::12])
text = noise.decode()
small = ["low lower lowest abc cde " * 3] * 3
lines = [text[:90_000].replace("w", "\\n")]
tok = {
    "bytes": lambda: syllabary.train(small, 300),
    "few new": lambda: syllabary.train(small, 300),
    "one word": lambda: syllabary.train(small, 300),
    "word cut": lambda: syllabary.train(small, 300),
    "pattern": lambda: syllabary.train(small, 300, split=r"\\w+|\\W+"),
    "characters": lambda: syllabary.train(lines, 320, unit="char", end_of_word="</w>", fallback=True),
    "sentencepiece": lambda: syllabary.train(
        lines, like="sentencepiece",
        options={"vocab_size": 100, "character_coverage": 1.0},
    ),
    "identity": lambda: syllabary.train(
        lines, like="sentencepiece",
        options={"vocab_size": 100, "normalization_rule_name": "identity"},
    ),
    "unigram": lambda: syllabary.train(
        lines, model="unigram", like="sentencepiece",
        options={"vocab_size": 40, "character_coverage": 1.0},
    ),
    "wordpiece": lambda: syllabary.train(lines, model="wordpiece", options={"vocab_size": 100}),
}.get(what, lambda: None)()
training = {
    "train": {"vocab_size": 300},
    "train pattern": {"vocab_size": 300, "split": r"\\w+|\\W+"},
    "train word": {"unit": "word", "split": "latin", "num_merges": 3},
    "train huggingface": {
        "like": "huggingface", "options": {"pre_tokenizer": "Whitespace", "vocab_size": 60}
    },
    "train sentencepiece": {
        "like": "sentencepiece", "options": {"max_sentence_length": 1 << 30, "vocab_size": 60}
    },
}
texts = text * (4 if call in training else 12)
if what == "one word":  # of bytes of which any two stand in a token, or may
    texts = draw.randbytes(40_000_000).translate((b"lower st" * 32).replace(b" ", b"o")).decode()
elif what == "word cut":
    texts = texts.replace(" ", "")
elif what == "few new":  # a dozen in some hundred words, which wait for more
    texts = (" " + small[0] * 5).join(text.split(" ")[:130_000]) * 10
run = {
    "encode_array": lambda: tok.encode_array(texts),
    "count": lambda: tok.count(texts),
    "offsets": lambda: tok.offsets(text * 2),
    "full": lambda: tok.encode_full(texts),
    "full without offsets": lambda: tok.encode_full_batch(["a", texts]),
    "full batch": lambda: tok.encode_full_batch(["a", texts, "b", texts], offsets="char", threads=threads),
    "dropout": lambda: tok.encode_array(text * (3 if what == "bytes" else 1), dropout=0.1, seed=1),
    "batch to arrays": lambda: tok.encode_batch_array(["a", texts, "b", texts], threads=threads),
    "batch to lists": lambda: tok.encode_batch(["a", texts, "b", texts], threads=threads),
    "batch of counts": lambda: tok.count_batch(["a", texts, "b", texts], threads=threads),
}.get(call, lambda: syllabary.train([texts], threads=1, **training[call]))
begun = []
def interrupt():
    time.sleep(0.05)
    while time.process_time() - start < 0.2:
        time.sleep(0.01)
    begun.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
start = time.process_time()
threading.Thread(target=interrupt, daemon=True).start()
try:
    run()
    print("it came to its end")
except KeyboardInterrupt:
    print(time.process_time() - begun[0])
    for probe in ("low abc", small[0]) if tok else ():  # nothing of what was left is in it
        again = tok.encode_array(probe).tolist()
        assert again == syllabary.Tokenizer(tok.spec).encode(probe) == tok.encode_batch([probe] * 2)[0]
"""


def worked_on(what: str, call: str, threads: int = 1) -> float:
    """Seconds of the processor between the signal and the end."""
    arguments = [sys.executable, "-c", SCRIPT, what, call, str(threads)]
    done = subprocess.run(arguments, text=True, capture_output=True, check=False, timeout=GUARD)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return float(done.stdout)


@pytest.mark.parametrize("call", ["encode_array", "count"])
@pytest.mark.parametrize(
    "what",
    [
        "bytes",
        "few new",
        "one word",
        "word cut",
        "pattern",
        "characters",
        "sentencepiece",
        "identity",
        "unigram",
        "wordpiece",
    ],
)
def test_encoding(what: str, call: str) -> None:
    assert worked_on(what, call) < SECOND


# What is in the batch, what is asked of it, and threads: every day a third, in which each of them stands.
BATCHES = [
    (what, call, threads)
    for at, what in enumerate(["bytes", "few new", "one word", "word cut", "sentencepiece"])
    for turn, call in enumerate(["batch to arrays", "batch to lists", "batch of counts"], at)
    for threads in (1, 2)
    if os.environ.get("SYLLABARY_PROVE") or (turn + threads) % 3 == 0
]


@pytest.mark.parametrize("what, call, threads", BATCHES)
def test_long_texts_of_a_batch(what: str, call: str, threads: int) -> None:
    """Two threads are both in a long text; the one that is told by Python may have done its own."""
    assert worked_on(what, call, threads) < SECOND


@pytest.mark.parametrize("call", ["full", "full without offsets", "full batch"])
@pytest.mark.parametrize("what", ["bytes", "sentencepiece", "unigram", "wordpiece"])
def test_full_encodings(what: str, call: str) -> None:
    """Where text is normalized and spelled with the place of each byte."""
    assert worked_on(what, call) < SECOND


def test_offsets() -> None:
    assert worked_on("bytes", "offsets") < SECOND


@pytest.mark.parametrize("what", ["bytes", "sentencepiece"])
def test_dropout(what: str) -> None:
    """All of a text is merged at once where merging is by score."""
    assert worked_on(what, "dropout") < SECOND


@pytest.mark.parametrize(
    "call", ["train", "train pattern", "train word", "train huggingface", "train sentencepiece"]
)
def test_training(call: str) -> None:
    assert worked_on("", call) < SECOND
