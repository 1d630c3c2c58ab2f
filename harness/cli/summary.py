"""The summary of a finished run."""

import statistics
from typing import Any

from rich.console import Console

from harness.api.tally import machines_line
from harness.outcome import Outcome
from harness.tables import print_lines, print_table
from pgdl import UNSAFE, RunResult

#: Note on every output that withholds something.
WITHHELD_NOTE = "Withheld on {}: outputs, messages, values, times and memory (pgdl help hidden-tasks)."


def print_summary(done: RunResult, console: Console) -> None:
    """Print a row per submission and task, and a row for its repetitions.

    For withheld tasks only outcomes are shown: a submission could tell something by the time it takes.
    """
    rows, tally, withheld = [], done.tally, done.withheld
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
    if not done.is_sandboxed:
        console.print(UNSAFE, style="bold red")
    if tally.machines:
        console.print(f"Calls per machine: {machines_line(tally.machines)}")
    console.print(f"Records: {done.records}")


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
        "ok": done.all_ok, "records": done.records, "sandboxed": done.is_sandboxed, "withheld": done.withheld,
        "calls": calls, "not_deterministic": done.not_deterministic, "refused": done.refused,
        "machines": done.tally.machines,
    }  # fmt: skip
