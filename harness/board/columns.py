"""The columns of all boards, in the order of tables and files."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.board import ON_REQUEST
from harness.board.column import AnyColumn, Column, TaskColumn
from harness.board.disclosure import DECIMALS
from harness.board.on_task import counted
from harness.board.row import Row
from harness.board.scores import decimal, percent
from harness.errors import UserError
from harness.text import p_value_text
from scoring import Standing

POINTS, CORRELATION, SHARE, SECONDS = "0 to 100", "-1 to 1", "0 to 1", "s"

#: Explains the columns `interval`, `ranks` and `group`.
INTERVAL_NOTE = (
    "interval: contains the mean score on these tasks over new trainings of the same networks (90 %). ranks: the ranks "
    "that a submission may have; all are right together (90 %). Submissions of one group cannot be told apart. "
    "Explained in pgdl help statistics."
)

#: Explains the columns `excess` and `p`.
CHANCE_NOTE = (
    "excess: score minus the mean score of random values on these models, with its interval. p: an upper "
    "bound on the probability that any row scores as high if no row knows more about the gaps than two hyperparameters "
    "reveal. A function of three hyperparameters that never uses a network can have a small p, too."
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


def mark_of(row: Row) -> str:
    """Return the text of the column `kind`: "baseline", "not sandboxed", "baseline not sandboxed", or ""."""
    marks = {"baseline": row.kind == "baseline", "not sandboxed": not row.sandboxed}
    return " ".join(mark for mark, holds in marks.items() if holds)


def _settings(row: Row) -> str:
    return ", ".join(one for one in row.settings.split(", ") if not one.startswith("runtime "))


def _of_standing(name: str) -> Callable[[Row], float | None]:
    return lambda row: None if row.standing is None else getattr(row.standing, name)


def _text(text: Callable[[Standing], str]) -> Callable[[Row], str]:
    return lambda row: "-" if row.standing is None else text(row.standing)


def _ranks(standing: Standing) -> str:
    best, worst = standing.best_rank, standing.worst_rank
    return str(best) if best == worst else f"{best}-{worst}"


def _other_tasks(standing: Standing) -> str:
    low, high = standing.tasks_low, standing.tasks_high
    return "-" if low is None or high is None else f"{low:.1f}-{high:.1f}"


def _excess(row: Row) -> str:
    if row.excess is None:
        return "-"
    low, high = row.excess_interval
    interval = "" if low is None else f" ({decimal(low, 1)} to {decimal(high, 1)})"
    return f"{decimal(row.excess, 1)}{interval}"


RANK = Column[Row]("rank", lambda row: row.rank, int, kind="place", low_is_best=True, uses=("rftj", "rfj"))
SUBMISSION = Column[Row]("submission", lambda row: row.submission, str, kind="name", uses=("rftj", ""))
MEASURE = replace(SUBMISSION, key="measure", uses=("", "rftj"))
KIND = Column[Row]("kind", lambda row: row.kind, str, mark_of, title="", kind="text", spare=4, uses=("rftj", ""))
TEAM = Column[Row]("team", lambda row: row.about.team, str, kind="text", optional=True, spare=9, uses=("rfj", ""))
FAMILY = Column[Row]("family", lambda row: row.family, str, kind="text", spare=9, uses=("", "rftj"))
SETTINGS = Column[Row]("settings", _settings, str, kind="text", optional=True, uses=("rfj", ""))
TASK = TaskColumn("task", lambda task: task.name, str, kind="name", uses=("t", "t"))
SCORE = Column[Row](
    "score", lambda row: row.score, text=lambda row: decimal(row.score, DECIMALS if row.rounded else 2), unit=POINTS,
    uses=("rf", "rfj"),
)  # fmt: skip
FINAL_SCORE = replace(SCORE, key="final_score", uses=("t", ""))
INTERVAL = Column[Row](
    "interval", _of_standing("low"), text=_text(lambda standing: f"{standing.low:.1f}-{standing.high:.1f}"),
    unit=POINTS, optional=True, spare=5, note=INTERVAL_NOTE, uses=("r", "r"),
)  # fmt: skip
OTHER_TASKS = Column[Row](
    "other_tasks", _of_standing("tasks_low"), text=_text(_other_tasks), title="other tasks", unit=POINTS, optional=True,
    spare=4, uses=("r", "r"),
)  # fmt: skip
LOW, HIGH, TASKS_LOW, TASKS_HIGH = (
    Column[Row](name, _of_standing(name), unit=POINTS, uses=("ft", "fj"))
    for name in ("low", "high", "tasks_low", "tasks_high")
)
RANKS = Column[Row](
    "ranks", _of_standing("best_rank"), int, _text(_ranks), kind="place", optional=True, spare=4, uses=("r", "")
)
BEST_RANK, WORST_RANK = (
    Column[Row](name, _of_standing(name), int, uses=("ft", "")) for name in ("best_rank", "worst_rank")
)
GROUP = Column[Row]("group", _of_standing("group"), int, optional=True, spare=3, low_is_best=True, uses=("rft", ""))
ERROR, GAP_ERROR, MODEL_ERROR = (
    Column[Row](name, _of_standing(name), unit=POINTS, uses=("ft", ""))
    for name in ("error", "gap_error", "model_error")
)
CHANCE = Column[Row]("chance", lambda row: row.chance_level, unit=POINTS, uses=("fj", "fj"))
EXCESS = Column[Row](
    "excess", lambda row: row.excess, text=_excess, unit=POINTS, optional=True, spare=9, note=CHANCE_NOTE,
    uses=("rfj", "rfj"),
)  # fmt: skip
EXCESS_LOW = Column[Row]("excess_low", lambda row: row.excess_interval[0], unit=POINTS, uses=("fj", "fj"))
EXCESS_HIGH = Column[Row]("excess_high", lambda row: row.excess_interval[1], unit=POINTS, uses=("fj", "fj"))
P_VALUE = Column[Row]("p_value", lambda row: row.p_value, unit=SHARE, uses=("fj", "fj"))
ADJUSTED_P_VALUE = Column[Row](
    "adjusted_p_value", lambda row: row.adjusted_p_value, text=lambda row: p_value_text(row.adjusted_p_value),
    title="p", unit=SHARE, optional=True, spare=5, low_is_best=True, uses=("rfj", "rfj"),
)  # fmt: skip
BEYOND = Column[Row](
    "beyond_hyperparameters", lambda row: row.beyond_hyperparameters, bool,
    lambda row: "yes" if row.beyond_hyperparameters else "-", title="beyond", kind="text", optional=True, spare=5,
    note=BEYOND_NOTE, uses=("rftj", "rftj"),
)  # fmt: skip
TASK_SCORE = TaskColumn(
    "score", lambda task: task.official, title="", unit=POINTS, spare=2,
    text=lambda task: task.official_text() if task.was_called else "-", uses=("rft", "rft"),
)  # fmt: skip
TASK_CHANCE = TaskColumn("chance", lambda task: task.chance_level, unit=POINTS, uses=("t", "t"))
TASK_P_VALUE = TaskColumn(
    "p_value", lambda task: task.p_value, text=lambda task: p_value_text(task.p_value), title="p", unit=SHARE,
    low_is_best=True, uses=("t", "t"),
)  # fmt: skip
TASK_PRINTED = TaskColumn(
    "printed", lambda task: None if task.score is None else percent(task.score.printed), unit=POINTS, uses=("t", "t")
)
TASK_PUBLISHED = TaskColumn("published", lambda task: task.published, unit=POINTS, spare=4)
KENDALL = Column[Row](
    "kendall", lambda row: row.kendall, title="Kendall", digits=3, unit=CORRELATION, optional=True, spare=8,
    uses=("", "rfj"),
)  # fmt: skip
TASK_KENDALL = TaskColumn(
    "kendall", lambda task: task.kendall, title="Kendall", digits=3, unit=CORRELATION, uses=("t", "ft")
)
TASK_GRANULATED = TaskColumn(
    "granulated_kendall", lambda task: None if task.score is None else task.score.granulated_kendall,
    title="granulated Kendall", digits=3, unit=CORRELATION, uses=("t", "t"),
)  # fmt: skip
TASK_SIGN_ERROR = TaskColumn(
    "sign_error", lambda task: None if task.sign_errors is None else task.sign_errors.mean, title="sign-error",
    digits=3, unit=SHARE, low_is_best=True,
)  # fmt: skip
TASK_ROBUST_SIGN_ERROR = TaskColumn(
    "robust_sign_error", lambda task: None if task.sign_errors is None else task.sign_errors.robust,
    title="robust sign-error", digits=3, unit=SHARE, low_is_best=True,
)  # fmt: skip
OWN_ERROR = Column[Row](
    "own_error", lambda row: row.own_error, title="own ±", digits=1, unit=POINTS, optional=True, spare=7,
    low_is_best=True, uses=("rft", ""),
    note="own ±: standard error of the score from the measure's own random draws (pgdl help statistics).",
)  # fmt: skip
RUNTIME = Column[Row](
    "runtime", lambda row: row.configuration.runtime if row.configuration else None, str, kind="text", varying=True,
    spare=6, uses=("rftj", ""),
)  # fmt: skip
SECONDS_PER_MODEL = Column[Row](
    "seconds_per_model", lambda row: row.seconds_per_model, title="s/model", unit=SECONDS, spare=5, low_is_best=True,
    note=SECONDS_NOTE, uses=("rfj", ""),
)  # fmt: skip
MEASURE_SECONDS = replace(SECONDS_PER_MODEL, digits=3, uses=("", "rfj"))
TASK_SECONDS = TaskColumn(
    "seconds_per_model", lambda task: task.seconds_per_model, title="s/model", unit=SECONDS, low_is_best=True,
    uses=("t", "t"),
)  # fmt: skip
CALLS_OK = Column[Row](
    "calls_ok", lambda row: row.calls_ok, int,
    lambda row: f"{row.calls_ok}/{row.calls_expected}{' stale' if row.stale else ''}", title="calls", spare=6,
    uses=("rfj", ""),
)  # fmt: skip
CALLS_EXPECTED = Column[Row]("calls_expected", lambda row: row.calls_expected, int, uses=("fj", ""))
MODELS = replace(CALLS_EXPECTED, key="models", uses=("", "f"))
TASK_MODELS = TaskColumn("models", lambda task: task.n_models, int, uses=("t", "t"))
STALE = Column[Row]("stale", lambda row: row.stale, int, uses=("fj", ""))
FAILED = Column[Row]("failed", lambda row: row.failures.total(), int, uses=("", "f"))
OUTCOMES = Column[Row](
    "outcomes", lambda row: counted(row.failures), str, title="failed", kind="words", optional=True, uses=("", "rf")
)
REASON = Column[Row]("reason", lambda row: row.reason, str, kind="words", uses=("", "f"))
TASK_FAILED = TaskColumn("failed", lambda task: task.failures.total(), int, uses=("", "t"))
TASK_OUTCOMES = TaskColumn("outcomes", lambda task: counted(task.failures), str, kind="words", uses=("", "t"))
TASK_REASON = TaskColumn("reason", lambda task: task.reason, str, kind="words", uses=("t", "t"))
SANDBOXED = Column[Row]("sandboxed", lambda row: row.sandboxed, bool, kind="text", uses=("fj", ""))
VERSION = Column[Row]("version", lambda row: row.version, str, kind="text", uses=("ftj", ""))
REQUESTED_AT = Column[Row](
    "requested_at", lambda row: row.requested_at.isoformat() if row.requested_at else None, str, kind="text",
    uses=("fj", ""),
)  # fmt: skip
CONFIGURATION = Column[Row](
    "configuration", lambda row: row.configuration.id if row.configuration else None, str, kind="text",
    uses=("ftj", ""),
)  # fmt: skip
DESCRIPTION = Column[Row]("description", lambda row: row.about.description, str, kind="words", uses=("fj", ""))
PAPER = Column[Row]("paper", lambda row: row.about.paper, str, kind="words", uses=("fj", ""))

#: All columns, in the order of their definitions.
COLUMNS: list[AnyColumn] = [one for one in list(globals().values()) if isinstance(one, Column)]
_TASK_COLUMNS = {one.key: one for one in COLUMNS if isinstance(one, TaskColumn)}
MORE = {key: _TASK_COLUMNS[key] for key in ON_REQUEST}  #: key -> column that --columns shows


def find_more(keys: Iterable[str]) -> list[TaskColumn]:
    """Return the columns with these keys, which `--columns` names. Raise `UserError` for an unknown key."""
    given = dict.fromkeys(keys)
    for key in given:
        if key not in MORE:
            raise UserError("--columns", expected=f"some of {', '.join(ON_REQUEST)}", found=key)
    return [MORE[key] for key in given]
