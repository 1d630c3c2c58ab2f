"""Compares the output of commands with the referee's expectations: boards, scores, sites, and reports of `pgdl ci`."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from harness.api import ci_files
from harness.ci.report import ChangeReport
from pgdl import ChangeResult
from tests.referee.referee import Choice, Row, Version, mistakable, report
from tests.referee.world import World

#: The parts of a report's line, in the order of the referee's lines.
PARTS = attrgetter("name", "change", "rank_before", "score_before", "rank", "score", "calls_ok", "renamed_from")

#: Identifies a row: name, version, seed, limit, isolation.
Key = tuple[str, str, int, float, str]


def check_board(world: World, database: str) -> list[Row]:
    """Compare the board as JSON with the referee; return the expected rows."""
    expected = world.databases[database].board(world.tasks)
    done = show(world, database, "board", "--format", "json")
    content = json.loads(done)
    require_rows(world, content["rows"], expected)
    require_remarks(content["remarks"], expected, world)
    return expected


def show(world: World, database: str, *command: str) -> str:
    done = world.pgdl(*command, "--tasks", world.root, "--results", world.location(database))
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def require_rows(world: World, found: Sequence[Mapping[str, Any]], expected: Sequence[Row]) -> None:
    ranks = [row["rank"] for row in found]
    assert ranks == sorted(ranks, key=lambda rank: (rank is None, rank))
    by_key: dict[Key, Mapping[str, Any]] = {}
    for one in found:
        settings = (one["configuration"][name] for name in ("run_seed", "time_limit_s", "isolation"))
        by_key[one["submission"], one["version"], *settings] = one
    wanted = {(row.version.name, world.digests[row.version], *row.choice): row for row in expected}
    assert by_key.keys() == wanted.keys(), by_key.keys() ^ wanted.keys()
    assert len(found) == len(expected)
    for key, row in wanted.items():
        shown = by_key[key]
        names = ("rank", "complete", "calls_ok", "calls_expected", "stale")
        figures = (row.rank, row.complete, row.n_ok, row.n_models, row.n_stale)
        assert tuple(shown[name] for name in names) == figures, row.version.name
        assert shown["score"] == approx(row.score), row.version.name
        for task, score in row.on.items():
            assert shown["tasks"][task].get("official") == approx(score, 100), (row.version.name, task)


def approx(score: float | None, factor: float = 1.0) -> Any:
    return None if score is None else pytest.approx(factor * score, abs=1e-9)


def require_remarks(remarks: Sequence[str], expected: Sequence[Row], world: World) -> None:
    """Assert that the board has the expected remarks on stale records and on names that are easy to confuse."""
    named = {name for line in remarks for name in _stale_names(line)}
    assert named == {row.version.name for row in expected if row.n_stale}
    submissions = {row.version.name for row in expected if not row.version.is_baseline}
    similar = [line.partition(": ")[2] for line in remarks if line.startswith("names that could be mistaken")]
    assert sorted(similar) == sorted(", ".join(sorted(group)) for group in mistakable(submissions))


def _stale_names(line: str) -> list[str]:
    match = re.match(r"stale: records of (.+?) \(", line)
    return match[1].split(", ") if match else []


def renewals(world: World, database: str) -> list[tuple[list[str], list[str]]]:
    """Return, for each remark on stale records, the submissions' names and the printed command that renews the records.

    Calls without a sandbox have no such command.
    """
    remarks = json.loads(show(world, database, "board", "--format", "json"))["remarks"]
    lines = [line for line in remarks if line.startswith("stale:") and "; to renew them: pgdl " in line]
    location = world.location(database)
    commands = [shlex.split(line.partition("; to renew them: ")[2]) for line in lines]
    return [
        (_stale_names(line), [location if word.startswith("${PGDL_RESULTS") else word for word in words])
        for line, words in zip(lines, commands, strict=True)
    ]


def check_site(world: World, database: str, expected: Sequence[Row]) -> None:
    """Assert that site and files have the expected rows, that the site verifies, and that no file has a secret."""
    site, output = world.directory / "site", world.directory / "output"
    show(world, database, "board", "--html", str(site), "--output", str(output))
    for directory in (site, output):
        require_rows(world, json.loads((directory / "leaderboard.json").read_text())["rows"], expected)
    assert world.pgdl("verify", site).returncode == 0
    for directory in (site, output):
        for file in directory.rglob("*"):
            if file.is_file():
                world.require_no_canary(file.read_text(errors="replace"))


def check_tasks(world: World, path: Path) -> None:
    """Run the commands on tasks, even hidden and damaged tasks; their output is searched for secrets."""
    for form in ("table", "json"):
        for command in ("list", "show", "validate"):
            world.pgdl("task", command, "--tasks", world.root, "--format", form)
    world.pgdl("check", path, "--tasks", world.root)
    world.pgdl("report", path, "--tasks", world.root, "--results", world.location("main"))


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
    assert {_rounded(PARTS(one)) for one in found.lines} == {*map(_rounded, expected.lines)}
    assert sorted(found.missing) == sorted(expected.missing)
    require_rows(world, json.loads(json.dumps(job.board.content["rows"])), known.board(world.tasks, head, choice))
    assert ("no ranks before the change" in job.comment) == bool(expected.unknown and not expected.missing)
    machine_failed = any(line.machine_failed for line in found.lines)
    assert code == (1 if expected.missing or machine_failed else 0)
    for name in expected.missing:
        assert f"- `{name}`" in job.comment
    for line in expected.lines:
        old, new = ("-" if rank is None else str(rank) for rank in (line.rank_before, line.rank))
        rank = f"{old} → {new}" if line.change in ("changed", "renamed", "removed") else new
        change = f"`{line.change}`" + (f" from `{line.earlier}`" if line.earlier else "")
        assert f"| `{line.name}` | {change} | {rank} |" in job.comment
    assert ("All rules are kept" in job.comment) == (code == 0 and bool(expected.lines))


def _rounded(line: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(round(one, 6) if isinstance(one, float) else one for one in line)
