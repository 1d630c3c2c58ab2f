"""Tests of the owner of a name when another submission claims the name."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.api.submissions import settle_names
from harness.errors import UserError, UserErrors
from harness.records import Records
from harness.submission import find_submission
from tests.records.evaluation_rows import evaluation, request
from tests.throwaway import write_submission


@pytest.fixture
def records(folder: Path) -> Records:
    return Records(str(folder / "results.db"))


def submission(path: Path, content: str = "1.0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_submission(path.parent, path.stem, f"return {content}")


def run(path: Path, records: Records, name: str | None = None) -> Sequence[str]:
    """Settle the submission's name, as `pgdl run` does, and record a request; return the notes for the user."""
    found = find_submission(str(path), name)
    settled, notes, refused = settle_names([found], records, given=name is not None)
    if refused:
        raise UserErrors(*refused)
    row = evaluation(submission=settled[0].name, submission_digest=settled[0].digest)
    records.ask([request(row, source=settled[0].source)])
    return notes


def test_a_changed_file_is_a_new_version_of_itself_and_going_back_is_said(folder: Path, records: Records) -> None:
    path = submission(folder / "a" / "margin.py")
    assert run(path, records) == []
    assert run(path, records) == []
    (note,) = run(submission(path, "2.0"), records)
    assert note.startswith("margin: version ")
    assert note.endswith(" is new; the board shows it from now on")
    (note,) = run(submission(path), records)
    assert " is requested again after " in note


def test_another_file_of_the_same_name_is_refused(folder: Path, records: Records) -> None:
    """A folder whose metadata have the name is refused, too."""
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
    with pytest.raises(UserError, match="another submission is called 'margin'"):
        run(thief, records)
    assert run(theirs, records, "other") == []
    assert len(run(theirs, records, "margin")) == 1, "who runs it has said so"


def test_a_copy_elsewhere_owns_nothing(folder: Path, records: Records) -> None:
    """A copy of the current file is the same submission. A copy of an earlier or a changed file is refused."""
    path, copy = submission(folder / "a" / "margin.py"), submission(folder / "copy" / "margin.py")
    for content in ("1.0", "2.0"):
        run(submission(path, content), records)
    assert run(submission(copy, "2.0"), records) == []
    for content in ("1.0", "3.0"):
        with pytest.raises(UserError, match="another submission is called 'margin'"):
            run(submission(copy, content), records)


@pytest.mark.parametrize("name", ["Sharp", "sharp.", "sha-rp", "sharp_"])
def test_a_name_that_could_be_mistaken_is_refused(name: str, folder: Path, records: Records) -> None:
    run(submission(folder / "a.py"), records, "sharp")
    with pytest.raises(UserError, match=f"could be mistaken for 'sharp', which is recorded here: {folder}/a.py; "):
        run(submission(folder / "b.py", "2.0"), records, name)


@pytest.mark.parametrize("names", [("margin.py", "margin.py"), ("Margin.py", "margin.py"), ("大.py", "小.py")])
def test_of_submissions_that_share_a_name_only_the_recorded_one_is_accepted(
    names: tuple[str, str], folder: Path, records: Records
) -> None:
    paths = [submission(folder / place / name, place) for place, name in zip("12", names, strict=True)]

    def settle(*of: Path) -> tuple[list[str], list[str]]:
        found = [find_submission(str(path)) for path in of]
        settled, _, refused = settle_names(found, records, given=False)
        return [one.source for one in settled], [line.partition(": ")[0] for line in refused]

    first, second = map(str, paths)
    assert settle(*paths) == ([], [first, second])
    assert settle(paths[0], paths[0]) == ([first], [])
    run(paths[1], records)
    submission(paths[1], "3")
    assert settle(*paths) == ([second], [first])


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

    def settle(*paths: Path) -> list[str]:
        found = [find_submission(str(path)) for path in paths]
        settled, _, refused = settle_names(found, records, given=False)
        assert len(settled) + len(refused) == len(paths)
        return [one.source for one in settled]

    assert settle(honest, *thieves) == settle(*thieves, honest) == [str(honest)]
    assert settle(*thieves) == []
    submission(folder / "elsewhere" / "honest.py", "3")
    assert settle(honest, folder / "elsewhere" / "honest.py") == []
    run(thieves[0], records)
    assert settle(honest, thieves[0]) == [str(thieves[0])], "who has the name already keeps it"
