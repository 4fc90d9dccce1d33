"""Every format as a record: all their modules are loaded with this one.

Leaves out: which there are, and what tells them apart (`signs`); the choice of one (`syllabary.formats`).
"""

from __future__ import annotations

from syllabary.formats.record import Format
from syllabary.formats.signs import SIGNS

FORMATS: tuple[Format, ...] = tuple(map(Format.named, SIGNS))  # in the order in which they are tried
