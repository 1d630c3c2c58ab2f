"""The noisy oracle, a yardstick beside the board: the score of the gaps themselves with a little noise."""

import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from harness.board.yardstick import ScoreSpread, Yardstick
from harness.format.reference import Reference
from scoring import ORACLE_DRAWS, ORACLE_NOISE, ScoreUndefined, oracle_scores, require_official


class Oracle(Yardstick):
    """The scores of the noisy oracle: means and standard deviations of `ORACLE_DRAWS` draws of the noise."""

    @property
    def note(self) -> str:
        """A line for readers that explains the noisy oracle and states its score."""
        if self.score is None:
            return "noisy oracle: none, because no submission can have an official score on these tasks."
        return (
            f"noisy oracle: {self.score.text()}, mean and standard deviation of {ORACLE_DRAWS} draws: the score of the "
            f"gaps themselves with normal noise of {ORACLE_NOISE} added. It shows the scale; it is no submission, has "
            "no rank, and a good measure may lie above it."
        )

    @property
    def content(self) -> dict[str, Any]:
        """Noise, number of draws, final score and scores by task, for JSON."""
        tasks = {name: None if spread is None else asdict(spread) for name, spread in self.tasks.items()}
        score = None if self.score is None else asdict(self.score)
        return {"noise": ORACLE_NOISE, "draws": ORACLE_DRAWS, "score": score, "tasks": tasks}


def score_oracle(references: Mapping[str, Reference], withheld: Collection[str] = ()) -> Oracle:
    """Return the scores of the noisy oracle, from reference data alone; the tasks `withheld` have no score."""
    tasks = {name: None if name in withheld else _on_task(name, known) for name, known in references.items()}
    return Oracle.of(tasks, withheld)


def is_scored(references: Mapping[str, Reference]) -> bool:
    """Whether any task can have an official score, which needs a full grid of three hyperparameters."""
    for reference in references.values():
        with suppress(ScoreUndefined):
            require_official(reference.grid)
            return True
    return False


def _on_task(name: str, reference: Reference) -> ScoreSpread | None:
    gaps = [reference.gaps[model] for model in reference.grid.models]
    try:
        scores = oracle_scores(gaps, reference.grid, seed=zlib.crc32(name.encode()))
    except ScoreUndefined:
        return None
    return ScoreSpread(100 * float(scores.mean()), 100 * float(scores.std(ddof=1)))
