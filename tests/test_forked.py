"""A fork while another thread is at work: the child, in which that thread is not, waits for nothing of it.

Leaves out: forks of processes that are idle, or that encode (the engine's threads hold nothing of Python's).
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from syllabary.cached import cached_property

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")

FORK = """
import os, signal, threading

at_work, go_on = threading.Event(), threading.Event()

def slow(*_arguments):
    at_work.set()
    go_on.wait()
    return real(*_arguments)

def in_a_fork(busy, act):
    thread = threading.Thread(target=busy, daemon=True)
    thread.start()
    at_work.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        go_on.set()
        act()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    go_on.set()
    thread.join()
    assert status == 0, status
"""
VOCAB = """
import syllabary
from syllabary import tokenizer

real = tokenizer.token_bytes
one, other = (syllabary.train(["low lower"], vocab_size=258) for _ in range(2))
tokenizer.token_bytes = slow
in_a_fork(lambda: one.vocab, lambda: other.tokens("low"))
assert one.tokens("low") == other.tokens("low")
"""
ENCODING = """
import syllabary.compat.tiktoken as tiktoken
from syllabary.compat.tiktoken import registry

def real():
    ranks = {bytes([byte]): byte for byte in range(256)}
    return {"name": "made", "pat_str": ".", "mergeable_ranks": ranks, "special_tokens": {}}

tiktoken.list_encoding_names()
registry.ENCODING_CONSTRUCTORS["made"] = slow
in_a_fork(lambda: tiktoken.get_encoding("made"), lambda: tiktoken.get_encoding("made"))
assert tiktoken.get_encoding("made").encode("a") == [97]
"""


@pytest.mark.parametrize("body", [VOCAB, ENCODING], ids=["vocab", "get_encoding"])
def test_a_thread_that_is_at_work_does_not_hold_up_the_child(body: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK + body], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr


class Counted:
    """Counts how often its property is computed."""

    times = 0

    @cached_property
    def value(self) -> list[int]:
        """A new list."""
        self.times += 1
        return [self.times]


def test_a_cached_property_is_computed_once_and_can_be_forgotten() -> None:
    counted = Counted()
    assert counted.value is counted.value
    assert (counted.value, vars(counted)) == ([1], {"times": 1, "value": [1]})
    del counted.value
    assert counted.value == [2]
    assert Counted.value.__doc__ == "A new list."
