"""What a comparison found: rows, a Markdown table, one paragraph of plain words, JSON.

Pure data and text. Leaves out: training and measuring (`compare`), the picture (`compare_plot`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from syllabary.gpt.baselines import Baseline
from syllabary.gpt.evaluate import Evaluation
from syllabary.reference.symbols import plural

Equal = Literal["bytes", "compute"]

CLOSE = 0.01  # of bits per byte: as much as another seed may change
HEAD = (
    "| tokenizer | vocabulary | bytes per token | parameters: body | embedding | tokens seen | MB seen "
    "| FLOPs | minutes | bits per token | bits per byte |"
)
RULE = "|---|" + "--:|" * 10


@dataclass(frozen=True, slots=True)
class Point:
    """An evaluation while training, on a sample of the held-out text, and what it had cost by then."""

    bytes: float
    flops: float
    bits_per_byte: float


@dataclass(frozen=True, slots=True)
class Row:
    """One tokenizer's model.

    bytes_per_token: of the held-out text. body, embedding: parameters; embedding is what grows with the
    vocabulary, and positions. tokens, bytes: of text seen in training, again and again if it was. flops:
    of training. seconds: of training, on this machine. curve: by the way, the last not included.
    """

    name: str
    tokenizer_sha256: str
    vocab_size: int
    bytes_per_token: float
    body: int
    embedding: int
    steps: int
    tokens: int
    bytes: int
    flops: float
    seconds: float
    evaluation: Evaluation
    curve: tuple[Point, ...] = ()

    @property
    def bits_per_byte(self) -> float:
        """Of the whole held-out text."""
        return self.evaluation.bits_per_byte

    def cells(self) -> str:
        """The row in Markdown."""
        found = self.evaluation
        return (
            f"| {_cell(self.name)} | {self.vocab_size:,} | {self.bytes_per_token:.2f} | {_count(self.body)} "
            f"| {_count(self.embedding)} | {_count(self.tokens)} | {_millions(self.bytes)} "
            f"| {_power(self.flops)} | {self.seconds / 60:.1f} | {found.bits_per_token:.3f} "
            f"| {found.bits_per_byte:.4f} |"
        )

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self) | {"evaluation": self.evaluation.record()}


@dataclass(frozen=True, slots=True)
class Counted:
    """A baseline and whose tokens it counts; None for bytes, which are the same for all."""

    of: str | None
    baseline: Baseline

    @property
    def name(self) -> str:
        """As the table shows it."""
        return self.baseline.name if self.of is None else f"{self.baseline.name}, {self.of}"

    def cells(self) -> str:
        """The row in Markdown."""
        return f"| {_cell(self.name)} |{' |' * 9} {self.baseline.bits_per_byte:.4f} |"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Equal models on different tokenizers, and what counting reaches, on one held-out text.

    equal, seed: as asked for. budget: bytes or FLOPs. layers, width, block: of all models. documents,
    bytes, digest: of the held-out text. notes: what a reader must know besides.
    """

    equal: Equal
    budget: float
    seed: int
    layers: int
    width: int
    block: int
    documents: int
    bytes: int
    digest: str
    rows: tuple[Row, ...]
    counted: tuple[Counted, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Row:
        """The row with the fewest bits per byte."""
        return min(self.rows, key=lambda row: row.bits_per_byte)

    def table(self) -> str:
        """The table in Markdown: models, then baselines."""
        models, baselines = (row.cells() for row in self.rows), (one.cells() for one in self.counted)
        return "\n".join([HEAD, RULE, *models, *baselines])

    def words(self) -> str:
        """One paragraph: which is best and by how much, what was equal, and what to beware of."""
        return " ".join([*self._result(), self._equal(), *self._baselines(), *self.notes, self._caution()])

    def record(self) -> dict[str, Any]:
        """As `compare.json` holds it. Seconds apart, the same from the same seed on the same machine."""
        return {
            "format": "syllabary-comparison",
            "version": 1,
            "equal": self.equal,
            "budget": self.budget,
            "seed": self.seed,
            "model": {"layers": self.layers, "width": self.width, "block": self.block},
            "val": {"documents": self.documents, "bytes": self.bytes, "sha256_documents": self.digest},
            "models": [row.record() for row in self.rows],
            "baselines": [{"of": one.of} | one.baseline.record() for one in self.counted],
            "words": self.words(),
        }

    # ---- the sentences ----

    def _result(self) -> list[str]:
        text = f"{self.bytes:,} bytes of held-out text in {plural(self.documents, 'document', ',')}"
        best = self.best
        others = sorted((row for row in self.rows if row is not best), key=lambda row: row.bits_per_byte)
        if not others:
            return [f"`{best.name}` reaches {best.bits_per_byte:.3f} bits per byte on {text}."]
        more = [_percent(row.bits_per_byte / best.bits_per_byte - 1) for row in others]
        behind = [f"{share} more with `{row.name}`" for share, row in zip(more, others, strict=True)]
        said = [
            f"Of {plural(len(self.rows), 'tokenizer', ',')}, `{best.name}` does best: "
            f"{best.bits_per_byte:.3f} bits per byte on {text}; it is {_listed(behind)}."
        ]
        if others[0].bits_per_byte < best.bits_per_byte * (1 + CLOSE):
            said.append(f"The lead over `{others[0].name}` is so small that another seed might turn it.")
        return said

    def _equal(self) -> str:
        body = f"All models have the same body, {plural(self.layers, 'layer', ',')} of width {self.width},"
        by_flops = sorted(self.rows, key=lambda row: row.flops)
        by_bytes = sorted(self.rows, key=lambda row: row.bytes)
        if len(self.rows) == 1:
            row = self.rows[0]
            return (
                f"It has {plural(self.layers, 'layer', ',')} of width {self.width} and saw {_megabytes(row)}."
            )
        if self.equal == "bytes":
            ratio = by_flops[-1].flops / by_flops[0].flops
            said = f"{body} and saw the same amount of text, {_megabytes(by_bytes[0])}"
            if f"{ratio:.1f}" == "1.0":
                return f"{said}, for about the same compute."
            return (
                f"{said}; that took `{by_flops[-1].name}` {ratio:.1f} times the compute of "
                f"`{by_flops[0].name}`."
            )
        return (
            f"{body} and were trained with the same compute, {_power(by_flops[0].flops)} floating-point "
            f"operations; for that `{by_bytes[-1].name}` saw {_megabytes(by_bytes[-1])} of text, and "
            f"`{by_bytes[0].name}` {_megabytes(by_bytes[0])}."
        )

    def _baselines(self) -> list[str]:
        if not self.counted:
            return []
        best, own = self.best.bits_per_byte, (None, self.best.name)
        values = sorted(
            (one for one in self.counted if one.of in own), key=lambda one: -one.baseline.bits_per_byte
        )
        beaten = [_valued(one) for one in values if best < one.baseline.bits_per_byte]
        ahead = [_valued(one) for one in values if best >= one.baseline.bits_per_byte]
        said = []
        if beaten:
            said.append(f"It beats counting: {_listed(beaten)}.")
        if ahead:
            said.append(f"It has not yet reached {_listed(ahead)}: that takes more training, or more text.")
        return said

    def _caution(self) -> str:
        return (
            f"Beware: this is one seed ({self.seed}) and one size of model. A window of {self.block} tokens "
            "shows more text where tokens are longer, and a larger vocabulary brings more parameters."
        )


def _valued(one: Counted) -> str:
    return f"{one.baseline.name} ({one.baseline.bits_per_byte:.3f})"


def _megabytes(row: Row) -> str:
    return f"{row.bytes / 1e6:,.1f} MB" if row.bytes >= 1e5 else f"{row.bytes / 1e3:,.1f} kB"


def _listed(parts: list[str]) -> str:
    """As `a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _millions(number: int) -> str:
    """As `3.2`, and `0.0005` where there is little."""
    return f"{number / 1e6:,.1f}" if number >= 1e5 else f"{number / 1e6:.2g}"


def _power(number: float) -> str:
    """As `1.45e11`."""
    digits, _, power = f"{number:.2e}".partition("e")
    return f"{digits}e{int(power)}"


def _percent(share: float) -> str:
    """As `3.1 %`, and `0.04 %` below a tenth."""
    return f"{share:.1%}".replace("%", " %") if share >= 0.001 else f"{share:.2%}".replace("%", " %")


def _count(number: int) -> str:
    """As `3.2 M`.

    >>> _count(950), _count(49_152), _count(3_170_000)
    ('950', '49 k', '3.2 M')
    """
    if number < 1000:
        return str(number)
    return f"{number / 1e3:,.0f} k" if number < 999_500 else f"{number / 1e6:,.1f} M"


def _cell(name: str) -> str:
    """In a table, where `|` ends a cell."""
    return name.replace("|", r"\|")
