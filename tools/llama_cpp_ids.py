"""Compare the ids that llama.cpp and syllabary give with a GGUF file.

    python tools/llama_cpp_ids.py X.gguf TEXT...

Of each text file, stretches, with special tokens found and as text, without BOS and the like. Needs the
package llama-cpp-python, which is compiled where it is installed, and is no part of the environment here.
Ends with 1 where ids differ; docs/compatibility.md names the differences that are known. Leaves out:
decoding.
"""

from __future__ import annotations

import sys
from pathlib import Path

import llama_cpp

import syllabary

STRETCH = 1000  # characters
SHOWN = 5  # differences


def stretches(path: Path) -> list[str]:
    """The text in parts, which may begin and end anywhere."""
    text = path.read_bytes().decode()
    return [text[start : start + STRETCH] for start in range(0, len(text), STRETCH)]


def show(text: str, theirs: list[int], ours: list[int], tok: syllabary.Tokenizer) -> None:
    """The place where they part."""
    pairs = zip(theirs, ours, strict=False)
    at = next((index for index, (one, other) in enumerate(pairs) if one != other), len(theirs))
    print(f"  behind {tok.decode(ours[max(at - 5, 0) : at])!r}, of {text[:40]!r}…")
    for name, ids in (("llama.cpp", theirs), ("syllabary", ours)):
        print(f"    {name}: {[(one, tok.vocab[one]) for one in ids[at : at + 4]]}")


def main(path: str, *texts: str) -> int:
    """Compare, and say how many stretches differ."""
    tok = syllabary.load(path)
    peer = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    calls = different = 0
    for name in texts:
        for text in stretches(Path(name)):
            for special in (True, False):
                theirs = peer.tokenize(text.encode(), add_bos=False, special=special)
                ours = tok.encode(text, "allow" if special else "text")
                calls += 1
                if theirs != ours:
                    different += 1
                    if different <= SHOWN:
                        show(text, theirs, ours, tok)
    print(f"{path}: {different} of {calls} differ, with llama-cpp-python {llama_cpp.__version__}")
    return int(different > 0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
