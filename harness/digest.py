"""Digests of files."""

import hashlib
from collections.abc import Iterable


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the SHA-256 (hex) of paths and contents, in the given order; lengths keep them apart."""
    digest = hashlib.sha256()
    for path, content in files:
        digest.update(f"{len(path.encode())} {path} {len(content)} ".encode() + content)
    return digest.hexdigest()
