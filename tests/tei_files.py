"""TEI files as small as a rule, and what is read from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from syllabary.corpus import read

TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{}</teiHeader><text><body>{}</body></text></TEI>'

NESTED = (
    "<div xml:lang='greek'><p>lo/gos <foreign lang='la'>mens, a(/ma</foreign> e)n a)rxh=|: "
    "<bibl>Ioh. 1</bibl> qeo/<supplied>s</supplied>. tou\\s&#x2014;ti/s&#x2019; <add>o(/s</add>'</p></div>"
)


def tei(folder: Path, body: str, header: str = "<p>no</p>", name: str = "a.xml") -> Path:
    """A file with this body and header."""
    (folder / name).write_text(TEI.format(header, body), "utf-8")
    return folder / name


def texts(path: Path, **options: Any) -> list[str]:
    """The texts of its documents."""
    return [document.text for document in read(path, **options)]


def metas(path: Path, *keys: str, **options: Any) -> list[tuple[object, ...]]:
    """These values of each document's `meta`."""
    return [tuple(document.meta.get(key) for key in keys) for document in read(path, **options)]
