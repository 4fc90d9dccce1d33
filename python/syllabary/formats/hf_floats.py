"""Numbers as Hugging Face's library reads them from JSON: not always the nearest.

Adds `read_float`. Their serde_json takes the digits as one integer and divides by a power of ten,
so that a score may be off by a unit in the last place; of nearly equal ways to cut a piece another may win
then.
Source: serde_json 1.0, `de.rs` (`parse_decimal`, `f64_from_parts`), without its feature `float_roundtrip`.
Leaves out: writing: what they save and read again is off in the same way; the rest of the file
(`strict_json`).
"""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
LARGEST = 2**64 - 1
SURE = 19  # digits that are no larger number, whatever they are
POWERS = [float(f"1e{power}") for power in range(309)]


def read_float(text: str) -> float:
    """A number of JSON as serde_json reads it.

    >>> read_float("-6.9044739982887124"), float("-6.9044739982887124"), read_float("0.1")
    (-6.904473998288712, -6.9044739982887124, 0.1)
    """
    whole, _point, fraction = text.partition(".")
    if len(text) <= SURE and fraction.isdigit() and (value := int(whole + fraction)):
        return value / POWERS[len(fraction)]  # as below, of most scores
    found = NUMBER.fullmatch(text)
    if found is None:
        return float(text)
    sign, whole, fraction, power = found.groups()
    digits = whole + (fraction or "")
    count = min(len(digits), SURE)
    value = int(digits[:count])
    while count < len(digits) and (more := value * 10 + int(digits[count])) <= LARGEST:
        value, count = more, count + 1
    # What does not fit is not there: zeros stand for it.
    number = scaled(float(value), int(power or 0) + len(whole) - count)
    return -number if sign else number


def scaled(number: float, exponent: int) -> float:
    """A number times a power of ten, as it is rounded there."""
    while exponent < -308 and number:
        number /= POWERS[308]
        exponent += 308
    if not number or exponent < -308:
        return 0.0
    if exponent > 308:
        return math.inf
    return number * POWERS[exponent] if exponent >= 0 else number / POWERS[-exponent]
