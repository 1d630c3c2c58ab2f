"""The columns of all boards, except the columns of intervals and ranks in `rankings`."""

from collections.abc import Iterable

from harness.board import ON_REQUEST
from harness.board.column import Column, TaskColumn
from harness.board.disclosure import DECIMALS
from harness.board.on_task import counted
from harness.board.row import Row
from harness.board.scores import decimal, percent
from harness.errors import UserError
from harness.text import p_value_text

POINTS, CORRELATION, SHARE, SECONDS = "0 to 100", "-1 to 1", "0 to 1", "s"


def mark_of(row: Row) -> str:
    """Return the text of the column `kind`: "baseline", "not sandboxed", "baseline not sandboxed", or ""."""
    marks = {"baseline": row.kind == "baseline", "not sandboxed": not row.sandboxed}
    return " ".join(mark for mark, holds in marks.items() if holds)


def _excess(row: Row) -> str:
    if row.excess is None:
        return "-"
    low, high = row.excess_interval
    interval = "" if low is None else f" ({decimal(low, 1)} to {decimal(high, 1)})"
    return f"{decimal(row.excess, 1)}{interval}"


def _settings(row: Row) -> str:
    return ", ".join(one for one in row.settings.split(", ") if not one.startswith("runtime "))


RANK = Column[Row]("rank", lambda row: row.rank, int, kind="place", low_is_best=True)
SUBMISSION = Column[Row]("submission", lambda row: row.submission, str, kind="name")
KIND = Column[Row]("kind", lambda row: row.kind, str, mark_of, title="", kind="text", spare=4)
TEAM = Column[Row]("team", lambda row: row.about.team, str, kind="text", optional=True, spare=9)
DESCRIPTION = Column[Row]("description", lambda row: row.about.description, str, kind="words")
PAPER = Column[Row]("paper", lambda row: row.about.paper, str, kind="words")
FAMILY = Column[Row]("family", lambda row: row.family, str, kind="text", spare=9)
SCORE = Column[Row](
    "score", lambda row: row.score, text=lambda row: decimal(row.score, DECIMALS if row.rounded else 2), unit=POINTS
)
#: Explains the columns `excess` and `p`.
CHANCE_NOTE = (
    "excess: score minus the mean score of random values on these models, with its interval. p: at most the "
    "probability that any row scores as high if no row knows more about the gaps than two hyperparameters tell. A "
    "function of three hyperparameters that never uses a network can have a small p, too."
)

#: Explains the column `beyond`.
BEYOND_NOTE = (
    "beyond: yes if the score is surely (95 %) above the score of the hyperparameters, an additive fit of the gaps on "
    "the same networks, and the unadjusted p-value is at most 0.05. Interactions of hyperparameters are not excluded."
)

#: Explains the column `s/model`.
SECONDS_NOTE = (
    "s/model: median seconds of a call. Measures of the library that run in one command share imports and work on a "
    "model, which count for the first measure that needs them."
)

