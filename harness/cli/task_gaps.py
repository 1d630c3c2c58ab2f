"""Gaps of a task by hyperparameter and their standard error, for people and programs."""

from dataclasses import asdict
from typing import Any

from harness.format.reference import Reference
from harness.printing import say


def print_gaps(reference: Reference, n_test: int | None) -> None:
    """Print the gaps of all models and for each value of each hyperparameter, and their error if `n_test` is known."""
    from harness.tables import print_table, wide_console
    from harness.task.summary import GAP_COLUMNS, gap_error, gap_rows

    headings = ("hyperparameter", "value", "models", *GAP_COLUMNS)
    print_table(wide_console(), headings, gap_rows(reference), left=("hyperparameter", "value"))
    if n_test is not None:
        error = gap_error(n_test, reference)
        share = "" if error.share is None else f", {error.share:.0%} of the variance of the gaps"
        say(f"standard error of a gap: {error.standard_error:.4f}, from {error.n_test} test samples{share}")


def gaps_object(reference: Reference, n_test: int | None) -> dict[str, Any]:
    """Return the same for programs."""
    from harness.task.summary import gap_error, gaps_by_value

    content: dict[str, Any] = {"gaps_by_value": [asdict(one) for one in gaps_by_value(reference) if one.models]}
    if n_test is not None:
        content["gap_error"] = asdict(gap_error(n_test, reference))
    return content
