"""Writes submissions of every form: folders and zips."""

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.submission import find_submission

MEASURE = b"def complexity(model, dataset):\n    return 1.0\n"


def write_folder(directory: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return directory


def write_zip(path: Path, members: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    """Write a zip with exactly these members, even odd ones."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, content in members:
            archive.writestr(member, content)
    return path


def problem_of(path: Path) -> str:
    """Return why a submission cannot be run; fail if it can."""
    problem = find_submission(str(path)).problem
    assert problem is not None
    return problem
