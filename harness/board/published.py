"""Published scores of measures, from papers and teams, as a column beside the user's own scores."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.board.board import Board
from harness.board.columns import TASK_PUBLISHED
from harness.board.row import Row
from harness.errors import UserError
from harness.hints import did_you_mean

PAPERS = Path(__file__).parent / "papers"  #: directory with a file of published tables for each corpus


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table."""

    source: str  #: where the table was published, for readers
    measure: str | None  #: name of the library's measure with the same definition; None if there is no such measure
    values: Mapping[str, float]  #: task -> score, 0 to 100


def published_names() -> list[str]:
    """Return the names of the corpora with published scores."""
    return sorted(file.stem for file in PAPERS.glob("*.toml"))


def read_published(name: str) -> list[PublishedRow]:
    """Return the published scores on the corpus `name`. Scores by a measure's own authors come first."""
    if name not in published_names():
        known = published_names()
        raise UserError(f"--published: no {name!r}", expected=", ".join(known), remedy=did_you_mean(name, known))
    tables: list[dict[str, Any]] = tomllib.loads((PAPERS / f"{name}.toml").read_text("utf-8"))["tables"]
    return [
        PublishedRow(table["source"], row.get("measure"), dict(zip(table["tasks"], row["values"], strict=True)))
        for table in tables
        for row in table["rows"]
    ]


def require_published(rows: Sequence[PublishedRow], name: str, tasks: Sequence[str]) -> None:
    """Raise `UserError` unless `rows`, the published scores on the corpus `name`, have a score on one of `tasks`."""
    known = {task for row in rows for task in row.values}
    if known.isdisjoint(tasks):
        what, expected = f"--published {name}: no scores on these tasks", f"some of {', '.join(sorted(known))}"
        found, remedy = ", ".join(tasks) or "no whole task", f"pgdl task fetch {name} fetches them"
        raise UserError(what, expected=expected, found=found, remedy=remedy)


def with_published(board: Board, published: Sequence[PublishedRow], tasks: Collection[str]) -> Board:
    """Return the board with a column of published scores on the given tasks, and a remark on their sources."""
    rows = [_beside(row, [one for one in published if one.measure == row.submission], tasks) for row in board.rows]
    shown = {row.submission for row in board.rows}
    found = [one for one in published if one.measure in shown and not one.values.keys().isdisjoint(tasks)]
    sources = "; ".join(dict.fromkeys(one.source for one in found))
    note = (
        f"scores that others reported on tasks of these names, 0 to 100, from the first source that has them: {sources}"
        if sources
        else "no published scores of these measures on these tasks are known"
    )
    return replace(
        board, rows=rows, more=[*board.more, TASK_PUBLISHED], remarks=[*board.remarks, f"published: {note}."]
    )


def _beside(row: Row, published: Sequence[PublishedRow], known: Collection[str]) -> Row:
    values = {task: value for one in reversed(published) for task, value in one.values.items() if task in known}
    tasks = {name: replace(on_task, published=values.get(name)) for name, on_task in row.tasks.items()}
    return replace(row, tasks=tasks)
