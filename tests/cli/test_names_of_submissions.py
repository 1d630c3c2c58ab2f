"""Tests of the owner of a name when another submission claims the name."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.api.submissions import settle_names
from harness.errors import UserError, UserErrors
from harness.records import Records
from harness.submission import find_submission
from tests.records.evaluation_rows import evaluation, request
from tests.throwaway import write_submission

MISTAKEN = "another submission is called 'margin'"


@pytest.fixture
def records(folder: Path) -> Records:
    return Records(str(folder / "results.db"))


def submission(path: Path, content: str = "1.0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_submission(path.parent, path.stem, f"return {content}")


def settle(records: Records, *paths: Path) -> tuple[list[Path], list[Path]]:
    """Settle the names of submissions of one command, as `pgdl run` does; return the accepted and the refused ones."""
    found = [find_submission(str(path)) for path in paths]
    settled, _, refused = settle_names(found, records, given=False)
    return [Path(one.source) for one in settled], [Path(line.partition(": ")[0]) for line in refused]


def run(path: Path, records: Records, name: str | None = None) -> Sequence[str]:
    """Settle the submission's name, and record a request; return the notes for the user."""
    settled, notes, refused = settle_names([find_submission(str(path), name)], records, given=name is not None)
    if refused:
        raise UserErrors(*refused)
    row = evaluation(submission=settled[0].name, submission_digest=settled[0].digest)
    records.ask([request(row, source=settled[0].source)])
    return notes


def test_a_changed_file_is_a_new_version_of_itself_and_going_back_is_said(folder: Path, records: Records) -> None:
    path = submission(folder / "a" / "margin.py")
    assert [*run(path, records), *run(path, records)] == []
    (note,) = run(submission(path, "2.0"), records)
    assert re.fullmatch(r"margin: version \S+ is new; the board shows it from now on", note)
    (note,) = run(submission(path), records)
    assert " is requested again after " in note


def test_another_file_or_folder_of_the_same_name_is_refused(folder: Path, records: Records) -> None:
    mine, theirs = submission(folder / "a" / "margin.py"), submission(folder / "b" / "margin.py", "2.0")
    run(mine, records)
    with pytest.raises(UserError) as error:
        run(theirs, records)
    assert str(error.value) == (
        f"{theirs}: another submission is called 'margin': {mine}; "
        "rename it, or name it with --as NAME; only if both are of one author, --as 'margin' makes it a new version"
    )
    thief = submission(folder / "thief" / "complexity.py", "2.0").parent
    (thief / "metadata").write_text("name: margin\n")
    with pytest.raises(UserError, match=MISTAKEN):
        run(thief, records)
    assert run(theirs, records, "other") == []
    assert len(run(theirs, records, "margin")) == 1, "who runs it has said so"


def test_a_copy_elsewhere_and_a_name_that_could_be_mistaken_own_nothing(folder: Path, records: Records) -> None:
    """A copy of the current file is the same submission. A copy of an earlier or a changed file is refused."""
    path, copy = submission(folder / "a" / "margin.py"), submission(folder / "copy" / "margin.py")
    for content in ("1.0", "2.0"):
        run(submission(path, content), records)
    assert run(submission(copy, "2.0"), records) == []
    for content in ("1.0", "3.0"):
        with pytest.raises(UserError, match=MISTAKEN):
            run(submission(copy, content), records)
    for name in ("Margin", "margin.", "mar-gin", "margin_"):
        with pytest.raises(UserError, match=f"could be mistaken for 'margin', which is recorded here: {path}; "):
            run(submission(folder / "b.py", "2.0"), records, name)


@pytest.mark.parametrize("names", [("margin.py", "margin.py"), ("Margin.py", "margin.py"), ("大.py", "小.py")])
def test_of_submissions_that_share_a_name_only_the_recorded_one_is_accepted(
    names: tuple[str, str], folder: Path, records: Records
) -> None:
    first, second = (submission(folder / place / name, place) for place, name in zip("12", names, strict=True))
    assert settle(records, first, second) == ([], [first, second])
    assert settle(records, first, first) == ([first], [])
    run(second, records)
    submission(second, "3")
    assert settle(records, first, second) == ([second], [first])


@pytest.mark.parametrize("claim", ["honest", "Hone-st"])
def test_a_name_in_metadata_takes_no_name_from_a_file_of_the_same_command(
    claim: str, folder: Path, records: Records
) -> None:
    """Otherwise, a participant could have another participant left out."""
    honest, *thieves = (folder / place for place in ("honest", "1", "2"))
    for place in (honest, *thieves):
        submission(place / "complexity.py", place.name if place in thieves else "0")
    (honest / "metadata").write_text("name: Honest\n")
    for thief in thieves:
        (thief / "metadata").write_text(f"name: {claim}\n")
    assert settle(records, honest, *thieves) == settle(records, *thieves, honest) == ([honest], thieves)
    assert settle(records, *thieves) == ([], thieves)
    other = submission(folder / "elsewhere" / "honest.py", "3")
    assert settle(records, honest, other) == ([], [honest, other])
    run(thieves[0], records)
    assert settle(records, honest, thieves[0]) == ([thieves[0]], [honest]), "who has the name already keeps it"
