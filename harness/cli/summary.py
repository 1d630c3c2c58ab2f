"""The summary of a finished run."""

import statistics
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection

from rich.console import Console

from harness.cli.setup import UNSAFE
from harness.execution.run import Recorded
from harness.outcome import Outcome
from harness.tables import print_lines, print_table

#: Note for every output from which something is withheld.
WITHHELD_NOTE = "Withheld on {}: outputs, messages, values, times and memory (docs/hidden-tasks.md)."


class Tally:
    """Counts the outcomes of a run's calls. Per call it stores only the time: a run may be very long."""

    def __init__(self) -> None:
        self.outcomes: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)  #: by submission and task
        self.seconds: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))

    def add(self, row: Recorded) -> None:
        """Count a recorded call."""
        submission, task = row.planned.submission.name, row.planned.task.name
        self.outcomes[submission, task][row.outcome] += 1
        self.seconds[submission, task].append(row.call_wall_s)

    @property
    def total(self) -> int:
        """Number of calls."""
        return sum(counts.total() for counts in self.outcomes.values())


def print_summary(
    tally: Tally, where: str, console: Console, *, sandboxed: bool, withheld: Collection[str] = ()
) -> int:
    """Print one row per submission and task; returns the exit code: 1 if a call failed, else 0.

    For the tasks `withheld` only outcomes are shown: a submission can choose how much time it takes.
    """
    rows = []
    for (submission, task), outcomes in sorted(tally.outcomes.items()):
        seconds = "-" if task in withheld else f"{statistics.median(tally.seconds[submission, task]):.2f}"
        failures = [f"{number} {outcome}" for outcome, number in outcomes.most_common() if outcome != Outcome.OK]
        good = f"{outcomes[Outcome.OK]} of {outcomes.total()}"
        rows.append([submission, task, good, seconds, ", ".join(failures)])
    titles = ("submission", "task", "ok", "s per call", "failed")
    print_table(console, titles, rows, left=("submission", "task"), wrap=("failed",))
    if withheld:
        print_lines(console, [WITHHELD_NOTE.format(", ".join(sorted(withheld)))])
    if not sandboxed:
        console.print(UNSAFE, style="bold red")
    console.print(f"Records: {where}")
    return 1 if any(outcomes.total() > outcomes[Outcome.OK] for outcomes in tally.outcomes.values()) else 0
