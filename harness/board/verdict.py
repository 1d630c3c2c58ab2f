"""Who leads a board, and how sure that is, in one or two sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.board.board import Board
from harness.board.disclosure import LUCK_WITHHELD
from harness.board.row import Row
from harness.board.scores import decimal
from harness.text import p_value_equation
from scoring import MINIMUM_TASKS

#: Rows that are named; of more, only their number.
NAMED = 3


@dataclass(frozen=True)
class Words:
    """A piece of a sentence; the name of a row has the path of its page."""

    text: str
    page: str = ""


@dataclass(frozen=True)
class Verdict:
    """Sentences in pieces: who leads with which score, how sure that is, and which tasks it is about."""

    lead: list[Words]
    rest: list[Words] = field(default_factory=list)
    scope: str = ""


def verdict(board: Board, pages: Sequence[str]) -> Verdict:
    """Return the sentences; they claim no more than ranks and rank groups do."""
    ranked = [row for row in board.rows if row.rank is not None]
    if not ranked:
        return Verdict([Words(_nobody(board))])
    linked = {id(row): Words(_name(row, board), page) for row, page in zip(board.rows, pages, strict=True)}
    leaders = [row for row in ranked if row.rank == ranked[0].rank]
    names = _list([linked[id(row)] for row in leaders])
    if ranked[0].score is None:
        return Verdict([Words("Nobody has a score yet.")])
    lead = [*names, Words(f" {'lead' if len(leaders) > 1 else 'leads'} with {decimal(ranked[0].score, 1)}")]
    rest = _interval(leaders)
    best = next((row for row in ranked if row.kind == "submission"), None)
    if best is not None and best.score is not None and "submission" not in {row.kind for row in leaders}:
        rest += [Words(" The best submission is "), linked[id(best)], Words(f", rank {best.rank}.")]
    if not ranked[0].complete:
        missing = " But no row has a value for every model, so its lead may be due to what is missing."
        return Verdict(lead, [*rest, Words(missing)])
    certainty = _certainty(ranked, leaders, [linked[id(row)] for row in ranked])
    return Verdict(lead, [*rest, *_beside_chance(leaders, _compared(ranked)), *certainty], _scope(board))


def _interval(leaders: Sequence[Row]) -> list[Words]:
    """Return the sentence on the interval of the first; those with the same score may have others."""
    standing = leaders[0].standing
    if standing is None or len(leaders) > 1:
        return []
    ends = f"{standing.low:.1f} to {standing.high:.1f}"
    return [Words(f" With these networks trained anew, it would score {ends} (90 %).")]


def _nobody(board: Board) -> str:
    if not board.rows:
        return "Nobody has submitted anything yet."
    if not board.is_scored:
        return "Nobody has a rank: no task has an official score."
    return "Nobody has a rank: all rows ran outside the sandbox."


def _compared(ranked: Sequence[Row]) -> list[Row]:
    return [row for row in ranked if row.adjusted_p_value is not None]


def _beside_chance(leaders: Sequence[Row], compared: Sequence[Row]) -> list[Words]:
    """Return the sentence on whether the first score may be chance, by the p-value of the best of all rows.

    None where there is no p-value of what ranks the rows, as where a task is hidden.
    """
    if leaders[0].adjusted_p_value is None:
        return []
    p_value = p_value_equation(max(row.adjusted_p_value or 0.0 for row in leaders))
    gives = f" Chance gives {decimal(leaders[0].chance_level, 1)}"
    if any(row.may_be_chance for row in leaders):
        return [Words(f"{gives} and could explain the leading score ({p_value}{_of_many(len(compared))}).")]
    beyond = sum(not row.may_be_chance for row in compared)
    told = f"; {beyond} of {len(compared)} rows are beyond it" if len(compared) > 1 else ""
    return [Words(f"{gives} and would hardly reach the leading score ({p_value}{_of_many(len(compared))}){told}.")]


def _of_many(n_rows: int) -> str:
    return f", for the best of {n_rows} rows" if n_rows > 1 else ""


def _certainty(ranked: Sequence[Row], leaders: Sequence[Row], linked: Sequence[Words]) -> list[Words]:
    """Return the sentence on those that may be as good as the first."""
    first = ranked[0].standing
    if first is None:
        return [Words(f" {LUCK_WITHHELD}")]
    others = [(row, words) for row, words in zip(ranked, linked, strict=True) if row.rank != ranked[0].rank]
    compared = [(row.standing, words) for row, words in others if row.standing is not None]
    equal = [words for standing, words in compared if standing.group == first.group]
    if equal:
        return [Words(" "), *_list(equal), Words(f" cannot be told apart from {_them(leaders)}.")]
    if compared:
        complete = "" if len(compared) == len(others) else " with a value for every model"
        worse = f" All others{complete} are worse, by more than luck explains."
        return [] if any(row.may_be_chance for row in leaders) else [Words(worse)]
    return [] if len(leaders) > 1 else [Words(" There is no other complete row to compare it with.")]


def _scope(board: Board) -> str:
    """Return the sentence on the tasks that all this is about; empty where no rows are compared."""
    if board.comparison is None:
        return ""
    few = len(board.comparison.tasks) < MINIMUM_TASKS
    others = f"fewer than {MINIMUM_TASKS} tasks tell nothing of others" if few else "for others, see “other tasks”"
    return f"This is about these tasks, with networks trained anew; {others}."


def _them(leaders: Sequence[Row]) -> str:
    return "it" if len(leaders) == 1 else "the first"


def _name(row: Row, board: Board) -> str:
    """Return the row's label; a baseline among submissions is called one."""
    mixed = row.kind == "baseline" and any(other.kind == "submission" for other in board.rows)
    return f"{row.label} (baseline)" if mixed else row.label


def _list(names: Sequence[Words]) -> list[Words]:
    """Return names as an enumeration: A; A and B; A, B and C; A, B, C and 4 more."""
    more = len(names) - NAMED
    shown = list(names) if more <= 0 else [*names[:NAMED], Words(f"{more} more")]
    found = [shown[0]]
    for number, words in enumerate(shown[1:], start=2):
        found += [Words(" and " if number == len(shown) else ", "), words]
    return found
