"""The package where files are Windows' (`like_windows`): the same verbs, the same bytes, nothing left behind.

Each test is a script in a process of its own, as nothing there can be taken back. Leaves out: what needs no
such process (`test_portable`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import syllabary

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="which files are open is read from /proc"
)

HERE = Path(__file__).parent
GUARD = 100  # seconds after which a script that does not end is a failure
TEXT = "".join(f"λόγος ἔργον né the quick brown fox {number % 17}\n" for number in range(300))

VERBS = """
import sys, warnings
from pathlib import Path
from syllabary.cli import main
warnings.simplefilter("ignore")
for line in Path("verbs").read_text(encoding="utf-8").splitlines():
    try:
        main.main(line.split(), prog_name="syllabary", standalone_mode=False)
    except Exception as error:
        print("error:", getattr(error, "message", error))
"""

SAME = """\
train text d -o tok.json --vocab-size 290 --resume --quiet
train d -o tok.syllabary.json --vocab-size 280 --special <|end|> --memory-limit 100MB --resume --quiet
train nothing.txt -o none.json --num-merges 9 --checkpoint none --quiet
convert tok.json tok.tiktoken
edit tok.syllabary.json --add 漢字 -o edited.syllabary.json
count-pieces d -o pieces.parquet --resume --quiet
count-pieces text -o words.txt --like subword-nmt --quiet
train words.txt --counts --like subword-nmt -o codes.bpe --num-merges 20 --quiet
encode -t tok.json λόγος
encode -t tok.json --tokens -i d
count -t tok.json text
inspect -t tok.json
inspect -t tok.json λόγος
shard text d -t tok.syllabary.json -o shards --val 0.3 --documents line --processes 2 --quiet
shard text d -t tok.syllabary.json -o shards --val 0.2 --documents line --processes 1 --force --quiet
shard text -t tok.syllabary.json -o ids.parquet --documents line --quiet
shard text -t tok.syllabary.json -o ids.parquet --documents line --quiet --force
"""


def like_windows(folder: Path, script: str, libraries: str = "") -> str:
    """What a script writes to stdout."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    return done([str(HERE / "like_windows.py"), libraries, "script.py"], folder)


def done(command: list[str], folder: Path) -> str:
    """Stdout of a Python in that folder, which has ended well."""
    ended = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, timeout=GUARD)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode()


def texts(folder: Path) -> Path:
    """A folder with text, made if it is not there."""
    (folder / "d").mkdir(parents=True)
    (folder / "text").write_bytes(TEXT.encode())
    for name, size in (("b.txt", 900), ("B.txt", 500), ("a.txt", 700)):
        (folder / "d" / name).write_bytes(TEXT.encode()[:size].rpartition(b"\n")[0] + b"\r\n")
    (folder / "verbs").write_text(SAME, encoding="utf-8")
    return folder


def held(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and its bytes."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "__pycache__" not in name}


def test_what_windows_refuses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "syllabary").mkdir()
    careless = "def write():\n    open('c', 'w', encoding='utf-8').close()\n"
    (tmp_path / "syllabary" / "__init__.py").write_text(careless + "def read():\n    open('verbs')\n")
    (tmp_path / "verbs").touch()
    script = """
import mmap, os, sys
sys.path.insert(0, "")
import syllabary

def refused(function, *arguments):
    try:
        function(*arguments)
    except (AssertionError, AttributeError, ImportError, PermissionError) as error:
        return type(error).__name__
    return None

os.mkdir("f")
with open("f/a", "wb+") as file:
    file.write(b"a")
    file.flush()
    print(refused(os.unlink, "f/a"), refused(os.replace, "f/a", "b"), refused(os.rename, "f", "g"))
    view = mmap.mmap(file.fileno(), 1)
print(refused(os.unlink, "f/a"), refused(os.open, "f", os.O_RDONLY))
view.close()
print(refused(os.unlink, "f/a"), refused(syllabary.write), refused(syllabary.read))
print(refused(lambda: os.getuid), refused(__import__, "fcntl"))
"""
    assert like_windows(tmp_path, script).split() == [
        *("PermissionError", "PermissionError", "PermissionError"),
        *("PermissionError", "PermissionError"),
        *("None", "AssertionError", "AssertionError"),
        *("AttributeError", "ModuleNotFoundError"),
    ]


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    """But those of large libraries, which are imported where they are tested."""
    root = Path(syllabary.__file__).parent
    large = {"gpt", "transformers", "__main__"}
    found = [path.relative_to(root.parent).with_suffix("").parts for path in root.rglob("*.py")]
    names = [".".join(parts).removesuffix(".__init__") for parts in found if not large & {*parts}]
    names = [name for name in names if not name.startswith("syllabary.cli.gpt")]
    assert len(names) > 300
    script = "import importlib\nfor name in {!r}:\n    importlib.import_module(name)\nprint('all')\n"
    assert like_windows(tmp_path, script.format(sorted(names)), "lxml.etree") == "all\n"


