"""Which columns the leaderboard and comparisons have, in tables and in files."""

from collections.abc import Sequence
from dataclasses import replace

from harness.board import columns as c
from harness.board import rankings
from harness.board.column import AnyColumn

MEASURE = replace(c.SUBMISSION, key="measure")
_SECONDS = replace(c.SECONDS_PER_MODEL, digits=3)

#: Columns in the order of tables, each with its uses on the leaderboard and in comparisons: `r` in tables for readers,
#: `f` in files with a line for each row, `t` in files with a line for each row and task, `j` in JSON.
USES: Sequence[tuple[AnyColumn, str, str]] = (
    (c.RANK, "rftj", "rfj"),
    (c.SUBMISSION, "rftj", ""),
    (MEASURE, "", "rftj"),
    (c.KIND, "rftj", ""),
    (c.TEAM, "rfj", ""),
    (c.FAMILY, "", "rftj"),
    (c.SETTINGS, "rfj", ""),
    (c.TASK, "t", "t"),
    (c.SCORE, "rf", "rfj"),
    (replace(c.SCORE, key="final_score"), "t", ""),
    (rankings.INTERVAL, "r", "r"),
    (rankings.OTHER_TASKS, "r", "r"),
    (rankings.LOW, "ft", "fj"),
    (rankings.HIGH, "ft", "fj"),
    (rankings.TASKS_LOW, "ft", "fj"),
    (rankings.TASKS_HIGH, "ft", "fj"),
    (rankings.RANKS, "r", ""),
    (rankings.BEST_RANK, "ft", ""),
    (rankings.WORST_RANK, "ft", ""),
    (rankings.GROUP, "rft", ""),
    (rankings.ERROR, "ft", ""),
    (rankings.GAP_ERROR, "ft", ""),
    (rankings.MODEL_ERROR, "ft", ""),
    (c.CHANCE, "fj", "fj"),
    (c.EXCESS, "rfj", "rfj"),
    (c.EXCESS_LOW, "fj", "fj"),
    (c.EXCESS_HIGH, "fj", "fj"),
    (c.P_VALUE, "fj", "fj"),
    (c.ADJUSTED_P_VALUE, "rfj", "rfj"),
    (c.BEYOND, "rftj", "rftj"),
    (c.TASK_SCORE, "rft", "rft"),
    (c.TASK_CHANCE, "t", "t"),
    (c.TASK_P_VALUE, "t", "t"),
    (c.TASK_PRINTED, "t", "t"),
    (c.KENDALL, "", "rfj"),
    (c.TASK_KENDALL, "t", "ft"),
    (c.TASK_GRANULATED, "t", "t"),
    (c.OWN_ERROR, "rft", ""),
    (c.RUNTIME, "rftj", ""),
    (c.SECONDS_PER_MODEL, "rfj", ""),
    (_SECONDS, "", "rfj"),
    (c.TASK_SECONDS, "t", "t"),
    (c.CALLS_OK, "rfj", ""),
    (c.CALLS_EXPECTED, "fj", ""),
    (replace(c.CALLS_EXPECTED, key="models"), "", "f"),
    (c.TASK_MODELS, "t", "t"),
    (c.STALE, "fj", ""),
    (c.FAILED, "", "f"),
    (c.OUTCOMES, "", "rf"),
    (c.REASON, "", "f"),
    (c.TASK_FAILED, "", "t"),
    (c.TASK_OUTCOMES, "", "t"),
    (c.TASK_REASON, "t", "t"),
    (c.SANDBOXED, "fj", ""),
    (c.VERSION, "ftj", ""),
    (c.REQUESTED_AT, "fj", ""),
    (c.CONFIGURATION, "ftj", ""),
    (c.DESCRIPTION, "fj", ""),
    (c.PAPER, "fj", ""),
)


def leaderboard(use: str) -> list[AnyColumn]:
    """Return the leaderboard's columns for one use; `use` is a letter that the comment on `USES` explains."""
    return [column for column, uses, _ in USES if use in uses]


def comparison(use: str) -> list[AnyColumn]:
    """Return the columns of a comparison for one use; `use` is a letter that the comment on `USES` explains."""
    return [column for column, _, uses in USES if use in uses]
