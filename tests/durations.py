"""How long each test file took when that was last recorded, by `make durations`; the longest come first.

No test process then works on a long file while the others have no more to do.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
RECORDED = TESTS / "durations.json"

#: Set to write `RECORDED`.
RECORD = "PGDL_RECORD_DURATIONS"

#: Files that took less are not recorded: they fill the gaps.
LEAST_S = 2


def longest_first(items):
    """Sort tests by the seconds of their files."""
    seconds = json.loads(RECORDED.read_text())
    items.sort(key=lambda item: -seconds.get(item.path.relative_to(TESTS).as_posix(), 0))


class Durations:
    """A plugin of pytest, which adds up the durations of the tests of all processes."""

    def __init__(self):
        self.seconds = defaultdict(float)

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid.partition("::")[0].removeprefix("tests/")] += report.duration

    def pytest_sessionfinish(self, session):
        if os.environ.get(RECORD) and not hasattr(session.config, "workerinput"):
            kept = {file: round(self.seconds[file]) for file in sorted(self.seconds) if self.seconds[file] >= LEAST_S}
            RECORDED.write_text(json.dumps(kept, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter):
        """Print what each part of the suite took."""
        if len(self.seconds) < 50:
            return
        parts = defaultdict(float)
        for file, seconds in self.seconds.items():
            parts[file.rpartition("/")[0] or "tests"] += seconds
        whole = sum(parts.values())
        terminalreporter.section("seconds of each part, set-up included")
        for part, seconds in sorted(parts.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{seconds:7.0f}  {seconds / whole:4.0%}  {part}")
