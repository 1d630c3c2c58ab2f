"""Reference scores beside a board: how well hyperparameters alone predict the gaps, without any network.

Hidden tasks get no such score, and no fit uses their gaps: published scores could reveal facts about these gaps.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.board.on_task import Vector
from harness.board.yardsticks import ScoreSpread, Yardstick
from harness.format.reference import Reference
from scoring import Grid, ScoreUndefined, additive_fit, official_score


@dataclass(frozen=True)
class Hyperparameters:
    """Official scores of two predictions of the gaps, each a sum of effects of the hyperparameters."""

    #: scores of the least-squares fit to the task's own gaps
    in_sample: Yardstick = field(default_factory=lambda: Yardstick.of({}))

    @property
    def notes(self) -> list[str]:
        """A line for readers that explains the predictions and states their scores; [] if no task has a score."""
        if self.in_sample.score is None:
            return []
        return [
            f"hyperparameters: {self.in_sample.score.text()}, the score of an additive least-squares fit of the gaps "
            f"by all hyperparameters on the same task. It uses no network, is no submission and has no rank."
        ]

    @property
    def content(self) -> dict[str, Any]:
        """Final scores and scores by task, 0 to 100, for JSON."""
        return {"in_sample": _content(self.in_sample)}


def score_hyperparameters(references: Mapping[str, Reference], withheld: Collection[str] = ()) -> Hyperparameters:
    """Compute the scores from the reference data of public tasks; the hidden tasks `withheld` get no score."""
    public = {name: reference for name, reference in references.items() if name not in withheld}
    gaps = {name: np.array([known.gaps[model] for model in known.models]) for name, known in public.items()}
    grids = {name: reference.grid for name, reference in public.items()}
    fits: dict[str, Vector] = {}
    for name, grid in grids.items():
        try:
            fits[name] = additive_fit(gaps[name], grid)
        except ScoreUndefined:
            continue
    scores = {name: _score(fits.get(name), gaps[name], grids[name]) if name in public else None for name in references}
    return Hyperparameters(Yardstick.of(scores, withheld))


def _score(fit: Vector | None, gap: Vector, grid: Grid) -> ScoreSpread | None:
    return None if fit is None else ScoreSpread(100 * official_score(fit, gap, grid).score)


def _content(yardstick: Yardstick) -> dict[str, Any]:
    tasks = {name: None if found is None else found.mean for name, found in yardstick.tasks.items()}
    return {"score": None if yardstick.score is None else yardstick.score.mean, "tasks": tasks}
