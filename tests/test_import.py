"""What `import syllabary` loads: numpy and regex, nothing of the network, of other libraries, of a corpus."""

from __future__ import annotations

import subprocess
import sys

HEAVY = "ssl urllib.request http.client lxml click tiktoken tokenizers sentencepiece huggingface_hub torch"


def test_importing_loads_little() -> None:
    script = f"import sys, syllabary; print(*(set({HEAVY.split()!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True)
    assert done.stdout.split() == []
