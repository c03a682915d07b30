"""Fetches one file so that an interruption, even a kill, loses nothing: the next call goes on where it stopped.

What there is lies in `<name>.part`; the name itself appears only when the hash is right. Proxies come from the
environment, certificates from the system and the variables that pip and its friends honour.
"""

import hashlib
import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from harness.setup.plan import Progress, SetupFailed

_CHUNK_BYTES = 1 << 20
_TRIES = 4
_TIMEOUT_SECONDS = 30
_PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE = 206, 416


@dataclass(frozen=True)
class RemoteFile:
    """A file on a server, and what its content has to be."""

    url: str
    name: str
    sha256: str


class NotFetchable(Exception):
    """The server gave us nothing at all: another client (pip itself) may be luckier."""


def fetch(remote: RemoteFile, folder: Path, progress: Progress) -> Path:
    """The file, from `folder` if it is there whole. Raises NotFetchable, or SetupFailed with the way out."""
    path = folder / remote.name
    if path.is_file() and _sha256(path) == remote.sha256:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    _fetch_persistently(remote.url, part, progress)
    if _sha256(part) != remote.sha256:
        part.unlink()
        raise SetupFailed(
            f"'{remote.name}' arrived damaged (its SHA-256 is not {remote.sha256}) and was deleted. "
            "Run setup again; if that does not help, ask whoever runs your package index or proxy."
        )
    part.rename(path)
    return path


def _fetch_persistently(url: str, part: Path, progress: Progress) -> None:
    """Try until the file is whole, as long as tries bring something."""
    at_start = _size(part)
    n_tries_left = _TRIES
    while True:
        before = _size(part)
        try:
            _fetch_rest(url, part, progress)
            return
        except (OSError, http.client.HTTPException) as error:  # URLError and time-outs are OSErrors
            refused = isinstance(error, urllib.error.HTTPError) and error.code < 500
            n_tries_left = _TRIES if _size(part) > before else n_tries_left - 1
            if n_tries_left and not refused:
                time.sleep(0.5 * (_TRIES - n_tries_left))
                continue
            if _size(part) == at_start:
                raise NotFetchable(str(error)) from error
            raise SetupFailed(
                f"The download stopped after {_size(part) / 1e6:.0f} MB ({error}). Run setup again to go on from there."
            ) from error


def _fetch_rest(url: str, part: Path, progress: Progress) -> None:
    """One connection: append what is missing. Raises OSError when it ends too early."""
    have = _size(part)
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=_certificates())
    except urllib.error.HTTPError as error:
        if error.code == _RANGE_NOT_SATISFIABLE and have:
            return  # there is no more: the hash will tell whether it is right
        raise
    with response:
        if have and response.status != _PARTIAL_CONTENT:
            have = 0  # this server cannot go on in the middle
        n_total = have + int(response.headers.get("Content-Length", 0))
        with part.open("ab" if have else "wb") as file:
            while chunk := response.read(_CHUNK_BYTES):
                file.write(chunk)
                have += len(chunk)
                progress.downloaded(have, n_total)
    if have < n_total:
        raise ConnectionError(f"the connection ended after {have} of {n_total} bytes")


def _certificates() -> ssl.SSLContext:
    context = ssl.create_default_context()
    for variable in ("PIP_CERT", "REQUESTS_CA_BUNDLE"):
        if Path(os.environ.get(variable) or "/").is_file():
            context.load_verify_locations(os.environ[variable])
    return context


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
