"""Computes the leaderboard of a site from the site's data alone."""

from collections import Counter
from dataclasses import replace

from harness.board.board import Board
from harness.board.disclosure import DECIMALS
from harness.board.leaderboard import Leaderboard, make_rows
from harness.board.on_task import OnTask
from harness.board.rankings import ranked
from harness.board.row import Row
from harness.board.yardsticks import is_scored, score_yardsticks
from harness.site.data import SiteData, SiteSettings, TaskFacts, WithheldResults, key_of
from scoring import mean_score


def leaderboard(data: SiteData) -> Board:
    """Return the board, computed from records on public tasks; the results on hidden tasks are in the settings."""
    settings, given = data.settings, data.settings.withheld
    rows = make_rows(data.calls(), data.references, ())
    rows = [_with_withheld(row, given[key_of(row)], settings) if key_of(row) in given else row for row in rows]
    board = Leaderboard(
        rows, list(settings.tasks), settings.remarks, frozenset(settings.hidden),
        yardsticks=score_yardsticks(data.references, settings.tasks),
        is_scored=is_scored(data.references) or bool(settings.hidden_scored),
    )  # fmt: skip
    return ranked(board, data.held_out).with_columns(settings.columns)


def _with_withheld(row: Row, given: WithheldResults, settings: SiteSettings) -> Row:
    tasks = {name: _on_task(name, row, given, facts) for name, facts in settings.tasks.items()}
    exceeded = row.result.exceeded or given.exceeded
    results = {name: task.result for name, task in tasks.items()}
    lacks = [name for name, task in tasks.items() if task.score is None and name in settings.hidden_scored]
    result = replace(
        row.result,
        score=0.0 if exceeded else mean_score(results.values(), DECIMALS),
        tasks=results,
        complete=row.complete and not lacks,
        exceeded=exceeded,
    )
    own = None if row.own_randomness is None else replace(row.own_randomness, error=None)  # unknown on hidden tasks
    return replace(row, result=result, tasks=tasks, own_randomness=own)


def _on_task(name: str, row: Row, given: WithheldResults, facts: TaskFacts) -> OnTask:
    if not facts.withheld:
        return replace(row.tasks[name], result=given.tasks.get(name, row.tasks[name].result))
    return OnTask(name, given.tasks[name], facts.n_models, Counter(given.failures[name]), {}, withheld=True)
