"""What a run prints when it is over."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table

from harness.cli.setup import UNSAFE
from harness.records import Evaluation
from harness.sandbox.outcome import Outcome

#: What is said wherever something is not shown.
WITHHELD_NOTE = "Withheld on {}: outputs, messages, values, times and memory (docs/hidden-tasks.md)."


def print_summary(
    evaluations: Sequence[Evaluation],
    where: str,
    console: Console,
    *,
    sandboxed: bool,
    withheld: Collection[str] = (),
) -> int:
    """Print one row per submission and task; returns the exit code: 1 if a call failed, else 0.

    Of the tasks `withheld` only outcomes are counted: a time is a number that a submission chooses.
    """
    groups: dict[tuple[str, str], list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        groups[evaluation.submission, evaluation.task].append(evaluation)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        ("submission", "left"),
        ("task", "left"),
        ("ok", "right"),
        ("s per call", "right"),
    ):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("failed")
    for (submission, task), rows in sorted(groups.items()):
        outcomes = Counter(row.outcome for row in rows)
        good = outcomes.pop(Outcome.OK, 0)
        seconds = "-" if task in withheld else f"{statistics.median(row.call_wall_s for row in rows):.2f}"
        failed = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
        table.add_row(submission, task, f"{good} of {len(rows)}", seconds, failed)
    console.print(table)
    if withheld:
        console.print(WITHHELD_NOTE.format(", ".join(sorted(withheld))), style="dim", markup=False, highlight=False)
    if not sandboxed:
        console.print(UNSAFE, style="bold red", markup=False)
    console.print(f"Records: {where}", markup=False)
    return 1 if any(evaluation.outcome != Outcome.OK for evaluation in evaluations) else 0
