"""Digests of a task's models and data. They show whether a recorded call is outdated, and which files changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError, writing
from harness.format.fetched import RECORD, Fetched, read_fetched
from harness.format.files import read_json
from harness.format.layout import CONTENTS, INITIAL_WEIGHTS, MODEL_FILES, find_shards, has_shards
from harness.format.problems import InvalidTaskError
from harness.format.shards import count_samples
from harness.task.digests import Digests
from harness.task.layout import TaskFiles
from harness.text import printable


@dataclass(frozen=True)
class Contents:
    """Digests of a task's models and data."""

    models: Mapping[str, str]  #: model id -> digest of its files, as in records
    data: str | None  #: digest of the training shards; None without shards
    without_initial_weights: tuple[str, ...] = ()  #: ids of the models whose weights before training are missing
    n_test: int | None = None  #: number of test examples; None if there are no test data


def read_contents(task: TaskFiles) -> Contents:
    """Return the digests of a task without parsing its files; raises `UserError` if a file cannot be read."""
    with writing(task.directory, problem="cannot be read"):
        with Digests(task.directory) as digests:
            models = {path.name: digests.of_model([path / name for name in MODEL_FILES]) for path in task.models}
        with Digests(task.train) as digests:
            data = digests.of_data(find_shards(task.train)) if has_shards(task.train) else None
    lacking = tuple(path.name for path in task.models if not (path / INITIAL_WEIGHTS).exists())
    return Contents(models, data, lacking, count_test_samples(task.test))


def write_known(reference: Path, contents: Contents) -> None:
    """Write digests of a task, and the size of its test set, into the directory of its reference data."""
    known = {"models": dict(contents.models), "data": contents.data, "n_test": contents.n_test}
    (reference / CONTENTS).write_bytes((json.dumps(known, indent=1) + "\n").encode())


def read_known(reference: Path) -> Contents | None:
    """Return the content of the file of `write_known`; None without the file; raises `UserError` if it is malformed."""
    file = reference / CONTENTS
    if not file.exists():
        return None
    known = read_json(file)
    models, data, n_test = known.get("models"), known.get("data"), known.get("n_test")
    is_size = n_test is None or (type(n_test) is int and 0 < n_test < 2**63)
    if not isinstance(models, dict) or not all(isinstance(it, str) for it in (*models.values(), data)) or not is_size:
        expected = '"models": {"model_0": "SHA-256", ...}, "data": "SHA-256", and perhaps "n_test": a number'
        raise UserError("not the contents of a task", file=file, expected=expected, found=printable(str(known))[:80])
    return Contents(models, data, n_test=n_test)


def unlike_known(reference: Path, files: TaskFiles, found: Contents) -> list[str]:
    """Return a line for each model, and for the training data, that differ from those in the file of `write_known`.

    The reference data in the directory `reference` are then of other networks, or of other training data.
    """
    known = read_known(reference)
    if known is None:
        return []
    pairs = [(files.directory / model, known.models.get(model), digest) for model, digest in found.models.items()]
    if found.data is not None:
        pairs.append((files.train, known.data, found.data))
    problem = f"not as in {reference / CONTENTS}"
    remedy = f"bring the files back, or, if the reference data are of the present files, remove {CONTENTS}"
    return [
        str(UserError(problem, file=path, expected=f"digest {expected[:12]}", found=digest[:12], remedy=remedy))
        for path, expected, digest in pairs
        if expected not in (None, digest)
    ]


def read_like_known(reference: Path, files: TaskFiles) -> Contents:
    """Return the digests as `read_contents` does; raise `InvalidTaskError` with the lines of `unlike_known`, if any."""
    found = read_contents(files)
    if problems := unlike_known(reference, files, found):
        raise InvalidTaskError(problems)
    return found


def count_test_samples(directory: Path) -> int | None:
    """Return the number of examples in a directory of shards; None if it has no shards."""
    return sum(map(count_samples, find_shards(directory))) if has_shards(directory) else None


#: Remedy if a file is damaged or missing.
_REMEDY = "remove the file and fetch the task again"


def origin_of(files: TaskFiles) -> Fetched | None:
    """Return the content of a downloaded task's `fetched.json`; None for other tasks; raises `UserError` if invalid."""
    return None if files.reference is None else read_fetched(files.reference.parent / RECORD)


def changed_since_fetched(files: TaskFiles) -> list[str]:
    """Return a line for each file of a downloaded task that was changed, added or removed afterwards."""
    try:
        fetched = origin_of(files)
    except UserError:  # the reader of the reference data reports it
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
    shards = [shard for part in (files.train, files.test) if has_shards(part) for shard in find_shards(part)]
    return shards + [file for model in files.models for name in MODEL_FILES if (file := model / name).exists()]
