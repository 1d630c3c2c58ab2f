"""Compares the output of commands with the referee's expectations."""

import csv
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.referee.referee import Choice, Row, equal, mistakable
from tests.referee.world import World

#: A page's sign for the lack of a rank.
NO_RANK = "\N{EN DASH}"

#: Identifies a row: name, version, seed, limit, isolation.
Key = tuple[str, str, int, float, str]


def check_board(world: World, database: str) -> list[Row]:
    """Compare the board as JSON with the referee; return the expected rows."""
    expected = world.databases[database].board(world.tasks)
    done = show(world, database, "board", "--format", "json")
    content = json.loads(done)
    require_rows(world, content["rows"], expected)
    require_remarks(content["remarks"], expected, world)
    require_equal(content["remarks"], world, database)
    return expected


def show(world: World, database: str, *command: str) -> str:
    """Run a command that only reads, and return its output."""
    done = world.pgdl(*command, "--tasks", world.root, "--results", world.location(database))
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def require_rows(world: World, found: Sequence[Mapping[str, Any]], expected: Sequence[Row]) -> None:
    """Assert that leaderboard.json has the expected rows in their order."""
    ranks = [row["rank"] for row in found]
    assert ranks == sorted(ranks, key=lambda rank: (rank is None, rank))
    by_key = {key_of(row): row for row in found}
    wanted = {key(world, row): row for row in expected}
    assert by_key.keys() == wanted.keys(), by_key.keys() ^ wanted.keys()
    assert len(found) == len(expected)
    for one, row in wanted.items():
        shown = by_key[one]
        names = ("rank", "complete", "calls_ok", "calls_expected", "stale")
        figures = (row.rank, row.complete, row.n_ok, row.n_models, row.n_stale)
        assert tuple(shown[name] for name in names) == figures, row.version.name
        assert shown["score"] == approx(row.score), row.version.name
        for task, score in row.on.items():
            assert shown["tasks"][task].get("official") == approx(score, 100), (row.version.name, task)


def approx(score: float | None, factor: float = 1.0) -> Any:
    """Return a number that is equal to all numbers with the same displayed digits."""
    return None if score is None else pytest.approx(factor * score, abs=1e-9)


def key(world: World, row: Row) -> Key:
    """Return the key that identifies a row of the referee."""
    return (row.version.name, world.digests[row.version], *row.choice)


def key_of(row: Mapping[str, Any]) -> Key:
    """Return the key that identifies a row of leaderboard.json."""
    configuration = row["configuration"]
    choice = Choice(configuration["run_seed"], configuration["time_limit_s"], configuration["isolation"])
    return (row["submission"], row["version"], *choice)


def require_remarks(remarks: Sequence[str], expected: Sequence[Row], world: World) -> None:
    """Assert that the board has the expected remarks on stale records and on names that are easy to confuse."""
    named = {name for line in remarks for name in _stale_names(line)}
    assert named == {row.version.name for row in expected if row.n_stale}
    submissions = {row.version.name for row in expected if not row.version.is_baseline}
    similar = [line.partition(": ")[2] for line in remarks if line.startswith("names that could be mistaken")]
    assert sorted(similar) == sorted(", ".join(sorted(group)) for group in mistakable(submissions))


def require_equal(remarks: Sequence[str], world: World, database: str) -> None:
    """Assert that the board has the expected remarks on submissions with equal files, or equal values on all models."""
    expected = equal(world.databases[database], world.tasks)
    starts = ("the same files under several names: ", "the same values on every model: ")
    for start, names in zip(starts, expected, strict=True):
        found = [tuple(line.removeprefix(start).split(", ")) for line in remarks if line.startswith(start)]
        assert sorted(found) == sorted(names)


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


# Other faces of the same board


def check_csv(world: World, database: str, expected: Sequence[Row]) -> None:
    """Compare the CSV table, in which a task may have the name of any column."""
    rows = list(csv.DictReader(show(world, database, "board", "--format", "csv").splitlines()))
    assert len(rows) == len(expected)
    by_version = {(row["submission"], row["version"], row["configuration"]): row for row in rows}
    assert len(by_version) == len(rows)
    tasks = [*world.tasks]
    found = sorted(
        [row["submission"], row["rank"], _number(row["score"]), *(_number(row[f"score:{task}"]) for task in tasks)]
        for row in rows
    )
    assert found == sorted(
        [row.version.name, str(row.rank or ""), _text(row.score), *(_text(row.on[task], 100) for task in tasks)]
        for row in expected
    )