CHANCE = Column[Row]("chance", lambda row: row.chance_level, unit=POINTS)
EXCESS = Column[Row](
    "excess", lambda row: row.excess, text=_excess, unit=POINTS, optional=True, spare=9, note=CHANCE_NOTE
)
EXCESS_LOW = Column[Row]("excess_low", lambda row: row.excess_interval[0], unit=POINTS)
EXCESS_HIGH = Column[Row]("excess_high", lambda row: row.excess_interval[1], unit=POINTS)
P_VALUE = Column[Row]("p_value", lambda row: row.p_value, unit=SHARE)
ADJUSTED_P_VALUE = Column[Row](
    "adjusted_p_value", lambda row: row.adjusted_p_value, text=lambda row: p_value_text(row.adjusted_p_value),
    title="p", unit=SHARE, optional=True, spare=5, low_is_best=True,
)  # fmt: skip
BEYOND = Column[Row](
    "beyond_hyperparameters", lambda row: row.beyond_hyperparameters, bool,
    lambda row: "yes" if row.beyond_hyperparameters else "-", title="beyond", kind="text", optional=True, spare=5,
    note=BEYOND_NOTE,
)  # fmt: skip
KENDALL = Column[Row](
    "kendall", lambda row: row.kendall, title="Kendall", digits=3, unit=CORRELATION, optional=True, spare=8
)
OWN_ERROR = Column[Row](
    "own_error", lambda row: row.own_error, title="own ±", digits=1, unit=POINTS, optional=True, spare=7,
    low_is_best=True,
    note="own ±: standard error of the score from the measure's own random draws (pgdl help statistics).",
)  # fmt: skip
SECONDS_PER_MODEL = Column[Row](
    "seconds_per_model", lambda row: row.seconds_per_model, title="s/model", unit=SECONDS, spare=5, low_is_best=True,
    note=SECONDS_NOTE,
)  # fmt: skip
CALLS_OK = Column[Row](
    "calls_ok", lambda row: row.calls_ok, int,
    lambda row: f"{row.calls_ok}/{row.calls_expected}{' stale' if row.stale else ''}", title="calls", spare=6,
)  # fmt: skip
CALLS_EXPECTED = Column[Row]("calls_expected", lambda row: row.calls_expected, int)
STALE = Column[Row]("stale", lambda row: row.stale, int)
SANDBOXED = Column[Row]("sandboxed", lambda row: row.sandboxed, bool, kind="text")
VERSION = Column[Row]("version", lambda row: row.version, str, kind="text")
REQUESTED_AT = Column[Row](
    "requested_at", lambda row: row.requested_at.isoformat() if row.requested_at else None, str, kind="text"
)
CONFIGURATION = Column[Row](
    "configuration", lambda row: row.configuration.id if row.configuration else None, str, kind="text"
)
RUNTIME = Column[Row](
    "runtime", lambda row: row.configuration.runtime if row.configuration else None, str, kind="text", varying=True,
    spare=6,
)  # fmt: skip
SETTINGS = Column[Row]("settings", _settings, str, kind="text", optional=True)
FAILED = Column[Row]("failed", lambda row: row.failures.total(), int)
OUTCOMES = Column[Row]("outcomes", lambda row: counted(row.failures), str, title="failed", kind="words", optional=True)
REASON = Column[Row]("reason", lambda row: row.reason, str, kind="words")

TASK = TaskColumn("task", lambda task: task.name, str, kind="name")
TASK_SCORE = TaskColumn(
    "score", lambda task: task.official, title="", unit=POINTS, spare=2,
    text=lambda task: task.official_text() if task.was_called else "-",
)  # fmt: skip
TASK_PRINTED = TaskColumn(
    "printed", lambda task: None if task.score is None else percent(task.score.printed), unit=POINTS
)
TASK_PUBLISHED = TaskColumn("published", lambda task: task.published, unit=POINTS, spare=4)
TASK_CHANCE = TaskColumn("chance", lambda task: task.chance_level, unit=POINTS)
TASK_P_VALUE = TaskColumn(
    "p_value", lambda task: task.p_value, text=lambda task: p_value_text(task.p_value), title="p", unit=SHARE,
    low_is_best=True,
)  # fmt: skip
TASK_KENDALL = TaskColumn("kendall", lambda task: task.kendall, title="Kendall", digits=3, unit=CORRELATION)
TASK_GRANULATED = TaskColumn(
    "granulated_kendall", lambda task: None if task.score is None else task.score.granulated_kendall,
    title="granulated Kendall", digits=3, unit=CORRELATION,
)  # fmt: skip
TASK_SIGN_ERROR = TaskColumn(
    "sign_error", lambda task: None if task.sign_errors is None else task.sign_errors.mean, title="sign-error",
    digits=3, unit=SHARE, low_is_best=True,
)  # fmt: skip
TASK_ROBUST_SIGN_ERROR = TaskColumn(
    "robust_sign_error", lambda task: None if task.sign_errors is None else task.sign_errors.robust,
    title="robust sign-error", digits=3, unit=SHARE, low_is_best=True,
)  # fmt: skip
TASK_SECONDS = TaskColumn(
    "seconds_per_model", lambda task: task.seconds_per_model, title="s/model", unit=SECONDS, low_is_best=True
)
TASK_MODELS = TaskColumn("models", lambda task: task.n_models, int)
TASK_FAILED = TaskColumn("failed", lambda task: task.failures.total(), int)
TASK_OUTCOMES = TaskColumn("outcomes", lambda task: counted(task.failures), str, kind="words")
TASK_REASON = TaskColumn("reason", lambda task: task.reason, str, kind="words")

_TASK_COLUMNS = {one.key: one for one in list(globals().values()) if isinstance(one, TaskColumn)}
MORE = {key: _TASK_COLUMNS[key] for key in ON_REQUEST}  #: key -> column that only --columns shows


def find_more(keys: Iterable[str]) -> list[TaskColumn]:
    """Return the columns for the keys in --columns. Raise `UserError` for an unknown key."""
    given = dict.fromkeys(keys)
    for key in given:
        if key not in MORE:
            raise UserError("--columns", expected=f"some of {', '.join(ON_REQUEST)}", found=key)
    return [MORE[key] for key in given]
