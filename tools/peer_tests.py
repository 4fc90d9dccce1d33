"""Run a peer's own tests against the module in its place: `python tools/peer_tests.py tiktoken FOLDER`.

The library's name is bound to `syllabary.compat.…` before pytest starts, in this process only. Leaves out:
getting the tests (from the peer's sdist or repository), and the files that they need.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pkgutil
import sys

import pytest

MODULES = {
    "tiktoken": "syllabary.compat.tiktoken",
    "subword_nmt": "syllabary.compat.subword_nmt",
    "tokenizers": "syllabary.compat.tokenizers",
}


class Tasks:
    """Runs tests that are coroutines, where no plugin of pytest does."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run one to its end."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True


def main() -> int:
    """Bind the name, run pytest on what follows it."""
    if len(sys.argv) < 3 or sys.argv[1] not in MODULES:
        print(f"usage: peer_tests.py {{{','.join(MODULES)}}} FOLDER [pytest options]", file=sys.stderr)
        return 2
    name, arguments = sys.argv[1], sys.argv[2:]
    package = importlib.import_module(MODULES[name])
    sys.modules[name] = package
    for module in pkgutil.iter_modules(package.__path__):
        if module.name != "__main__":
            sys.modules[f"{name}.{module.name}"] = importlib.import_module(f"{MODULES[name]}.{module.name}")
    return int(pytest.main([*arguments, "-p", "no:cacheprovider"], plugins=[Tasks()]))


if __name__ == "__main__":
    raise SystemExit(main())
