"""Makes the data of the page that compares submissions, as a script; assets/compare.js draws the page."""

import json
from collections.abc import Sequence
from typing import Any

from scipy.stats import rankdata

from harness.board.board import Board
from harness.board.on_task import OnTask
from harness.board.scores import decimal
from harness.site.charts import described
from harness.site.data import SiteData
from scoring import Failure


def values_script(data: SiteData, board: Board, pages: Sequence[str]) -> str:
    """Return a script that defines `COMPARED`: the rows, and for each task the ranks of gaps and of each row's values.

    The data are in a script because a page that is opened from a disk can load scripts, but no data files.
    """
    rows = [
        {"name": row.label, "page": page, "score": decimal(row.score, 1)}
        for row, page in zip(board.rows, pages, strict=True)
    ]
    tasks = [_task(name, data, [row.tasks[name] for row in board.rows]) for name in board.tasks]
    return f"const COMPARED = {json.dumps({'rows': rows, 'tasks': tasks})};\n"


def _task(name: str, data: SiteData, on_task: Sequence[OnTask]) -> dict[str, Any]:
    scores = [task.official_text(1) for task in on_task]
    reference = data.references.get(name)
    if reference is None:
        return {"name": name, "scores": scores, "models": [], "gaps": [], "ranks": []}
    grid = reference.grid
    return {
        "name": name, "scores": scores,
        "models": [f"{model}{described(grid, number, grid.names)}" for number, model in enumerate(grid.models)],
        "gaps": rankdata([reference.gaps[model] for model in grid.models]).tolist(),
        "ranks": [_ranks(task, grid.models) for task in on_task],
    }  # fmt: skip


def _ranks(task: OnTask, models: Sequence[str]) -> list[float | None]:
    values = task.scored.values if task.scored else {}
    known = {model: value for model in models if not isinstance(value := values.get(model), Failure | None)}
    ranks = dict(zip(known, rankdata(list(known.values())).tolist(), strict=True))
    return [ranks.get(model) for model in models]
