"""Tests of collecting results from the platform: a database, a verified site, and no forged results."""

import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from organised import GOOD, RIGHT, WRONG, pack

import pgdl
from harness.codabench import collection
from harness.codabench.results import KILLED, RECORDS
from harness.errors import UserError
from harness.format.archive import read_member
from harness.outcome import Outcome
from harness.records import Records
from harness.submission import find_submission

#: `RIGHT`, but for the last digits.
NEAR = [1e-9 + value for value in RIGHT]


def board(bundled):
    rows = pgdl.board(tasks_dir=bundled / "task_data", task_names=["tiny"], results="results.db").board.rows
    scores = [None if row.score is None else round(row.score, 6) for row in rows]
    return [(row.submission, score) for row, score in zip(rows, scores, strict=True)]


@pytest.fixture
def again(monkeypatch, phases):
    """The values that repeated calls return, in the order of the models; no sandbox runs."""
    values = list(RIGHT)

    def made_again(drawn, *_):
        numbers = dict(zip(phases[0].tasks["tiny"].models, values, strict=True))
        return {("tiny", row.model): replace(row, value=numbers[row.model]) for row in drawn}

    monkeypatch.setattr(collection, "made_again", made_again)
    return values


def call(number, value, machine="same"):
    ended = {"outcome": Outcome.OK, "environment": {"machine_class": machine}}
    return SimpleNamespace(task="tiny", model=f"model_{number}", value=value, **ended)


def descriptions():
    with Records("results.db", read_only=True) as records:
        return [asked.description for asked in records.requests()]


def test_the_board_and_a_verified_site_are_built_and_a_machine_that_fails_accuses_nobody(
    export, collect, bundled, pgdl, again, monkeypatch
):
    export("ann", RIGHT)
    export("bob", RIGHT, body="return 2.0")
    right = collection.made_again

    def fail(drawn, submission, *others):
        made = right(drawn, submission, *others)
        failed = {where: replace(row, outcome=Outcome.INFRA_ERROR, value=None) for where, row in made.items()}
        return failed if submission.name == "bob" else made

    with monkeypatch.context() as patched:
        patched.setattr(collection, "made_again", fail)
        ended = collect()
    assert (ended.code, "bob: left out: the machine failed on tiny/model_" in ended.err) == (0, True)
    ended = collect("--html", "site")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "Feedback: 2 submissions, 8 new calls in results.db; 16 calls made again"
    assert ended.out.splitlines()[1].startswith("Written and verified: site, digest of all records: ")
    assert board(bundled) == [("ann", 100), ("bob", 100)]
    assert pgdl("verify", "site").code == 0


@pytest.mark.rest
def test_calls_are_really_made_again(export, collect, bundled, folder):
    """Eve's measure does not return the values in her result, Ann's measure does."""
    export("eve", RIGHT)
    ended = collect()
    line, last = ended.err.splitlines()
    assert (ended.code, last) == (2, "no result can be used")
    assert "eve: left out: 8 of 8 calls that were made again do not confirm it: found tiny/model_" in line
    refused = "exports/results/eve.refused: was refused before; remove this file to try again"
    assert f"eve: left out: {refused}" in collect().err
    own = {"tasks_dir": bundled / "task_data", "task_names": ["tiny"], "results": "own.db"}
    assert pgdl.run(str(pack(folder, "ann", "return 1.0")), **own).tally.total == 8
    (folder / "exports/eve.zip").unlink()
    export("ann", [1.0] * 8, body="return 1.0")
    assert "1 submission, 8 new calls in results.db; 8 calls made again" in collect().out


@pytest.mark.rest
def test_a_row_that_nobody_proved_says_so_until_it_is_proved_or_refused(export, collect, again):
    export("ann", RIGHT)
    assert "8 new calls in results.db; none of them made again" in collect("--rerun", "0").out
    assert descriptions() == [collection.UNPROVED]
    again[:] = WRONG
    ended = collect("--html", "site")
    assert (ended.code, list(Path("site").iterdir())) == (2, [])
    assert "results.db: has rows of ann; collect into another database" in ended.err
    again[:] = RIGHT
    Path("exports/results/ann.refused").unlink()
    for share, said in (("0", collection.UNPROVED), ("1", ""), ("0", "")):
        assert collect("--rerun", share).code == 0
        assert descriptions() == [said]


