"""The summary of a finished run."""

from rich.console import Console

from harness.outcome import Outcome
from harness.tables import print_lines, print_table
from pgdl import UNSAFE, RunResult

#: Note on hidden tasks, with their names in place of the braces.
WITHHELD_NOTE = "Withheld on {}: outputs, messages, values, times and memory (pgdl help hidden-tasks)."


def print_summary(done: RunResult, console: Console) -> None:
    """Print a row for each submission on each task; a submission with repeated calls on a task gets a second row."""
    rows = []
    for of in done.calls:
        seconds = "-" if of["median_seconds"] is None else f"{of['median_seconds']:.2f}"
        failures = [f"{number} {outcome}" for outcome, number in of["outcomes"].items() if outcome != Outcome.OK]
        good = f"{of['outcomes'].get(Outcome.OK, 0)} of {of['calls']}"
        task = f"{of['task']}, repeated" if of["repeated"] else of["task"]
        rows.append([of["submission"], task, good, seconds, ", ".join(failures)])
    titles = ("submission", "task", "ok", "s per call", "failed")
    print_table(console, titles, rows, left=("submission", "task"), wrap=("failed",))
    print_lines(console, [f"Left out: {line}" for line in done.refused])
    if done.withheld:
        print_lines(console, [WITHHELD_NOTE.format(", ".join(sorted(done.withheld)))])
    if not done.is_sandboxed:
        console.print(UNSAFE, style="bold red")
    console.print(f"Records: {done.records}")
