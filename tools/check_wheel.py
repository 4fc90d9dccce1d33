"""Install what `make wheel` built into fresh environments, and use it there, far from this checkout.

    python tools/check_wheel.py --dist dist --python python3.10 --python python3.13

Each wheel, and the sdist (which compiles the engine again), is installed into a new virtual environment in a
temporary folder; `smoke.py` then runs there with the isolated interpreter. With `--tests` the first wheel
also passes the whole test suite, as the sdist carries it, with requirements-dev.txt and requirements-gpt.txt.
Leaves out: publishing, and platforms other than this one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke.py")


def run(command: list[str | Path], folder: Path) -> None:
    """Run a command in a folder; its output is shown if it fails."""
    # PYTHONPATH of the caller could show the checkout to the environment under test.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        raise SystemExit(f"failed: {' '.join(map(str, command))}\n{said}")


def try_out(package: Path, python: str) -> None:
    """Install one wheel or sdist into a fresh environment of `python` and use it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([python, "-m", "venv", "fresh"], folder)
        scripts = folder / "fresh" / ("Scripts" if os.name == "nt" else "bin")
        run([scripts / "python", "-m", "pip", "install", "--disable-pip-version-check", package], folder)
        shutil.copy(SMOKE, folder)
        run([scripts / "python", "-I", "smoke.py"], folder)
        run([scripts / "syllabary", "--version"], folder)
        version = subprocess.run(
            [python, "--version"], text=True, capture_output=True, check=True
        ).stdout.strip()
        print(f"ok: {package.name} on {version}", flush=True)


def run_tests(wheel: Path, sdist: Path, python: str) -> None:
    """The test suite of the sdist against the installed wheel; the sources lie apart and are not imported."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([python, "-m", "venv", "fresh"], folder)
        fresh = folder / "fresh" / ("Scripts" if os.name == "nt" else "bin") / "python"
        shutil.unpack_archive(sdist, folder)
        (checkout,) = folder.glob("syllabary-*")
        pip = [fresh, "-m", "pip", "install", "--disable-pip-version-check"]
        requirements = ("-r", checkout / "requirements-dev.txt", "-r", checkout / "requirements-gpt.txt")
        run([*pip, *requirements, wheel], folder)
        run([fresh, "-m", "pytest", "-q", "-p", "no:cacheprovider"], checkout)
        print(f"ok: the tests of {sdist.name} on {wheel.name}", flush=True)


def main() -> None:
    """Check everything in the folder with every interpreter named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", type=Path, required=True)
    parser.add_argument(
        "--python", action="append", default=None, help="repeatable; default: the running one"
    )
    parser.add_argument("--tests", action="store_true", help="run the test suite as well")
    options = parser.parse_args()
    wheels, sdists = (sorted(options.dist.resolve().glob(kind)) for kind in ("*.whl", "*.tar.gz"))
    if not wheels or not sdists:
        raise SystemExit(
            f"{options.dist} holds {len(wheels)} wheels and {len(sdists)} sdists: run `make wheel`"
        )
    for python in options.python or [sys.executable]:
        for package in wheels:
            try_out(package, python)
    if options.tests:
        run_tests(wheels[-1], sdists[-1], (options.python or [sys.executable])[0])
    try_out(sdists[-1], (options.python or [sys.executable])[0])


if __name__ == "__main__":
    main()
