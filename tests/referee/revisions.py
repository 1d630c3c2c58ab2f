"""Changes of a repository of submissions, and the job that evaluates them."""

import json
from typing import Any

import pytest

from harness.api import ci_files
from harness.ci.report import ChangeReport
from pgdl import ChangeResult
from tests.referee import faces
from tests.referee.referee import Choice, Line, Version, report
from tests.referee.world import World


def run_ci(
    world: World, name: str, number: int | None, choice: Choice, database: str, *, merges: bool, adds: str | None = None
) -> None:
    """Write, change or remove (without `number`) a submission, evaluate the change, and perhaps merge it into main.

    `adds` is a database whose records are added first.
    """
    head = {other: text for other, text in world.files.items() if other != name}
    if number is not None:
        head[name] = f"def complexity(model, dataset):\n    number = {number}\n"
    elif name not in world.files:
        return
    _submit(world, head, choice, database, merges=merges, adds=adds)


def run_renaming_ci(world: World, name: str, choice: Choice, database: str, *, merges: bool) -> None:
    """Give a submission of the repository a free name, and evaluate the change."""
    if name not in world.files:
        old = min(world.files)
        head = {name if one == old else one: text for one, text in world.files.items()}
        _submit(world, head, choice, database, merges=merges)


def _submit(
    world: World, head: dict[str, str], choice: Choice, database: str, *, merges: bool, adds: str | None = None
) -> None:
    written = {f"submissions/{one}.py": text for one, text in head.items()}
    commit = world.repo.commit({"submissions/README.md": "", **written}, world.commit)
    adds = adds if adds and world.databases[adds].requests else None
    _evaluate(world, commit, head, choice, database, adds)
    if merges:
        world.commit, world.files = commit, head


def _evaluate(world: World, commit: str, head: dict[str, str], choice: Choice, database: str, adds: str | None) -> None:
    known, tasks = world.databases[database], tuple(sorted(world.tasks))
    touched = [Version(name, text) for name, text in head.items() if world.files.get(name) != text]
    n_before, n_known = len(world.request_rows(database)), len(known.requests)
    world.stage.made.clear()
    code, ended = _run(world, commit, choice, database, adds)
    if adds:
        world.note_merge(adds, database, n_before, n_known)
    n_before += len(known.requests) - n_known
    if touched and not all(world.tasks[task].valid for task in tasks):
        assert (code, ended, len(world.request_rows(database))) == (2, [], n_before)
        return
    missing = known.missing(world.calls(touched, tasks, choice))
    new = world.request_rows(database)[n_before:]
    asked = sorted((one.name, task, f"submissions/{one.name}.py") for one in touched for task in tasks)
    assert sorted((row["submission"], row["task"], row["source"]) for row in new) == asked
    by_name = {version.name: version for version in touched}
    known.requests += [world.request(row, by_name[row["submission"]], choice, world.software) for row in new]
    assert len(world.stage.made) == len(missing)
    for call in missing:
        known.add(world.record_of(call))
    world.require_one_record_each(database)
    (job,) = ended
    _compare(world, job, code, head, choice, database)


def _run(world: World, commit: str, choice: Choice, database: str, adds: str | None) -> tuple[int, list[ChangeResult]]:
    """Run the job; return its exit code and its results, which are not written, since writing a site takes a second."""
    seen: list[ChangeResult] = []
    line = ["ci", "--repository", world.repo.directory, "--base", world.commit, "--head", commit, "--quiet"]
    line += ["--tasks", world.root, "--results", world.location(database), "--output", world.directory / "ci"]
    line += ["--seed", choice.seed, "--time-limit", choice.limit]
    line += ["--add-records", world.directory / f"{adds}.db"] if adds else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ci_files, "write_files", lambda _, ended: [seen.append(ended)])
        done = world.pgdl(*line)
    return done.returncode, seen


def _compare(world: World, job: ChangeResult, code: int, head: dict[str, str], choice: Choice, database: str) -> None:
    """Compare report, comment, exit code and board with the referee's."""
    known = world.databases[database]
    expected = report(known, world.tasks, world.files, head, choice)
    text = job.report.to_json()
    found = ChangeReport.parse(text.encode())
    world.require_no_canary(text + job.comment + "\n".join(job.annotations))
    assert {_line(one) for one in found.lines} == {_rounded(one) for one in expected.lines}
    assert sorted(found.missing) == sorted(expected.missing)
    faces.require_rows(world, json.loads(_json(job)), known.board(world.tasks, head, choice))
    assert ("no ranks before the change" in job.comment) == bool(expected.unknown and not expected.missing)
    machine_failed = any(line.machine_failed for line in found.lines)
    assert code == (1 if expected.missing or machine_failed else 0)
    for name in expected.missing:
        assert f"- `{name}`" in job.comment
    for line in expected.lines:
        rank = _arrow(line, line.rank_before, line.rank)
        change = f"`{line.change}`" + (f" from `{line.earlier}`" if line.earlier else "")
        assert f"| `{line.name}` | {change} | {rank} |" in job.comment
    assert ("All rules are kept" in job.comment) == (code == 0 and bool(expected.lines))


def _json(job: ChangeResult) -> str:
    return json.dumps(job.board.content["rows"])


def _arrow(line: Line, before: int | None, after: int | None) -> str:
    old, new = (str(rank) if rank is not None else "-" for rank in (before, after))
    return f"{old} → {new}" if line.change in ("changed", "renamed", "removed") else new


def _line(line: Any) -> tuple[Any, ...]:
    ranks_and_scores = line.rank_before, line.score_before, line.rank, line.score
    return _rounded(Line(line.name, line.change, *ranks_and_scores, line.calls_ok, line.renamed_from))


def _rounded(line: Line) -> tuple[Any, ...]:
    return tuple(round(one, 6) if isinstance(one, float) else one for one in line)
