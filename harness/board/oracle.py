"""The score of the noisy oracle, a yardstick beside the board: it has no row, and no comparison includes it."""

import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from harness.board.yardstick import ScoreSpread, Yardstick
from harness.format.reference import Reference
from scoring import ORACLE_DRAWS, ORACLE_NOISE, Grid, ScoreUndefined, oracle_scores, require_official


class Oracle(Yardstick):
    """The scores of the gaps themselves with a little noise; None on hidden tasks, and where no score is official."""

    @property
    def note(self) -> str:
        """A line for readers that explains the oracle and gives its score."""
        if self.score is None:
            return "noisy oracle: none, because no submission can have an official score on these tasks."
        return (
            f"noisy oracle: {self.score.text()}, mean and standard deviation of {ORACLE_DRAWS} draws: the score of the "
            f"gaps themselves with normal noise of {ORACLE_NOISE} added. It shows the scale; it is no submission, has "
            "no rank, and a good measure may lie above it."
        )

    @property
    def content(self) -> dict[str, Any]:
        """The oracle as a JSON object."""
        tasks = {name: None if spread is None else asdict(spread) for name, spread in self.tasks.items()}
        score = None if self.score is None else asdict(self.score)
        return {"noise": ORACLE_NOISE, "draws": ORACLE_DRAWS, "score": score, "tasks": tasks}


def score_oracle(references: Mapping[str, Reference], withheld: Collection[str] = ()) -> Oracle:
    """Score the oracle from reference data alone, but not on the tasks `withheld`."""
    tasks = {name: None if name in withheld else _on_task(name, known) for name, known in references.items()}
    return Oracle.of(tasks, withheld)


def is_scored(references: Mapping[str, Reference]) -> bool:
    """Whether any of the tasks can have an official score."""
    return any(_has_official(reference.grid) for reference in references.values())


def _has_official(grid: Grid) -> bool:
    try:
        require_official(grid)
    except ScoreUndefined:
        return False
    return True


def _on_task(name: str, reference: Reference) -> ScoreSpread | None:
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        scores = oracle_scores(gaps, reference.grid, seed=zlib.crc32(name.encode()))
    except ScoreUndefined:
        return None
    return ScoreSpread(100 * float(scores.mean()), 100 * float(scores.std(ddof=1)))
