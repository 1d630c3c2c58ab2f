"""Digests of files, and of the harness' own code."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from harness.reading import open_regular


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the SHA-256 (hex) of paths and contents, in the given order; lengths keep them apart."""
    digest = hashlib.sha256()
    for path, content in files:
        digest.update(f"{len(path.encode())} {path} {len(content)} ".encode() + content)
    return digest.hexdigest()


def digest_of_file(file: Path) -> str:
    """Return the SHA-256 (hex) of a file's content; raises `UserError` if it is not a file, or cannot be opened."""
    with open_regular(file, links=True) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def digest_of_code(*packages: Path) -> str:
    """Return the SHA-256 (hex) of the modules directly in some packages."""
    files = [file for package in packages for file in sorted(package.glob("*.py"))]
    return digest_of((f"{file.parent.name}/{file.name}", file.read_bytes()) for file in files)