def test_the_verbs_write_the_same_bytes(tmp_path: Path) -> None:
    here, there = texts(tmp_path / "here"), texts(tmp_path / "there")
    (here / "script.py").write_text(VERBS, encoding="utf-8")
    said = done(["script.py"], here)
    assert said.count("error:") == said.count("error: nothing.txt: No such file") == 1
    assert like_windows(there, VERBS, "pyarrow.parquet") == said
    (found, wanted) = held(there), held(here)
    assert {*found} == {*wanted}
    assert [name for name in found if found[name] != wanted[name]] == []


def test_trainings_and_shards_go_on_where_they_were_ended(tmp_path: Path) -> None:
    """With files of checkpoints that are open, appended to and replaced."""
    script = f"""
import builtins, sys
sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
import pytest, shard_runs, train_runs

train_runs.make_often(builtins)
here, folder = Path(), Path("checkpoint")
for name in ("whole", "again"):
    (here / name).mkdir()
path = train_runs.write_corpus(here, 20_000)
for mode in ("first-seen", "likelihood"):
    whole = train_runs.saved(train_runs.train(path, mode), here / "whole")
    for stage in ("counting", "merging"):
        with train_runs.stopped():
            train_runs.train(path, mode, folder, progress=train_runs.stop_in(stage, 1))
    again = train_runs.train(path, mode, folder)
    print(train_runs.saved(again, here / "again") == whole)
    train_runs.training_checkpoint.remove(folder)
    print(folder.exists())
path, tok = shard_runs.make_corpus(here, pytest.MonkeyPatch()), shard_runs.make_tokenizer()
whole = shard_runs.whole(path, tok, here / "whole")
for processes in (1, 2):
    out = here / f"shards-{{processes}}"
    shard_runs.stop_after(2, path, tok, out, processes=1)
    shard_runs.write(path, tok, out, processes=processes)
    print(shard_runs.held(out) == whole, (out / ".work").exists())
"""
    assert like_windows(tmp_path, script, "pytest").split() == ["True", "False"] * 4


def test_what_another_process_holds_is_refused(tmp_path: Path) -> None:
    script = """
from contextlib import ExitStack
from pathlib import Path
import syllabary
from syllabary.scratch import scratch
from syllabary.shards import write
from syllabary.shards.work import Work
from syllabary.training.checkpoint import opened
from syllabary.locks import holding, remove

def refused(function):
    try:
        function()
    except (syllabary.errors.SyllabaryError, BlockingIOError) as error:
        return type(error).__name__
    return None

tok = syllabary.train(["low lower"] * 9, num_merges=3)
train = lambda: syllabary.train(["low lower"] * 9, num_merges=3, checkpoint="checkpoint")
shard = lambda: write(["low lower"], tok, "shards", processes=1)
hold = lambda: holding(Path("lock"), lambda: remove(Path("lock"))).__enter__()
with ExitStack() as stack:
    Path("checkpoint").mkdir()
    stack.enter_context(holding(Path("checkpoint/lock"), lambda: None))
    stack.enter_context(Work(Path("shards")).locked())
    stack.enter_context(holding(Path("lock"), lambda: remove(Path("lock"))))
    print(refused(train), refused(shard), refused(hold), Path("lock").exists())
print(refused(train), refused(shard), refused(hold), Path("lock").exists())
# Of folders for one run (no links to them), those in use stay; what a killed run has left goes.
Path("syllabary-left.scratch").mkdir()
Path("syllabary-left.scratch/held").touch()
Path("kept").mkdir()
Path("kept/held").touch()
Path("syllabary-link.scratch").symlink_to("kept")
with scratch(".") as one, scratch(".") as other:
    left = [path.absolute() for path in (one, other, Path("syllabary-link.scratch"))]
    print(sorted(path.absolute() for path in Path().glob("*.scratch")) == sorted(left))
print(*Path().glob("*.scratch"), Path("kept/held").exists())
"""
    assert like_windows(tmp_path, script).splitlines() == [
        "CheckpointError ShardError BlockingIOError True",
        "None None None False",
        "True",
        "syllabary-link.scratch True",
    ]


