"""Tests of `pgdl ci` without calls: records that count, withheld content, and mistakes in one line."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from in_process import Ended, Pgdl

from harness.api.ci_calls import find_failures, records_of
from harness.cli.ci import command
from harness.outcome import Outcome
from harness.records import Records
from harness.submission.submission import Submission
from tests.board.board_examples import GAPS, rows, write_reference
from tests.ci.repositories import MEASURE, Repo
from tests.records.evaluation_rows import evaluation, request

CODE = MEASURE.format("1.0")
MINE = Submission("mine", {"complexity.py": CODE.encode()}, source="submissions/mine.py")


@pytest.fixture
def repo(folder: Path) -> Repo:
    """The current directory as a repository with one submission, and a task with reference data but no models."""
    write_reference(folder / "task_data")
    made = Repo(folder)
    made.commit({"submissions/mine.py": CODE}, branch="main")
    return made


def written(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "out" / name).read_text())
    return content


@pytest.fixture
def job(pgdl: Pgdl) -> Callable[..., Ended]:
    """Return a function that runs `pgdl ci --base BASE --head HEAD --output out ARGUMENTS`."""

    def run(*arguments: object, base: str = "main", head: str = "main", code: int = 0) -> Ended:
        ended = pgdl("ci", "--base", base, "--head", head, "--output", "out", *arguments)
        assert ended.code == code, ended.err
        return ended

    return run


def test_only_records_of_the_revision_count_under_a_name(repo, folder, job, record):
    record([*rows("mine", submission_digest="another"), *rows("theirs"), *rows("vc_dim", is_baseline=True)])
    job()
    board = written(folder, "leaderboard.json")
    assert [row["submission"] for row in board["rows"]] == ["vc_dim"]
    assert "no record of the present version of mine; pgdl ci without --base makes them" in board["remarks"]
    record([*rows("mine", submission_digest=MINE.digest), *rows("mine", submission_digest="older", seed=1)])
    job()
    found = written(folder, "leaderboard.json")["rows"]
    assert [row["version"] for row in found if row["submission"] == "mine"] == [MINE.digest]
    assert (folder / "out" / "site" / "index.html").is_file()
    assert "No submission is touched." in (folder / "out" / "comment.md").read_text()


def test_what_a_job_prints_without_a_directory_or_quietly(repo, pgdl, record, folder):
    record(rows("mine", submission_digest=MINE.digest))
    ended = pgdl("ci", "--base", "main", "--head", "main")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.endswith("For the leaderboard, the site and the comment, add --output DIR.\n")
    assert "calls are recorded" not in ended.err  # no call was made
    record(rows("mine", submission_digest=MINE.digest))
    line = ["ci", "--base", "main", "--head", "main", "--output", "out", "--add-records", "results.db", "--results"]
    loud, quiet = pgdl(*line, "loud.db").err, pgdl(*line, "quiet.db", "--quiet")
    assert ("8 records added from results.db" in loud, "Written: " in loud) == (True, True)
    assert quiet == (0, "", "")


def test_other_settings_have_no_rows(repo, folder, job, record):
    """A job reports calls with its own seed and limits, even if a later request (of 2099) has another seed."""
    made = [*rows("mine", submission_digest=MINE.digest, run_seed=2), *rows("mine", submission_digest=MINE.digest)]
    asked = [request(made[0]), request(made[8], requested_at=datetime(2099, 1, 1, tzinfo=UTC))]
    with Records(str(record([*made, *rows("vc_dim", is_baseline=True)]))) as records:
        records.ask(asked)
    job("--seed", "2")
    found = written(folder, "leaderboard.json")["rows"]
    assert [(row["submission"], row["configuration"]["run_seed"]) for row in found] == [("mine", 2)]


def test_of_rows_that_a_job_does_not_tell_apart_the_last_one_asked_for_is_reported(repo, folder, job, record):
    """Without --memory, a job accepts any memory limit. The request that was written last counts, whatever its time."""
    repo.commit({"README.md": ""}, repo.git("rev-parse", "main"), branch="removed")
    low = rows("mine", submission_digest=MINE.digest, memory_limit_bytes=2 * 1024**3)
    high = rows("mine", GAPS, submission_digest=MINE.digest)
    asked = [request(low[0], requested_at=datetime(2099, 1, 1, tzinfo=UTC)), request(high[0])]
    with Records(str(record([*low, *high]))) as records:
        records.ask(asked)
    job(head="removed")
    (line,) = written(folder, "report.json")["lines"]
    assert (line["change"], round(line["score_before"])) == ("removed", 100)


def test_where_records_of_others_are_missing_there_is_no_rank(repo, folder, job, record):
    """Records of other submissions are missing, for instance, after GitHub has evicted the cache."""
    mine = {"submissions/mine.py": CODE}
    other = repo.commit(mine | {"submissions/other.py": CODE}, "main")
    repo.commit(mine, other, branch="gone")
    half = rows("mine", {"model_0": 1.0}, submission_digest=MINE.digest)
    record([*half, *rows("other", submission_digest=MINE.digest)])
    ended = job(base=other, head="gone", code=1)
    assert "pgdl: no rank: records of mine are missing" in ended.err
    report = written(folder, "report.json")
    assert (report["missing"], [line["rank_before"] for line in report["lines"]]) == (["mine"], [None])
    comment = (folder / "out" / "comment.md").read_text()
    assert "### No ranks: records of these submissions are missing\n\n- `mine`" in comment
    assert "All rules are kept" not in comment


def test_a_renamed_submission_keeps_its_rank_and_equals_another_one(repo, folder, job, record, monkeypatch):
    """The report has one line for both names. The job makes no call here, since the records exist."""
    base = repo.commit({"submissions/mine.py": CODE, "submissions/copy.py": CODE}, "main")
    repo.commit({"submissions/his.py": CODE, "submissions/copy.py": CODE}, base, branch="renamed")
    names = ("mine", "his", "copy")
    record([one for name in names for one in rows(name, submission_digest=MINE.digest)])
    monkeypatch.setattr("harness.api.ci._call", lambda *_: ())
    job(base=base, head="renamed")
    report = written(folder, "report.json")
    (line,) = report["lines"]
    assert (line["name"], line["change"], line["renamed_from"]) == ("his", "renamed", "mine")
    assert (line["score_before"], line["rank_before"]) == (line["score"], line["rank"]) != (None, None)
    assert report["same"] == [{"what": "files", "names": ["copy", "his"]}]
    assert "`his` | `renamed` from `mine` |" in (folder / "out" / "comment.md").read_text()


def test_where_records_of_the_base_are_missing_no_rank_is_compared(repo, folder, job, record):
    """The run of a submission at the base was interrupted at once, so it has a request, but no record."""
    repo.commit({"README.md": ""}, repo.git("rev-parse", "main"), branch="removed")
    with Records(str(record(rows("vc_dim", is_baseline=True)))) as records:
        records.ask([request(rows("mine", submission_digest=MINE.digest)[0])])
    ended = job(head="removed")
    report = written(folder, "report.json")
    (line,) = report["lines"]
    assert (line["change"], line["rank_before"], line["score_before"], report["moved"]) == ("removed", None, None, [])
    assert "no ranks before the change: at the base, records of mine are missing or stale" in ended.err
    assert f"- `{report['notes'][0]}`" in (folder / "out" / "comment.md").read_text()


def test_what_a_merge_may_surprise_with_is_named(repo, folder, job, pgdl, record, monkeypatch):
    """The base has changed the same submission; two further files have names that submissions must not have."""
    main = repo.git("rev-parse", "main")
    base = repo.commit({"submissions/mine.py": MEASURE.format("2.0")}, main)
    more = {"submissions/.foo.py": CODE, "submissions/foo.PY": CODE}
    repo.commit({"submissions/mine.py": MEASURE.format("3.0")} | more, main, branch="late")
    record(rows("vc_dim", is_baseline=True))
    monkeypatch.setattr("harness.api.ci._call", lambda *_: ())
    ended = job("--only-new", base=base, head="late", code=1)
    assert "mine: the base has changed it since the change branched off, so a merge may conflict, or" in ended.err
    assert "not submissions, by their names: submissions/.foo.py, submissions/foo.PY; expected NAME.py," in ended.err
    assert "the change overwrites submissions of the base: mine" in ended.err


def planned(*made, withheld=False):
    """Return planned calls with the keys of these records."""
    return [SimpleNamespace(key=row.key, submission=MINE, withheld=withheld) for row in made]


def crash(**columns):
    return evaluation(submission="mine", submission_digest=MINE.digest, **({"outcome": Outcome.CRASH} | columns))


def test_only_the_last_failure_of_a_call_of_this_job_on_an_open_task_is_annotated(folder):
    """Failures under another limit, on an earlier version of a model, or of a call made again are not annotated."""
    mine, again = crash(message="signal 11"), crash(model="model_1", message="superseded")
    others = crash(time_limit_s=1.0, message="of others"), crash(model_digest="earlier", message="of an earlier model")
    secret = crash(task="secret", message="withheld")
    calls = [*planned(mine, again), *planned(secret, withheld=True)]
    with Records(str(folder / "results.db")) as records:
        records.add(mine, again, *others, secret)
        records.add(crash(model="model_1", outcome=Outcome.OK, value=1.0))
        found = find_failures(records, MINE, records_of(calls, records)).annotations
    assert found == ["::error file=submissions/mine.py::CRASH on toy/model_0: signal 11"]


def test_a_failure_on_a_task_without_reference_data_breaks_the_rules(repo, folder, pgdl, record, monkeypatch):
    ok = rows("mine", submission_digest=MINE.digest)
    elsewhere = [crash(task="no reference"), crash(task="no reference", model="model_1", outcome=Outcome.INFRA_ERROR)]
    calls = planned(*ok, *elsewhere)
    monkeypatch.setattr("harness.api.ci._call", lambda *_: calls)
    record([*ok, *elsewhere])
    ended = pgdl("ci", "--head", "main", "--require-check", "--output", "out")
    assert ended.code == 1
    report = written(folder, "report.json")
    assert report["broken"] == [
        "mine: the machine failed on 1 models; run the job again", "mine: 2 of 10 calls have no value",
    ]  # fmt: skip


def test_mistakes_are_one_line_and_there_is_no_way_around_the_sandbox(repo, pgdl):
    for arguments, problem in (
        ("--head nowhere", "no commit 'nowhere'; fetch it first"),
        ("--head main --repository missing", "missing: not a directory"),
        ("--head main --submissions ../x", "expected a folder inside the repository"),
        ("--head main vc_dmi", "no measure 'vc_dmi'"),
        ("--head main --tasks missing", "missing: no such directory"),
        ("--head main --min-score 500", "500.0 is not in the range 0<=x<=100"),
        ("--head main --unsafe-no-sandbox", "No such option"),
    ):
        assert problem in pgdl("ci", *arguments.split()).refusal()
    variables = {parameter.envvar for parameter in command.params if isinstance(parameter, click.Option)}
    assert ("PGDL_SANDBOX" in variables, "PGDL_UNSAFE_NO_SANDBOX" in variables) == (True, False)
