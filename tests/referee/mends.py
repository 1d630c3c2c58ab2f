"""Undoes fixes of faults, one at a time, and measures how fast the referee finds the fault again.

    python -m tests.referee.mends [NAME...]

The faults lay between parts that were right by themselves. Works on a copy of the checkout, and prints the time to each
finding; exit code 1 if a fault was not found in ten minutes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

#: Parts of a checkout that the referee needs.
PARTS = ("baselines", "harness", "scoring", "tests", "pyproject.toml", "submissions")

SECONDS = 600


class Mend(NamedTuple):
    """A fix: a piece of a file, and the faulty text that it replaced."""

    file: str
    now: str
    before: str


MENDS = {
    "the oracle takes part in ranks": Mend(
        "harness/board/rankings.py",
        "    compared = _compare(rows, held_out)\n",
        "    best = board.yardsticks.oracle.score.mean if board.yardsticks.oracle.score else -1.0\n"
        "    rows = [replace(row, rank=row.rank and row.rank + ((row.score or 0.0) < best)) for row in rows]\n"
        "    compared = _compare(rows, held_out)\n",
    ),
    "a column is known by its heading": Mend("harness/board/column.py", 'return f"{self.key}:{task}"', "return task"),
    "ci ranks though records are missing": Mend(
        "harness/api/ci.py",
        "missing, no_ranks = boards.missing if lines else [], list[str]()",
        "missing, no_ranks = [], []",
    ),
    "ci ranks at the base though records are missing there": Mend(
        "harness/api/ci.py", "unknown = [] if missing else boards.unknown", "unknown = []"
    ),
    "the password is in printed commands": Mend(
        "harness/api/commands.py",
        "    if results.has_secrets:\n"
        '        return \'--results "$PGDL_RESULTS"\' if _is_set("--results") else '
        "'--results \"${PGDL_RESULTS:?its address}\"'\n"
        '    return typed(*_option("--results", str(results), RESULTS))\n',
        '    return typed(*_option("--results", results.reveal(), RESULTS))\n',
    ),
    "a copy of an earlier version needs no leave": Mend(
        "harness/api/submissions.py",
        "one.digest == before[-1].submission_digest",
        "one.digest in {request.submission_digest for request in before}",
    ),
    "merged requests displace those from here": Mend(
        "harness/board/versions.py", "return [*sorted(merged, key=_age), *own]", "return given"
    ),
    "without a record nothing was asked for": Mend(
        "harness/board/versions.py",
        "    requested = _last_requests(records.requests(), references)\n",
        "    requested = _last_requests(records.requests(), references)\n"
        "    made = recorded_versions(records, references)\n"
        "    requested = {name: request for name, request in requested.items() if name in made}\n",
    ),
    "ci judges rows of other settings": Mend(
        "harness/api/ci.py",
        "return same and configuration.is_sandboxed",
        "return bool(same or wanted) and configuration.is_sandboxed",
    ),
    "similar names live beside each other": Mend(
        "harness/names.py", """    seen = re.sub(""", """    return name\n    seen = re.sub("""
    ),
    "a submission with a flaw is run": Mend(
        "harness/api/runs.py", "zip(given, flaws, strict=True) if flaw is None]", "zip(given, flaws, strict=True)]"
    ),
    "ranks without an official score": Mend(
        "harness/board/rankings.py",
        "row.sandboxed and row.calls_expected > 0 and board.is_scored",
        "row.sandboxed and row.calls_expected > 0",
    ),
    "the command for stale rows gives no names": Mend(
        "harness/api/commands.py",
        'words += _each("--as", [one.submission for one in distinct if _is_path(one)])',
        "pass",
    ),
    "the command for stale rows names similar ones": Mend(
        "harness/board/remarks.py", "turns[per_task, settings, name] += 1", "pass"
    ),
    "a copy under another name is not named": Mend(
        "harness/board/remarks.py", "in find_same(collected.shown)),\n", "in ()),\n"
    ),
    "a score is known by its files alone": Mend(
        "harness/api/competition.py",
        "return submission.name == calls.submission or submission.source == calls.source",
        "return True",
    ),
    "the loader is in no key": Mend("harness/execution/settings.py", "loader=loader_digest(runtime)", 'loader=""'),
    "why a hidden task has no score is said": Mend(
        "harness/board/disclosure.py", 'undefined=REASON_WITHHELD if task.undefined else ""', "undefined=task.undefined"
    ),
    "notes on hidden tasks are printed": Mend(
        "harness/api/calls.py",
        "[task for task in self.tasks if not self.settings.withhold.covers(task.hidden)]",
        "list(self.tasks)",
    ),
    "hidden tasks are shown by task commands": Mend(
        "harness/task/summary.py", "withheld = withhold.covers(files.hidden)", "withheld = False"
    ),
    "a run records without its claim": Mend(
        "harness/records/writer.py",
        "insert_missing(connection, group, held)",
        "insert_missing(connection, group, None)",
    ),
}


def find(mend: Mend) -> float | None:
    """Return the seconds until the referee finds the fault; None if the time runs out first."""
    with tempfile.TemporaryDirectory(prefix="mends-") as copy:
        for part in PARTS:
            source, target = ROOT / part, Path(copy, part)
            shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)
        file = Path(copy, mend.file)
        content = file.read_text()
        assert content.count(mend.now) == 1, f"{mend.file}: expected once: {mend.now}"
        file.write_text(content.replace(mend.now, mend.before))
        settings = {"PYTHONPATH": copy, "PGDL_REFEREE_EXAMPLES": "100000", "PGDL_REFEREE_SHRINK": "0"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-W", "ignore", "tests/referee/test_referee.py"]
        began = time.monotonic()
        try:
            done = subprocess.run(command, cwd=copy, env=os.environ | settings, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        assert done.returncode == 1, done.stdout.decode()
        return time.monotonic() - began


def main(names: Iterable[str]) -> int:
    """Try the named fixes, by default all."""
    found = {}
    for name in names or MENDS:
        found[name] = find(MENDS[name])
        print(f"{name}: {'NOT FOUND' if found[name] is None else f'{found[name]:.0f} s'}", flush=True)
    return 1 if None in found.values() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