@pytest.mark.rest
def test_a_later_submission_of_a_refused_participant_is_checked_anew(export, collect, bundled, again):
    """The refused result stays refused, even if it is handed in again."""
    for values, body, said in (
        (WRONG, GOOD, "calls that were made again do not confirm it"), (RIGHT, "return 2.0", ""),
        (WRONG, GOOD, "was refused before"),
    ):  # fmt: skip
        export("ann", values, body=body)
        assert said in collect().err
    assert board(bundled) == [("ann", 100)]


@pytest.mark.rest
def test_the_board_follows_a_participant_back_to_an_earlier_version(export, collect, bundled):
    for values, body in ((RIGHT, GOOD), (WRONG, "return 2.0"), (RIGHT, GOOD)):
        export("ann", values, body=body)
        assert collect("--rerun", "0").code == 0
    assert board(bundled) == [("ann", 100)]


def test_what_was_interrupted_between_two_writes_is_completed_by_the_same_command(export, collect, monkeypatch, again):
    export("ann", RIGHT)
    insert, written = Records._insert, list[str]()

    def fail_at_second(self, table, rows):
        written.append(table.name)
        if len(written) == 2:
            raise UserError("interrupted")
        insert(self, table, rows)

    with monkeypatch.context() as patched:
        patched.setattr(Records, "_insert", fail_at_second)
        assert "interrupted" in collect().refusal()
    assert collect().code == 0
    with Records("results.db", read_only=True) as records:
        assert (len(list(records.newest_of())), len(records.requests())) == (8, 1)


def test_on_another_class_of_machines_values_may_differ_in_their_last_digits_but_not_in_their_order():
    close = [1.0 + 1e-8 * number for number in range(8)]
    for there, here, machine, differ in (
        (RIGHT, RIGHT, "same", 0), (RIGHT, NEAR, "same", 8), (RIGHT, NEAR, "other", 0),
        (RIGHT, [1e-3 + value for value in RIGHT], "other", 8), (RIGHT, [None] * 8, "other", 8),
        (close, [1.0] * 8, "other", 7),
        # Each value here is in order with the other recorded value, but the two values here are not.
        ([1.0, 1.0 + 4e-9], [1.0 + 3e-9, 1.0 + 1e-9], "other", 2),
    ):  # fmt: skip
        drawn = [call(number, value) for number, value in enumerate(there)]
        made = [call(number, value, machine) for number, value in enumerate(here)]
        found = collection.differences(drawn, drawn, {(row.task, row.model): row for row in made})
        assert len(found) == differ, (there, here, machine)


def test_calls_are_drawn_at_random():
    rows = [call(number, 1.0) for number in range(1000)]
    drawn = [tuple(row.model for row in collection.draw(rows, 0.1)) for _ in range(2)]
    assert [len(set(names)) for names in drawn] == [100, 100]
    assert set(drawn[0]) != set(drawn[1])
    sizes = [len(collection.draw(some, share)) for some, share in ((rows, 0), (rows[:20], 0.1), (rows[:5], 1))]
    assert sizes == [0, 8, 5]


@pytest.mark.rest
def test_what_is_missing_is_no_value_and_failures_are_failures(export, collect, bundled, again):
    export("ann", RIGHT[:5])
    export("bob", RIGHT[:3], ended=KILLED, body="return 2.0")
    export("carla", [*RIGHT[:7], None], body="return 3.0")
    export("dan", [None] * 8, outcome=Outcome.INFRA_ERROR, body="return 4.0")
    assert "dan: left out: exports/results/dan.zip: no calls were made" in collect().err
    assert sorted(board(bundled)) == [("ann", None), ("bob", None), ("carla", 0)]


def test_a_result_whose_time_ended_before_the_last_task_counts(export, phases):
    """The container requests the calls on all tasks before it makes the first call."""
    file, settings = export("ann", RIGHT), phases[0]
    columns = (
        "submission, submission_digest, source, is_baseline, configuration, settings, deterministic, team, "
        "description, paper, requested_at"
    )
    for task in ("second", "unknown"):
        copy = f"insert into requests (task, {columns}) select '{task}', {columns} from requests where task = 'tiny'"
        edited(file, RECORDS, executed(copy))
    both = settings.model_copy(update={"tasks": settings.tasks | {"second": settings.tasks["tiny"]}})
    rows, requests = collection.read_records(file, find_submission("exports/ann.zip", "ann"), both, {})
    assert [row.value for row in rows] == RIGHT
    assert [request.task for request in requests] == ["tiny", "second"]


