"""All that any writer says of a hidden task follows from its rounded score, its rank and its verdict.

Two competitions differ on the hidden task in every number, but for the rounded score and the calls by outcome. Every
output of every writer is the same for both, to the last byte. For the organiser, who asks for them, all differ.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pgdl as api
from harness.board.columns import MORE
from harness.board.formats import find, names
from harness.ci.change import Change
from harness.ci.comment import render
from harness.ci.git import GitEntry
from harness.ci.reading import Touched
from harness.ci.report import ChangeReport
from harness.ci.results import lines_of
from harness.outcome import Outcome
from harness.records import Evaluation, Records
from harness.site.pages import make_site, render_site
from tests.board.board_examples import GAPS, MEASURE, failed, rows, write_reference
from tests.in_process import Pgdl

#: Gaps and values of another competition, of which the official score is 29.45 instead of 29.54.
OTHER_GAPS = [0.10, 0.15, 0.05, 0.40, 0.30, 0.20, 0.22, 0.12]
OTHER_MEASURE = [1.0, 6.0, 3.0, 4.0, 9.0, 5.0, 2.0, 1.0]

FOLDERS = {"one": (GAPS, MEASURE, 1.5), "other": (OTHER_GAPS, OTHER_MEASURE, 0.7)}


def competition(folder: Path, gaps: list[float], values: list[float], seconds: float) -> None:
    """An open task and a hidden one, which was marked when the calls had been made."""
    write_reference(write_reference(folder / "task_data", "open"), "secret", gaps)
    (folder / "task_data" / "secret" / "metadata").write_text("hidden: true\n")
    said = {"message": f"{seconds} s", "call_wall_s": seconds, "peak_memory_bytes": int(1e9 * seconds)}
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
    broken = int(4 * said["call_wall_s"])
    yield from rows("late", {f"model_{n}": value for n, value in enumerate(values) if n != broken}, "secret", **said)
    yield failed("late", f"model_{broken}", Outcome.CRASH, "secret", **said)


def written_by(withhold: str, pgdl: Pgdl) -> Iterator[tuple[str, str | bytes]]:
    """What every writer makes of the competition in the current directory: its name, and a text or bytes."""
    for command in ("score", "report"):
        for form in ("table", "json"):
            yield f"{command} {form}", pgdl(command, "--withhold", withhold, "--format", form).out
    yield "results API", repr(api.results(withhold=withhold, task_names=["secret"]))
    for form in ("table", "csv", "json"):
        ended = pgdl("results", "--withhold", withhold, "--format", form, "--task", "secret")
        yield f"results {form}", ended.out + ended.err
    leaderboard = api.board(withhold=withhold, with_site=True)
    comparison = api.compare_recorded("path_norm", withhold=withhold)
    for kind, made in {"board": leaderboard.board, "comparison": comparison.board}.items():
        yield f"{kind} API", repr(made.to_records())
        for form in names():
            yield f"{kind} {form}", find(form).render(made.with_columns(MORE))
    oracle = comparison.oracle.score
    yield "comparison plot", repr(oracle and oracle.mean)
    yield "comment", comment(leaderboard.board)
    assert leaderboard.site is not None
    pages = render_site(make_site(leaderboard.site))
    yield from ((path, content) for path, content in pages.items() if not path.startswith("assets"))
    yield from ((f"report {page['label']}", repr(page)) for page in api.report(withhold=withhold).pages)


def comment(board: Any) -> str:
    entry = GitEntry("x.py", "100644", "0")
    change = Change("head", None, {}, dict.fromkeys(("mine", "late"), entry), {"mine": "new", "late": "new"})
    lines = lines_of(change, "submissions", board, board, Touched(), {})
    return render(ChangeReport("head", "", 9, tuple(lines)))


@pytest.fixture
def outputs(folder: Path, pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[dict[str, Any]]]:
    """Return the outputs of all writers for both competitions, by writer."""
    for name, given in FOLDERS.items():
        competition(folder / name, *given)

    def all_written(withhold: str) -> list[dict[str, Any]]:
        found = []
        for name in FOLDERS:
            monkeypatch.chdir(folder / name)
            found.append(dict(written_by(withhold, pgdl)))
        return found

    return all_written


def test_no_writer_says_more_than_the_rule_allows(outputs: Callable[[str], list[dict[str, Any]]]) -> None:
    one, other = outputs("auto")
    assert "29.5" in one["board table"]
    assert [writer for writer in one if one[writer] != other[writer]] == []
    exact, others = outputs("never")
    assert exact.keys() == one.keys()
    same = [writer for writer in exact if exact[writer] == others[writer]]
    assert same == ["reading.html", "tasks/open.html", "compare.html"]
