"""The summary of a finished run."""

import statistics
from collections.abc import Collection

from rich.console import Console

from harness.api import UNSAFE, Tally
from harness.outcome import Outcome
from harness.tables import print_lines, print_table

#: Note for every output from which something is withheld.
WITHHELD_NOTE = "Withheld on {}: outputs, messages, values, times and memory (docs/hidden-tasks.md)."


def print_summary(
    tally: Tally, where: str, console: Console, *, sandboxed: bool, withheld: Collection[str] = ()
) -> int:
    """Print one row per submission and task, and one for its repetitions; returns the exit code.

    It is 1 if a call failed, else 0. For the tasks `withheld` only outcomes are shown: a submission can choose how much
    time it takes.
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
    console.print(f"Records: {where}")
    return 0 if tally.all_ok else 1