LARGE = (
    (
        "torch,safetensors.torch,matplotlib.figure",
        "gpt train shards -o run --steps 2 {}\n" * 2 + "gpt train shards -o run --steps 3 --restart {}\n",
        "run",
        "best.safetensors checkpoint-2.safetensors checkpoint-3.safetensors config.json log.jsonl loss.png "
        "tokenizer.syllabary.json",
    ),
    (
        "datasets",
        "shard words -t tok.json -o saved --documents line --format datasets --quiet --force\n" * 2,
        "saved",
        "dataset_dict.json train",
    ),
)


@pytest.mark.parametrize("libraries, verbs, folder, names", LARGE, ids=["model", "datasets"])
def test_other_peoples_libraries_map_files(
    tmp_path: Path, libraries: str, verbs: str, folder: str, names: str
) -> None:
    """Of torch and datasets, and what is trained or exported is replaced all the same."""
    (tmp_path / "words").write_bytes(TEXT.encode())
    options = "--save-every 1 --eval-every 1 --depth 1 --batch-size 2 --block-size 8 --eval-batches 1 --quiet"
    (tmp_path / "verbs").write_text(
        "train words -o tok.json --num-merges 5 --quiet\n"
        "shard words -t tok.json -o shards --val 0.3 --documents line --processes 1 --quiet\n"
        + verbs.replace("{}", f"{options} --device cpu"),
        encoding="utf-8",
    )
    drawn = """
if Path("verbs").read_bytes().count(b"gpt"):  # a picture takes longer than the model
    import syllabary.gpt.loop
    syllabary.gpt.loop.loss_curves = lambda _entries, path: path.write_bytes(b"PNG")
"""
    assert like_windows(tmp_path, VERBS.replace("\nwarnings", f"{drawn}warnings"), libraries) == ""
    assert sorted(path.name for path in (tmp_path / folder).iterdir()) == names.split()


STREAMS = """
import io, os, sys
from pathlib import Path
import syllabary

class Closed(io.RawIOBase):
    writable = lambda self: True
    fileno = lambda self: 1
    def write(self, data):
        if os.fstat(1).st_rdev == os.stat(os.devnull).st_rdev:
            return len(data)
        raise OSError(22, "Invalid argument")

syllabary.train(["λόγος ἔργον"] * 9, num_merges=9).save("tok.json")
from syllabary.cli import main
how, sys.argv[1:] = sys.argv[1], sys.argv[2:]
if how == "page":
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "cp1252", newline="\\r\\n")
else:
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(Closed()), "utf-8")
main(prog_name="syllabary")
"""


@pytest.mark.parametrize("name, sign", [("", "γο"), ("cp1252", r"\u03b3\u03bf")])
def test_stdout_that_is_no_terminal_is_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sign: str
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", name)
    (tmp_path / "script.py").write_text(STREAMS, encoding="utf-8")
    command = [str(HERE / "like_windows.py"), "", "script.py", "page"]
    said = done([*command, "encode", "-t", "tok.json", "--tokens", "λόγος\n"], tmp_path)
    assert "\r" not in said
    assert sign in said


def test_a_reader_of_a_pipe_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(STREAMS, encoding="utf-8")
    command = [sys.executable, str(HERE / "like_windows.py"), "", "script.py", "closed"]
    command += ["encode", "-t", "tok.json", "λόγος"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=GUARD)
    assert (ended.returncode, ended.stdout, ended.stderr.decode()) == (1, b"", "")
