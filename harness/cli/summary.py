"""The summary of a finished run."""

import statistics
from collections.abc import Collection
from typing import Any

from rich.console import Console

from harness.api.tally import machines_line
from harness.outcome import Outcome
from harness.tables import print_lines, print_table
from pgdl import UNSAFE, RunResult, Tally

#: Note on every output that withholds something.
WITHHELD_NOTE = "Withheld on {}: outputs, messages, values, times and memory (pgdl help hidden-tasks)."


def print_summary(
    tally: Tally, where: str, console: Console, *, sandboxed: bool, withheld: Collection[str] = ()
) -> int:
    """Print a row per submission and task, and a row for its repetitions; returns the exit code.

    The exit code is 1 if a call failed, else 0. For the tasks `withheld` only outcomes are shown: a submission could
    tell something by the time it takes.
    """
    rows = []
    for (submission, task, repeated), outcomes in sorted(tally.outcomes.items()):
        median = statistics.median(tally.seconds[submission, task, repeated])
        seconds = "-" if task in withheld else f"{median:.2f}"
        failures = [f"{number} {outcome}" for outcome, number in outcomes.most_common() if outcome != Outcome.OK]
        good = f"{outcomes[Outcome.OK]} of {outcomes.total()}"
        rows.append([submission, f"{task}, repeated" if repeated else task, good, seconds, ", ".join(failures)])
    titles = ("submission", "task", "ok", "s per call", "failed")
    print_table(console, titles, rows, left=("submission", "task"), wrap=("failed",))
    if withheld:
        print_lines(console, [WITHHELD_NOTE.format(", ".join(sorted(withheld)))])
    if not sandboxed:
        console.print(UNSAFE, style="bold red")
    if tally.machines:
        console.print(f"Calls per machine: {machines_line(tally.machines)}")
    console.print(f"Records: {where}")
    return 0 if tally.all_ok else 1


def summary_object(done: RunResult) -> dict[str, Any]:
    """Return the summary for programs, without times of withheld tasks."""
    calls = []
    for (submission, task, repeated), outcomes in sorted(done.tally.outcomes.items()):
        median = statistics.median(done.tally.seconds[submission, task, repeated])
        calls.append({
            "submission": submission, "task": task, "repeated": repeated, "calls": outcomes.total(),
            "outcomes": {str(outcome): number for outcome, number in outcomes.most_common()},
            "median_seconds": None if task in done.withheld else median,
        })  # fmt: skip
    return {
        "ok": done.tally.all_ok, "records": done.records, "sandboxed": done.is_sandboxed, "withheld": done.withheld,
        "calls": calls, "not_deterministic": done.not_deterministic, "machines": done.tally.machines,
    }  # fmt: skip
