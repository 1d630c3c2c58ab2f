"""Tests of submissions that are symbolic links: refused in one line, wherever a submission is named."""

import os
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from in_process import Pgdl, Record
from throwaway import make_task, write_submission

from harness.inspector.archive import read_zip
from harness.inspector.folder import read_file, read_folder
from harness.inspector.main import inspect
from harness.records import Records
from harness.submission import find_submission
from tests.records.evaluation_rows import evaluation

SECRET = "0123456789-A-SECRET"


@pytest.fixture
def drop(folder: Path) -> Path:
    """A directory with symbolic links to a file, a zip, a folder, a missing file, and another link."""
    (folder / "key").write_text(SECRET)
    (folder / "key").chmod(0o600)
    (folder / "alice").mkdir()
    write_submission(folder / "alice", "complexity")
    (folder / "drop").mkdir()
    for link, target in (("mallory.py", "key"), ("mallory.zip", "key"), ("eve", "alice"), ("gone.py", "nothing")):
        (folder / "drop" / link).symlink_to(folder / target)
    (folder / "drop" / "around").symlink_to("eve")
    return folder / "drop"


FORMS = [
    "mallory.py", "mallory.py/", "mallory.zip", "eve", "eve/", "eve/.", "eve/./", "../drop//eve", "around", "gone.py",
]  # fmt: skip


@pytest.mark.rest
def test_it_is_refused_and_nothing_is_recorded(drop: Path, pgdl: Pgdl, record: Record) -> None:
    make_task(drop.parent, n_models=1)
    results = record([evaluation(submission="alice", task="tiny", model="model_0")])
    problem = "cannot be read: expected a regular file, found a symbolic link; name the file itself\n"
    for command, form in product(("run", "check", "report", "score"), FORMS):
        refusal = pgdl(command, f"drop/{form}", "--tasks", "tiny").refusal()
        assert (refusal.endswith(problem), SECRET in refusal) == (True, False), (command, form)
    with Records(str(results)) as records:
        assert [row.submission for row in records.newest_of()] == ["alice"]
        assert not records.requests()


def test_links_among_the_directories_are_followed(drop: Path) -> None:
    """A complexity.py has the name of its directory as it was given."""
    for form, name, source in (("eve/../alice", "alice", "alice"), ("eve/complexity.py", "eve", "alice/complexity.py")):
        submission = find_submission(str(drop / form))
        assert (submission.name, submission.source) == (name, str(drop.parent / source))


@pytest.mark.parametrize(
    ("read", "name"), [(read_file, "margin.py"), (read_zip, "margin.zip"), (read_folder, "margin")]
)
@pytest.mark.parametrize("when", ["before it is looked at", "when it is opened"])
def test_what_a_link_replaces_while_it_is_read_is_not_followed(
    read: Callable[..., None], name: str, when: str, drop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drop / name
    opened = os.open

    def replace() -> None:
        path.rmdir() if path.is_dir() else path.unlink()
        path.symlink_to(drop.parent / ("key" if path.suffix else "alice"))

    def replaced(*arguments: object, **options: object) -> int:
        replace()
        return opened(*arguments, **options)  # type: ignore[arg-type]

    path.touch() if path.suffix else path.mkdir()
    if when == "when it is opened":
        monkeypatch.setattr(os, "open", replaced)
    else:
        replace()
    answer = inspect(read, str(path))
    assert not answer.files
    assert answer.unreadable is not None or "found a link" in (answer.problem or "")
