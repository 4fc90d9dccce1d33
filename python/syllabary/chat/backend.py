"""Jinja2, or an error that says what to install.

Modules of this package that need it take it from here. Adds the oldest version that is safe: chat templates
are other people's programs, and older ones have known ways out of the sandbox (CVE-2024-56326,
CVE-2025-27516).
"""

from __future__ import annotations

from syllabary.errors import ChatError

SAFE = (3, 1, 6)

try:
    import jinja2
    import jinja2.exceptions
    import jinja2.ext
    import jinja2.sandbox
    import jinja2.visitor
except ImportError as error:
    raise ChatError(f"a chat template needs Jinja2 ({error}): pip install 'syllabary[chat]'") from error

if tuple(int(part) for part in jinja2.__version__.split(".")[:3] if part.isdigit()) < SAFE:
    raise ChatError(
        f"Jinja2 {jinja2.__version__} has known ways out of its sandbox: pip install -U 'jinja2>=3.1.6'"
    )

__all__ = ["jinja2"]
