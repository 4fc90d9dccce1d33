"""Compressed files and archives -> streams: bounded, whole or an error that names the file and the member."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from corpus_files import PACK, TEXT, Counting, tar, texts, write, zipped, zstandard

from syllabary.corpus import Corpus, Reading, archives, read, unpack
from syllabary.corpus.document import HEAD
from syllabary.errors import CorpusError

# ---- compression ----


def through(data: bytes, suffix: str, step: int = -1) -> bytes:
    out = []
    with unpack.unpacked(io.BytesIO(data), "a" + suffix) as file:
        while part := file.read(step):
            out.append(part)
    return b"".join(out)


@pytest.mark.parametrize("suffix", sorted(PACK))
def test_packed_files(suffix: str, tmp_path: Path) -> None:
    pack = PACK[suffix]
    for content in (b"", b"a", TEXT, TEXT * 200):
        assert through(pack(content), suffix) == content
        assert through(pack(content), suffix, 7 if len(content) < 9999 else 70_001) == content
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(pack("naïve".encode()))
    assert [(document.text, document.meta) for document in read(path)] == [("naïve", {"path": str(path)})]


@pytest.mark.parametrize("suffix", sorted(set(PACK) - {".lzma"}))
def test_packed_files_joined(suffix: str) -> None:
    pack = PACK[suffix]
    assert through(pack(b"a") + pack(b"") + pack(TEXT), suffix) == b"a" + TEXT
    big = os.urandom(unpack.PACKED + 11)
    assert through(pack(big) + pack(big), suffix, 999) == big + big
    with pytest.raises(CorpusError, match=r"damaged or truncated"):
        through(pack(TEXT) + b"more", suffix)


def test_zstd_frames_to_be_skipped() -> None:
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    packed = PACK[".zst"](TEXT)
    assert through(skipped + packed + skipped + packed, ".zst") == TEXT + TEXT


@pytest.mark.parametrize("suffix", sorted(PACK))
def test_a_packed_file_cut_anywhere_is_an_error(suffix: str) -> None:
    packed = PACK[suffix](TEXT[:300])
    for end in range(0 if suffix != ".gz" else 1, len(packed)):
        with pytest.raises(CorpusError, match=rf"a\{suffix}: damaged or truncated \{suffix} file"):
            through(packed[:end], suffix)


@pytest.mark.parametrize("suffix", sorted(PACK))
def test_a_packed_file_with_a_wrong_byte_never_gives_other_text(suffix: str) -> None:
    packed = PACK[suffix](TEXT[:300])
    for at in range(len(packed)):
        damaged = packed[:at] + bytes([packed[at] ^ 0x41]) + packed[at + 1 :]
        try:
            found = through(damaged, suffix)
        except CorpusError:
            continue
        # .lzma has no check sum; .gz none of its header's time and system
        assert found == TEXT[:300] or suffix == ".lzma"


@pytest.mark.parametrize("suffix", sorted(PACK))
def test_bombs(suffix: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(unpack, "FREE", 1 << 20)
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(PACK[suffix](bytes(8 << 20)))
    with pytest.raises(CorpusError, match=r"unpacks to more than 500 times its size"):
        texts(path)
    path.write_bytes(PACK[suffix](bytes(1 << 20)))
    assert len(texts(path)[0]) == 1 << 20  # small enough to be harmless


@pytest.mark.parametrize("suffix", sorted(PACK))
def test_unpacking_goes_in_small_steps(suffix: str) -> None:
    packed = Counting(PACK[suffix](os.urandom(2 << 20)))
    with unpack.unpacked(packed, "a" + suffix) as file:
        file.read(1)
        assert packed.tell() <= 20 * unpack.PACKED  # bzip2 works in blocks of 900 kB
        while file.read(1 << 16):
            pass
    assert packed.most <= unpack.PACKED
    assert packed.closed


def test_zstd_never_unpacks_much_at_once() -> None:
    decompressor = unpack._Zstandard(zstandard)
    packed = zstandard.ZstdCompressor().compress(bytes(256 << 20))
    most = 0
    total = len(decompressor.decompress(packed, 1000))
    while not decompressor.eof:
        most = max(most, len(decompressor._out))
        total += len(decompressor.decompress(b"", 8 << 20))
    assert total == 256 << 20
    assert most <= 32 << 20


def test_without_zstandard_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name)

    write(tmp_path, a_txt_zst=PACK[".zst"](b"a"))
    monkeypatch.setattr(unpack.importlib, "import_module", absent)
    for on_error in ("raise", "skip"):
        with pytest.raises(CorpusError, match=r"pip install 'syllabary\[corpus\]'"):
            texts(tmp_path, on_error=on_error)


# ---- archives ----

MEMBERS: dict[str, bytes | str] = {
    "b/two.txt": "2",
    "./a/one.txt": "1",
    "a/.hidden": "no",
    "__MACOSX/._one.txt": "no",
    "x.jsonl.gz": gzip.compress(b'{"text": "3"}\n{"text": "4"}\n'),
    "empty.txt": "",
}


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip"])
def test_archives(suffix: str, tmp_path: Path) -> None:
    data = zipped(MEMBERS) if suffix == ".zip" else tar(MEMBERS)
    if suffix not in {".zip", ".tar"}:
        data = PACK[".gz" if suffix == ".tgz" else suffix[4:]](data)
    path = tmp_path / f"all{suffix}"
    path.write_bytes(data)
    found = list(read(path))
    assert [document.text for document in found] == ["2", "1", "3", "4", ""]
    assert [document.meta["path"] for document in found] == [
        f"{path}/{name}" for name in ("b/two.txt", "./a/one.txt", "x.jsonl.gz", "x.jsonl.gz", "empty.txt")
    ]
    assert texts(path, include="*.jsonl.gz") == ["3", "4"]
    assert texts(path, include="a/*") == ["1"]
    assert texts(path, exclude=["a", "*.gz", "e*"]) == ["2"]
    with pytest.raises(CorpusError, match=r"the archive does not hold a file that matches \*\.xml"):
        texts(path, include="*.xml")


def test_archives_in_folders(tmp_path: Path) -> None:
    write(tmp_path, b_txt="0", c__all_tar=tar({"a.txt": "1", "b.md": "2"}), d_zip=zipped({"b.txt": "3"}))
    assert texts(tmp_path) == ["0", "1", "2", "3"]
    assert texts(tmp_path, include="b.txt") == ["0", "3"]
    assert texts(tmp_path, include="*.tar") == ["1", "2"]  # the archive itself is wanted: all of it
    assert texts(tmp_path, include="c/*") == ["1", "2"]
    assert texts(tmp_path, include="*.tar", exclude="*.md") == ["1"]
    assert texts(tmp_path, exclude="*.zip") == ["0", "1", "2"]
    with pytest.raises(CorpusError, match=r"the folder does not hold a file that matches \*\.xml"):
        texts(tmp_path, include="*.xml")


def test_links_in_a_tar_are_left_out(tmp_path: Path) -> None:
    hard, soft, folder = tarfile.TarInfo("hard.txt"), tarfile.TarInfo("soft.txt"), tarfile.TarInfo("d")
    hard.type, hard.linkname = tarfile.LNKTYPE, "a.txt"
    soft.type, soft.linkname = tarfile.SYMTYPE, "/etc/hostname"
    folder.type = tarfile.DIRTYPE
    write(tmp_path, a_tar=tar({"a.txt": "1"}, hard=hard, soft=soft, folder=folder))
    assert texts(tmp_path) == ["1"]


def test_a_tar_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    whole = tar({"a.txt": "a" * 700, "b.txt": "b" * 10})
    path = tmp_path / "a.tar"
    for end in (*range(0, 3072, 128), 3071):
        path.write_bytes(whole[:end])
        with pytest.raises(CorpusError, match=r"a\.tar.*damaged or truncated"):
            texts(path)
    path.write_bytes(whole[:3072])  # one block of zeros: the mark of the end is there
    assert texts(path) == ["a" * 700, "b" * 10]


def test_a_damaged_header_is_not_taken_for_the_end(tmp_path: Path) -> None:
    whole = bytearray(tar({"a.txt": "1", "b.txt": "2", "c.txt": "3"}))
    whole[1024 + 3] ^= 0xFF
    write(tmp_path, a_tar=bytes(whole))
    found = read(tmp_path / "a.tar")
    assert next(found).text == "1"
    with pytest.raises(CorpusError, match=r"a\.tar: damaged or truncated archive.*\(bad checksum\)"):
        next(found)


def test_what_follows_the_end_of_a_tar(tmp_path: Path) -> None:
    one = tar({"a.txt": "1"})
    write(tmp_path, a_tar=one + one)
    with pytest.raises(CorpusError, match=r"a\.tar: damaged.*more follows after its end mark"):
        texts(tmp_path)
    write(tmp_path, a_tar=one + bytes(20480))
    assert texts(tmp_path) == ["1"]
    packed = bytearray(gzip.compress(one))
    packed[-6] ^= 1  # of the sum, which stands behind the last member
    write(tmp_path, a_tar_gz=bytes(packed))
    (tmp_path / "a.tar").unlink()
    with pytest.raises(CorpusError, match=r"a\.tar\.gz: damaged or truncated \.gz file"):
        texts(tmp_path)


def test_a_sparse_member_is_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "FREE", 1 << 20)
    info = tarfile.TarInfo("sparse.txt")
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": f"{1 << 40},0",
        "GNU.sparse.size": str(1 << 40),
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    write(tmp_path, a_tar=packed.getvalue())
    with pytest.raises(CorpusError, match=r"a\.tar: unpacks to more than 500 times"):
        texts(tmp_path)


def test_zip_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "FREE", 1 << 20)
    write(tmp_path, a_zip=zipped({f"{index}.txt": bytes(900_000) for index in range(8)}))
    with pytest.raises(CorpusError, match=r"a\.zip: unpacks to more than 500 times"):
        texts(tmp_path)


def damaged_zips() -> dict[str, tuple[bytes, str]]:
    good = zipped({"a.txt": TEXT})
    central = good.index(b"PK\x01\x02")
    locked, unknown = bytearray(good), bytearray(good)
    locked[6] |= 1
    locked[central + 8] |= 1
    unknown[8:10] = unknown[central + 10 : central + 12] = b"\x63\x00"
    wrong = bytearray(zipped({"a.txt": TEXT}, zipfile.ZIP_STORED))
    wrong[60] ^= 1
    return {
        "cut": (good[:-5], "a.zip: damaged or truncated"),
        "empty": (b"", "a.zip: damaged or truncated"),
        "text": (b"no zip", "a.zip: damaged or truncated"),
        "password": (bytes(locked), r"a.zip/a.txt: damaged .* of an unknown kind \(.*encrypted"),
        "method": (bytes(unknown), r"a.zip/a.txt: damaged .* of an unknown kind"),
        "sum": (bytes(wrong), r"a.zip/a.txt: damaged .*CRC"),
        "body": (good[:45] + b"\xff" * 9 + good[54:], r"a.zip/a.txt: damaged"),
    }


@pytest.mark.parametrize("case", sorted(damaged_zips()))
def test_damaged_zips(case: str, tmp_path: Path) -> None:
    data, message = damaged_zips()[case]
    write(tmp_path, a_zip=data)
    with pytest.raises(CorpusError, match=message):
        texts(tmp_path)


def test_an_archive_in_an_archive_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, a_tar=tar({"inner.zip": zipped({"a.txt": "1"}), "b.txt": "2"}))
    with pytest.raises(CorpusError, match=r"a\.tar/inner\.zip: an archive in an archive"):
        texts(tmp_path)
    assert texts(tmp_path, exclude="inner.zip") == texts(tmp_path, on_error="skip") == ["2"]


def test_a_member_can_be_opened_again_after_its_head(tmp_path: Path) -> None:
    content = os.urandom(HEAD + 100_000)
    for name, data in (("a.tar", tar({"a": content})), ("a.zip", zipped({"a": content}))):
        (tmp_path / name).write_bytes(data)
        for stream in archives.members(tmp_path / name, Reading(), ""):
            for size in (10, HEAD - 100_000, 1000):
                with stream.open() as file:
                    assert file.read(size) == content[:size]
            with stream.open() as file:
                assert file.read() == content
            if name == "a.tar":
                with pytest.raises(CorpusError, match="can be read only once"):
                    stream.open()


@pytest.mark.parametrize("parts", [False, True])
def test_a_damaged_archive_is_closed_at_once(
    parts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when Python collects what the error holds, which may be much later, and warns."""
    (tmp_path / "a.tar").write_bytes(tar({"a.txt": "a" * 700, "b.txt": "b" * 10})[:640])
    opened, files = Path.open, list[Any]()

    def noted(path: Path, *mode: Any, **options: Any) -> Any:
        files.append(opened(path, *mode, **options))
        return files[-1]

    monkeypatch.setattr(Path, "open", noted)
    corpus = Corpus(tmp_path / "a.tar")
    with pytest.raises(CorpusError, match=r"a\.tar.*damaged or truncated") as caught:
        list(corpus.parts() if parts else corpus)
    assert files
    assert all(file.closed for file in files)
    assert caught.value is not None
