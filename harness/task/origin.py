"""Whether a fetched task is still what was fetched."""

from pathlib import Path

from harness.errors import UserError
from harness.format.fetched import RECORD, Fetched, read_fetched
from harness.format.layout import MODEL_FILES, find_shards, has_shards
from harness.task.digests import Digests
from harness.task.layout import TaskFiles

#: What to do about a file that is damaged, or gone.
_REMEDY = "remove the file and fetch the task again"


def origin_of(files: TaskFiles) -> Fetched | None:
    """Return where a task was fetched from; None for another task. Raises `UserError` for an invalid record."""
    return None if files.reference is None else read_fetched(files.reference.parent / RECORD)


def changed_since_fetched(files: TaskFiles) -> list[str]:
    """Return a line for each file that is not as it was fetched; every file is read once, unless it is known.

    None if the record is invalid: that is a problem of the reference data.
    """
    try:
        fetched = origin_of(files)
    except UserError:
        fetched = None
    if fetched is None or files.reference is None:
        return []
    expected = {files.directory / path: file.sha256 for path, file in fetched.files.items()}
    expected[files.reference] = fetched.reference_sha256
    problems = [
        str(UserError("was not fetched with the task", file=file, remedy="remove it"))
        for file in _files_of(files) if file not in expected
    ]  # fmt: skip
    with Digests(files.directory) as digests:
        for file, digest in expected.items():
            found = digests.of(file) if file.is_file() else "no file"
            if found != digest:
                problem = "not as it was fetched"
                error = UserError(problem, file=file, expected=f"SHA-256 {digest}", found=found, remedy=_REMEDY)
                problems.append(str(error))
    return problems


def _files_of(files: TaskFiles) -> list[Path]:
    """Return the files that the task consists of."""
    shards = [shard for part in (files.train, files.test) if has_shards(part) for shard in find_shards(part)]
    return shards + [file for model in files.models for name in MODEL_FILES if (file := model / name).exists()]
