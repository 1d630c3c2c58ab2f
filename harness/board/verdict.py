"""Sentences that say who leads a board, and how certain the lead is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.board.board import Board
from harness.board.disclosure import LUCK_WITHHELD
from harness.board.row import Row
from harness.board.scores import decimal
from harness.text import p_value_equation
from scoring import MINIMUM_TASKS

NAMED = 3  #: maximum number of rows that a sentence names; it counts further rows


@dataclass(frozen=True)
class Words:
    """A part of a sentence, with a link if the part is the name of a row."""

    text: str
    page: str = ""  #: target of a link: the path of a row's page, if the text is the row's name


@dataclass(frozen=True)
class Verdict:
    """Sentences on the leading rows of a board."""

    lead: list[Words]  #: the leaders and their score
    rest: list[Words] = field(default_factory=list)  #: how certain the lead is
    scope: str = ""  #: the tasks to which the sentences apply


def verdict(board: Board, pages: Sequence[str]) -> Verdict:
    """Return sentences that say who leads a board; `pages` holds the path of each row's page."""
    ranked = [row for row in board.rows if row.rank is not None]
    if not ranked:
        return Verdict([Words(_nobody(board))])
    is_mixed = len({row.kind for row in board.rows}) > 1
    labels = [f"{row.label} (baseline)" if is_mixed and row.kind == "baseline" else row.label for row in board.rows]
    linked = {id(row): Words(*words) for row, *words in zip(board.rows, labels, pages, strict=True)}
    leaders = [row for row in ranked if row.rank == ranked[0].rank]
    names = _list([linked[id(row)] for row in leaders])
    if ranked[0].score is None:
        return Verdict([Words("Nobody has a score yet.")])
    luck = ", maybe by chance" if any(row.may_be_chance for row in leaders) else ""
    lead = [*names, Words(f" {'lead' if len(leaders) > 1 else 'leads'} with {decimal(ranked[0].score, 1)}{luck}")]
    rest = _interval(leaders)
    best = next((row for row in ranked if row.kind == "submission"), None)
    if best is not None and best.score is not None and "submission" not in {row.kind for row in leaders}:
        rest += [Words(" The best submission is "), linked[id(best)], Words(f", rank {best.rank}.")]
    if not ranked[0].complete:
        missing = " But no row has a value for every model, so the lead may be due to missing values."
        return Verdict(lead, [*rest, Words(missing)])
    certainty = _certainty(ranked, leaders, [linked[id(row)] for row in ranked])
    return Verdict(lead, [*rest, *_beside_chance(leaders, ranked), *certainty], _scope(board))


def _interval(leaders: Sequence[Row]) -> list[Words]:
    standing = leaders[0].standing
    if standing is None or len(leaders) > 1:
        return []
    ends = f"{standing.low:.1f} to {standing.high:.1f}"
    return [Words(f" If these networks were trained anew, it would score {ends} (90 % interval).")]


def _nobody(board: Board) -> str:
    if not board.rows:
        return "Nobody has submitted anything yet."
    if not board.is_scored:
        return "Nobody has a rank: no task has an official score."
    return "Nobody has a rank: all rows ran outside the sandbox."


def _beside_chance(leaders: Sequence[Row], ranked: Sequence[Row]) -> list[Words]:
    if leaders[0].adjusted_p_value is None:
        return []
    compared = [row for row in ranked if row.adjusted_p_value is not None]
    p_value = p_value_equation(max(row.adjusted_p_value or 0.0 for row in leaders))
    gives = f" Chance gives {decimal(leaders[0].chance_level, 1)}"
    if any(row.may_be_chance for row in leaders):
        return [Words(f"{gives} and could explain the leading score ({p_value}{_of_many(len(compared))}).")]
    beyond = sum(not row.may_be_chance for row in compared)
    others = f"; {beyond} of {len(compared)} rows are beyond it" if len(compared) > 1 else ""
    return [Words(f"{gives} and would hardly reach the leading score ({p_value}{_of_many(len(compared))}){others}.")]


def _of_many(n_rows: int) -> str:
    return f", for the best of {n_rows} rows" if n_rows > 1 else ""


def _certainty(ranked: Sequence[Row], leaders: Sequence[Row], linked: Sequence[Words]) -> list[Words]:
    first = ranked[0].standing
    if first is None:
        return [Words(f" {LUCK_WITHHELD}")]
    others = [(row, words) for row, words in zip(ranked, linked, strict=True) if row.rank != ranked[0].rank]
    compared = [(row.standing, words) for row, words in others if row.standing is not None]
    equal = [words for standing, words in compared if standing.group == first.group]
    if equal:
        leader = "it" if len(leaders) == 1 else "the first"
        return [Words(" "), *_list(equal), Words(f" cannot be told apart from {leader}.")]
    if compared:
        complete = "" if len(compared) == len(others) else " with a value for every model"
        worse = f" All others{complete} are worse, by more than luck explains."
        return [] if any(row.may_be_chance for row in leaders) else [Words(worse)]
    return [] if len(leaders) > 1 else [Words(" There is no other complete row to compare it with.")]


def _scope(board: Board) -> str:
    if board.comparison is None:
        return ""
    few = len(board.comparison.tasks) < MINIMUM_TASKS
    others = f"fewer than {MINIMUM_TASKS} tasks say nothing about others" if few else "for others, see “other tasks”"
    return f"This applies to these tasks, with networks trained anew; {others}."


def _list(names: Sequence[Words]) -> list[Words]:
    more = len(names) - NAMED
    shown = list(names) if more <= 0 else [*names[:NAMED], Words(f"{more} more")]
    found = [shown[0]]
    for number, words in enumerate(shown[1:], start=2):
        found += [Words(" and " if number == len(shown) else ", "), words]
    return found