def _number(text: str) -> str:
    return f"{float(text):.6f}" if text else ""


def _text(score: float | None, factor: float = 1.0) -> str:
    return "" if score is None else f"{factor * score:.6f}"


def check_table(world: World, database: str, expected: Sequence[Row], form: str) -> None:
    """Compare a table for readers: Markdown, LaTeX or the terminal."""
    lines = show(world, database, "board", "--format", form).replace("\\_", "_").splitlines()
    cells = [re.split(r"\s*[|&]\s*|\s{2,}", line.strip().strip("|\\").strip()) for line in lines]
    require_cells(world, cells, expected)


def require_cells(world: World, table: Iterable[Sequence[str]], expected: Sequence[Row], digits: int = 2) -> None:
    """Assert that each expected row is in the table, with its rank, name and scores."""
    hidden = [task for task in world.tasks if world.tasks[task].hidden]
    rows = [[cell.strip("`") for cell in row if cell.strip("` ")] for row in table]
    for row in expected:
        figures = [_shown(row.score, 1, 1 if hidden else digits)]
        tasks = sorted(world.tasks) if len(world.tasks) > 1 else []  # the score of a single task is that of the row
        figures += [_shown(row.on[task], 100, 1 if task in hidden else digits) for task in tasks]
        wanted = ["-" if row.rank is None else str(row.rank), row.version.name, *figures]
        assert any(_has_in_order(cells, wanted) for cells in rows), (wanted, rows)


def _shown(score: float | None, factor: float, digits: int) -> str:
    """Return a score as displayed text, or "" without a score."""
    return "" if score is None else f"{factor * score:.{digits}f}"


def _has_in_order(cells: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether the cells begin with the first two texts and contain the other texts behind them in this order."""
    if [cell.replace(NO_RANK, "-") for cell in cells[:2]] != list(wanted[:2]):
        return False
    rest = iter(cells[2:])
    return all(text in rest for text in wanted[2:] if text)


class _Rows(HTMLParser):
    """Collects the rows of all tables of a page, as lists of cell texts without small print."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self._in_cell |= tag in ("td", "th")
        self._in_cell &= tag != "small"

    def handle_endtag(self, tag: str) -> None:
        self._in_cell |= tag == "small"
        self._in_cell &= tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell and self.rows:
            self.rows[-1][-1] += data.strip()


def check_site(world: World, database: str, expected: Sequence[Row]) -> None:
    """Assert that site and files have the expected rows, that the site verifies, and that no file has a secret."""
    site, output = world.directory / "site", world.directory / "output"
    show(world, database, "board", "--html", str(site), "--output", str(output))
    for directory in (site, output):
        require_rows(world, json.loads((directory / "leaderboard.json").read_text())["rows"], expected)
    page = _Rows()
    page.feed((site / "index.html").read_text())
    require_cells(world, page.rows, expected, digits=1)
    assert world.pgdl("verify", site).returncode == 0
    for directory in (site, output):
        for file in directory.rglob("*"):
            if file.is_file():
                world.require_no_canary(file.read_text(errors="replace"))


def check_score(world: World, database: str, path: str) -> None:
    """Compare the score of a submission's files, which may be known under another name."""
    version, source = world.version(path), str(world.directory / path)
    known = world.databases[database].requests
    names = {
        one.version.name
        for one in known
        if one.task in world.tasks
        and one.version.files == version.files
        and (one.version.name == version.name or one.source == source)
    }
    done = world.pgdl(
        "score", world.directory / path, "--tasks", world.root, "--results", world.location(database), "--format",
        "json",
    )  # fmt: skip
    assert (done.returncode == 2) == (not names), done.stderr
    if names:
        content = json.loads(done.stdout)
        found = {one["submission"].partition(" (")[0] for one in content.get("submissions", [content])}
        assert found <= names


def check_tasks(world: World, path: Path) -> None:
    """Run the commands on tasks, even hidden and damaged tasks; their output is searched for secrets."""
    for form in ("table", "json"):
        for command in ("list", "show", "validate"):
            world.pgdl("task", command, "--tasks", world.root, "--format", form)
    world.pgdl("check", path, "--tasks", world.root)
    world.pgdl("report", path, "--tasks", world.root, "--results", world.location("main"))