def test_only_records_are_unpacked_and_what_they_say_of_a_submission_is_ignored(export, collect, monkeypatch, again):
    file, taken = export("ann", RIGHT), []
    edited(file, RECORDS, executed("update requests set team = 'Others'"))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large.predict", bytes(1000))
    monkeypatch.setattr(collection, "read_member", lambda *a: (taken.append(a[1]), read_member(*a))[1])
    assert collect().code == 0
    assert taken == [RECORDS]
    with Records("results.db", read_only=True) as records:
        assert [asked.team for asked in records.requests()] == [""]


def edited(archive: Path, member: str, change: Callable[[Path], object]) -> None:
    place = archive.with_suffix("")
    shutil.unpack_archive(archive, place)
    change(place / member)
    shutil.make_archive(str(place), "zip", place)
    shutil.rmtree(place)


def executed(statement: str, *values: object) -> Callable[[Path], None]:
    """Return a function that executes the statement on a database file."""

    def change(database: Path) -> None:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute(statement, values)
            connection.commit()

    return change


#: How a result is forged (a change of its database, or of columns of its records), and the refusal.
WRONGS = (
    (executed("update evaluations set message = ?", "x" * 4 * 1024**2), "records.db: expected at most 2097152 bytes"),
    (executed("update evaluations set started_at = 'soon'"), ""),
    (executed("update evaluations set environment = '[1]'"), ""),
    (executed("delete from requests"), "not every task has a request"),
    (executed("create view more as select 1"), "more: expected plain tables and indices"),
    (lambda file: file.write_bytes(b"no database"), "records.db: "),
    (Path.unlink, "member records.db: expected one of this name"),
    ({"data_digest": "0" * 64}, "calls on models or data that the phase does not have: found tiny"),
    ({"task": "secret"}, "calls on models or data that the phase does not have: found secret"),
    ({"time_limit_s": 900.0}, "calls with limits that differ from the limits of the phase"),
    ({"sandbox": "none"}, "calls with limits that differ from the limits of the phase"),
    ({"is_baseline": True}, "calls of several submissions, or recorded twice"),
)


@pytest.mark.rest
def test_what_is_no_result_of_the_phase_is_a_line_about_its_participant(export, collect, bundled, again):
    for number, (change, _) in enumerate(WRONGS):
        columns = change if isinstance(change, dict) else {}
        file = export(f"eve{number:02}", RIGHT, body=f"return {number + 3}.0", **columns)
        if callable(change):
            edited(file, RECORDS, change)
    export("ann", RIGHT)
    ended = collect()
    lines = ended.err.splitlines()
    assert (ended.code, len(lines)) == (0, len(WRONGS)), ended.err
    for number, (_, said) in enumerate(WRONGS):
        assert f"eve{number:02}: left out: " in lines[number]
        assert said in lines[number]
    assert board(bundled) == [("ann", 100)]


def test_a_stolen_result_one_without_its_submission_or_the_other_way_is_a_line_and_a_hidden_phase_has_none(
    export, collect, bundled, again, folder, pgdl
):
    for number, name in enumerate(("ann", "eve", "zoe")):
        export(name, RIGHT, body=f"return {number}.0")
    exports = folder / "exports"
    shutil.copy(exports / "results/ann.zip", exports / "results/eve.zip")
    (exports / "results/zoe.zip").unlink()
    (exports / "bob.zip").write_bytes(b"PK\x03\x04 cut off")
    (exports / "readme.zip").write_bytes(b"")
    ended = collect()
    said = "its records are not of its own files: found the files of ann"
    assert f"eve: left out: exports/results/eve.zip: {said}" in ended.err
    lines = ended.err.splitlines()
    assert [line.split(": left out")[0].split()[-1] for line in lines] == ["bob", "readme", "eve", "zoe"], ended.err
    assert board(bundled) == [("ann", 100)]
    err = pgdl("codabench", "collect", bundled / "competition.toml", "exports", "--phase", "Final").refusal()
    assert "phase 'Final' is hidden: it has no results on the platform; `pgdl codabench submissions`" in err
