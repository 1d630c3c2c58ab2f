"""Tests that outputs on a hidden task depend only on its rounded score, rank and verdict.

Two competitions differ in every number of the hidden task, but not in the rounded score and the outcomes of calls.
Every output is the same for both, to the last byte. All outputs differ if the organiser requests withheld results.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl

import pgdl as api
from harness.board.board import Board
from harness.board.columns import MORE
from harness.ci.change import Change
from harness.ci.comment import render
from harness.ci.git import GitEntry
from harness.ci.reading import Touched
from harness.ci.report import ChangeReport
from harness.ci.results import lines_of
from harness.cli.main import COMMANDS
from harness.outcome import Outcome
from harness.records import Evaluation, Records
from tests.board.board_examples import GAPS, MEASURE, failed, rows, write_reference

#: Gaps and values of another competition, of which the official score is 29.45 instead of 29.54.
OTHER_GAPS = [0.1125, 0.16, 0.06, 0.41, 0.31, 0.21, 0.23, 0.13]
OTHER_MEASURE = [1.0, 6.0, 3.0, 4.0, 9.0, 5.0, 2.0, 1.0]

FOLDERS = {"one": (GAPS, MEASURE, 1.5), "other": (OTHER_GAPS, OTHER_MEASURE, 0.7)}


def competition(folder: Path, gaps: list[float], values: list[float], seconds: float) -> None:
    """Write an open task and a hidden task, which was marked as hidden after the calls."""
    write_reference(write_reference(folder / "task_data", "open"), "secret", gaps, hidden=True)
    said = {"call_wall_s": seconds, "peak_memory_bytes": int(1e9 * seconds)}
    with Records(folder / "results.db") as records:
        records.add(*on_open(), *on_secret(values, said))


def on_open() -> Iterator[Evaluation]:
    for name in ("mine", "late", "path_norm"):
        yield from rows(name, MEASURE if name == "mine" else GAPS, "open", is_baseline=name == "path_norm")
    yield from rows("mine", GAPS, "open", repeat=1)


def on_secret(values: list[float], said: dict[str, Any]) -> Iterator[Evaluation]:
    yield from rows("mine", values, "secret", **said)
    yield from rows("mine", [said["call_wall_s"] * value for value in sorted(values)], "secret", repeat=1, **said)
    yield from rows("path_norm", values, "secret", is_baseline=True, **said)
    broken, why = int(4 * said["call_wall_s"]), f"{said['call_wall_s']} s"
    yield from rows("late", {f"model_{n}": value for n, value in enumerate(values) if n != broken}, "secret", **said)
    yield failed("late", f"model_{broken}", Outcome.CRASH, "secret", message=why, **said)


#: Every command that tells of recorded calls or of tasks, with the files that it writes. `everything` is a directory.
WRITERS: dict[str, Sequence[str]] = {
    "score": ["score", "score --format json"],
    "board": [
        *(f"board --columns kendall,printed,sign_error --format {form}" for form in ("table", "csv", "json")),
        *(f"board --format {form}" for form in ("markdown", "latex")),
        "board --html everything/site --output everything/board",
    ],
    "verify": ["verify everything/site"],
    "report": ["report", "report --format json", "report --html everything/reports"],
    "results": [f"results --task secret --format {form}" for form in ("table", "csv", "json")],
    "compare": [
        *(f"compare --recorded --measures path_norm --format {form}" for form in ("table", "csv", "json")),
        "compare --recorded --measures path_norm --output everything/comparison",
    ],
    "task": [
        f"task {command} --format {form}" for command in ("list", "show", "validate") for form in ("table", "json")
    ],
}

#: Commands that need models, and tell of calls and of tasks while they run (`test_hidden_tasks`, `tests/e2e`); that
#: refuse hidden tasks; and that know nothing of tasks.
OTHERS = {
    "run", "check", "ci", "codabench", "overfit", "invariance", "testbed", "demo", "new", "measures", "help", "doctor",
}  # fmt: skip


#: Outputs without a number of the hidden task, even for the organiser.
OF_NEITHER = [
    "task validate --format table",
    "task validate --format json",
    "everything/site/data/reference_data/open/model_configs.json",
]


def written_by(withhold: str, pgdl: Pgdl) -> Iterator[tuple[str, object]]:
    """Yield name and content of each output that the commands and functions in `WRITERS` produce here."""
    for command in (line for lines in WRITERS.values() for line in lines):
        chosen = [] if command.startswith("verify") else ["--withhold", withhold]
        ended = pgdl(*command.split(), *chosen)
        yield command, (ended.code, ended.out, ended.err)
    for file in sorted(Path("everything").rglob("*")):
        if file.is_file() and "assets" not in file.parts and not file.match("leaderboard.png"):
            yield str(file), file.read_bytes()
    found = api.board(withhold=withhold, with_site=True)
    yield "results API", repr(api.results(withhold=withhold, task_names=["secret"]))
    yield "score API", in_full(api.score(withhold=withhold))
    yield "report API", in_full(api.report(withhold=withhold))
    yield "comparison API", in_full(api.compare_recorded("path_norm", withhold=withhold))
    yield "board API", in_full(found)
    yield "board in a notebook", repr(found) + found._repr_html_()
    yield "board with more columns API", repr(found.board.with_columns(MORE).to_records())
    yield "comment", comment(found.board)


def in_full(result: Any) -> str:
    """Return all data of a result, and the lines that a notebook shows of it."""
    return f"{asdict(result)} {result!r}"


def comment(board: Board) -> str:
    """Return the report and the comment that `pgdl ci` would write."""
    entry = GitEntry("x.py", "100644", "0")
    change = Change("head", None, {}, dict.fromkeys(("mine", "late"), entry), {"mine": "new", "late": "new"})
    lines = lines_of(change, "submissions", board, board, Touched(), {})
    report = ChangeReport("head", "", 9, tuple(lines), withheld=tuple(board.withheld))
    return report.to_json() + render(report)


@pytest.fixture
def outputs(folder: Path, pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[dict[str, object]]]:
    """Return a function that returns, for both competitions, a dictionary of all outputs by name."""
    for name, given in FOLDERS.items():
        competition(folder / name, *given)

    def all_written(withhold: str) -> list[dict[str, Any]]:
        found = []
        for name in FOLDERS:
            monkeypatch.chdir(folder / name)
            found.append(dict(written_by(withhold, pgdl)))
        return found

    return all_written


@pytest.mark.rest
def test_no_writer_says_more_than_the_rule_allows(outputs: Callable[[str], list[dict[str, object]]]) -> None:
    one, other = outputs("auto")
    assert "29.5" in str(one["board --format markdown"])
    assert [writer for writer in one if one[writer] != other[writer]] == []
    exact, others = outputs("never")
    assert exact.keys() - one.keys() == {"everything/site/data/reference_data/secret/model_configs.json"}
    assert [writer for writer in exact if exact[writer] == others[writer]] == OF_NEITHER


def test_every_command_writes_here_or_is_tested_elsewhere() -> None:
    assert WRITERS.keys() | OTHERS == set(COMMANDS), "a new command belongs in WRITERS if it tells of calls or tasks"
    assert not WRITERS.keys() & OTHERS
