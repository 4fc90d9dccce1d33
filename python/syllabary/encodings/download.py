"""One file from the network: over https only, bounded in size and time, and its SHA-256 checked.

Leaves out: whether to (`syllabary.encodings.rank_file`, only when asked), and keeping the file (`cache`).
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from hashlib import sha256
from typing import IO
from urllib.parse import urlsplit

from syllabary.encodings.cache import LIMIT, absent

SCHEMES = ("https",)
WAIT = 30.0  # seconds for a connection, and for each part of an answer
SECONDS = 600.0  # for the whole file
PART = 1 << 16


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to a scheme that is allowed: never from https to http or to a local file."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme.lower() not in SCHEMES:
            fp.close()
        check_scheme(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def get(name: str, url: str, digest: str) -> bytes:
    """The file at `url` with the SHA-256 `digest`, for the encoding `name`.

    Raises `UnknownEncodingError`, which says what failed and where to put the file by hand. A file with
    another hash is not given to anyone.
    """
    try:
        data = fetch(url)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise absent(name, url, digest, f"and fetching it failed ({_reason(error)})") from error
    found = sha256(data).hexdigest()
    if found != digest:
        raise absent(
            name, url, digest,
            f"and what came from its address is another file, not kept (SHA-256 {found}, not {digest})",
        )  # fmt: skip
    return data


def fetch(url: str) -> bytes:
    """The bytes at `url`. Raises `OSError` for what the network does, `ValueError` for a scheme or size."""
    check_scheme(url)
    opener = urllib.request.build_opener(_Redirects)
    end = time.monotonic() + SECONDS
    parts: list[bytes] = []
    size = 0
    with opener.open(
        urllib.request.Request(url, headers={"User-Agent": "syllabary"}), timeout=WAIT
    ) as answer:
        while part := answer.read1(PART):
            parts.append(part)
            size += len(part)
            if size > LIMIT:
                raise ValueError(f"it is larger than {LIMIT} bytes")
            if time.monotonic() > end:
                raise TimeoutError(f"it took more than {SECONDS:.0f} seconds")
        expected = answer.headers.get("Content-Length")
    if expected is not None and expected.isdigit() and int(expected) != size:
        raise OSError(f"the connection ended after {size} of {expected} bytes")
    return b"".join(parts)


def check_scheme(url: str) -> None:
    """Raise `ValueError` for an address that is not https."""
    scheme = urlsplit(url).scheme.lower()
    if scheme not in SCHEMES:
        raise ValueError(f"the address {url!r} is not {' or '.join(SCHEMES)}")


def _reason(error: Exception) -> str:
    """What went wrong, on one line."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()
        return f"HTTP {error.code} {error.msg}"
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    return " ".join(str(cause).split()) or type(error).__name__
