"""Files that often lie in the place of another kind: what they are shows in their first bytes, and what to do is known.

Nothing of such a file is quoted: it may be anybody's.
"""

from codecs import BOM_UTF8
from pathlib import Path

from harness.errors import UserError

#: Bytes that tell the kinds apart.
START = 64

#: What lies in a zip archive of PyTorch, and what its owner needs.
TORCH = "data.pkl"
_TORCH = ("a file of PyTorch", 'docs/your-own-models.md, "A PyTorch user", shows the way')

#: Beginning -> what such a file is, and what to do with it.
_KINDS = {
    b"\x1f\x8b": ("a file compressed with gzip", "decompress it (gunzip)"),
    b"BZh": ("a file compressed with bzip2", "decompress it (bunzip2)"),
    b"\xfd7zXZ": ("a file compressed with xz", "decompress it (unxz)"),
    b"\x28\xb5\x2f\xfd": ("a file compressed with zstd", "decompress it (unzstd)"),
    b"version https://git-lfs": ("a pointer of Git LFS", "git lfs pull fetches the file itself"),
    b"/annex/objects/": ("a pointer of git-annex", "git annex get fetches the file itself"),
    b"<!doctype html": ("a web page", "download the file itself"),
    b"<html": ("a web page", "download the file itself"),
    b"\x80\x02": _TORCH,
}


def kind_of(start: bytes) -> tuple[str, str] | None:
    """Return the kind of a file by its first bytes, in words, and what to do with it; None for any other file."""
    begins = start.removeprefix(BOM_UTF8).lstrip().lower()
    return next((said for beginning, said in _KINDS.items() if begins.startswith(beginning.lower())), None)


def require_own_kind(what: str, start: bytes, *, file: Path | None, expected: str) -> None:
    """Raise `UserError` if a file begins like one of the known kinds."""
    if kind_of(start):
        raise other_kind(what, start, file=file, expected=expected)


def other_kind(what: str, start: bytes, *, file: Path | None, expected: str, remedy: str | None = None) -> UserError:
    """Return the error for a file that begins otherwise than expected; `remedy` is for kinds that are not known."""
    otherwise = ("a file that starts otherwise" if start else "an empty file", remedy)
    found, to_do = kind_of(start) or otherwise
    return UserError(what, file=file, expected=expected, found=found, remedy=to_do)


def refuse_torch(names: list[str]) -> None:
    """Raise `UserError` if the members of a zip archive are those of a file of PyTorch."""
    if any(name.rpartition("/")[2] == TORCH for name in names):
        found, remedy = _TORCH
        raise UserError("another kind of archive", expected="one of Keras or NumPy", found=found, remedy=remedy)
