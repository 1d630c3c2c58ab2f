"""Runs the slowest test files first, and writes the table of costs in docs/testing.md.

A file runs in one process; if a slow file came last, all other processes would wait for it. `make durations` records
the files' durations and the table.
"""

import json
import os
import resource
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
RECORDED = TESTS / "durations.json"
PAGE = TESTS.parent / "docs" / "testing.md"

#: Environment variable: if it is set, the run writes `RECORDED` and the table in `PAGE`.
RECORD = "PGDL_RECORD_DURATIONS"

#: Files that take less are not recorded, since their order hardly matters.
LEAST_S = 2


def longest_first(items: list[pytest.Item]) -> None:
    seconds = json.loads(RECORDED.read_text())
    items.sort(key=lambda item: -seconds.get(_command_of(item), {}).get(item.path.relative_to(TESTS).as_posix(), 0))


def _command_of(item: pytest.Item) -> str:
    return "make test-rest" if item.get_closest_marker("rest") else "make test"


class Costs:
    """A pytest plugin that adds up the times of tests over all processes."""

    def __init__(self) -> None:
        self._spent_s = _spent_s()
        self._wall_s: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))  # by command and file
        self._rooms: dict[str, dict[str, float]] = defaultdict(
            lambda: defaultdict(float)
        )  # processor time, by room and command

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        """Add the processor time since the last report to the report, which xdist sends to the main process."""
        report = yield
        before, self._spent_s = self._spent_s, _spent_s()
        report.processor_s = self._spent_s - before
        report.floor = _command_of(item)
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        file = report.nodeid.partition("::")[0].removeprefix("tests/")
        self._wall_s[report.floor][file] += report.duration
        self._rooms[file.rpartition("/")[0] or "tests"][report.floor] += report.processor_s

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if os.environ.get(RECORD) and not hasattr(session.config, "workerinput"):
            kept = {
                floor: {file: round(wall_s) for file, wall_s in sorted(files.items()) if wall_s >= LEAST_S}
                for floor, files in self._wall_s.items()
            }
            RECORDED.write_text(json.dumps(kept, indent=1) + "\n")
            before, after = PAGE.read_text().split("| room |", 1)
            PAGE.write_text("\n".join([before.rstrip("\n"), "", *self._table(), "", after.split("\n\n", 1)[1]]))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if sum(map(len, self._wall_s.values())) >= 50:
            terminalreporter.section("processor seconds")
            for line in self._table():
                terminalreporter.write_line(line)

    def _table(self) -> list[str]:
        floors = ("make test", "make test-rest")
        rows = sorted(self._rooms.items(), key=lambda item: -sum(item[1].values()))
        rows.append(("all", {floor: sum(room[floor] for _, room in rows) for floor in floors}))
        lines = [f"| {room} | {' | '.join(f'{spent[floor]:.0f}' for floor in floors)} |" for room, spent in rows]
        return [f"| room | {' | '.join(f'`{floor}`' for floor in floors)} |", "|---|---|---|", *lines]


def _spent_s() -> float:
    """Return the processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
