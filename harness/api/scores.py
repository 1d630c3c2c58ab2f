"""The function `pgdl.score`: scores of recorded submissions, or of the competition's own `.predict` files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.api.competition import (
    Competition,
    Submissions,
    collect_records,
    read_competition,
    remarks_on,
    require_records,
)
from harness.board.disclosure import DECIMALS, rounded
from harness.board.leaderboard import make_rows
from harness.board.predictions import read_predictions
from harness.board.repetitions import OwnRandomness, own_randomness_object
from harness.board.row import labelled
from harness.board.scores import score_object
from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.reading import own_path
from harness.records import Records
from harness.summarized import Summarized
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory
from scoring import SubmissionScore, TaskCalls, score_submission

_REFERENCE = "name the directory of the reference data with --reference DIR"


class Scored(NamedTuple):
    """The score of a submission in one configuration, or of a directory of `.predict` files."""

    submission: str
    score: SubmissionScore
    own_randomness: OwnRandomness | None = None  #: spread of the score over seeds; None without repetitions
    settings: str = ""  #: settings that differ from those of most submissions, such as `seed 1`
    sandboxed: bool = True

    @property
    def label(self) -> str:
        """The name with its marks, such as `name (seed 1, not sandboxed)`."""
        return labelled(self.submission, self.settings, sandboxed=self.sandboxed)


@dataclass(frozen=True, repr=False)
class ScoreResult(Summarized):
    """Scores, and remarks on their tasks and records."""

    scores: Sequence[Scored]
    remarks: Sequence[str]
    withheld: frozenset[str]  #: names of the tasks on which scores are rounded

    @property
    def complete(self) -> bool:
        """Whether every submission has a final score, and a score on every task."""
        return all(one.score.complete and one.score.score is not None for one in self.scores)

    @property
    def summary(self) -> list[str]:
        """The score of each submission, and the remarks."""
        return [*map(self.headline, self.scores), *self.remarks]

    @property
    def content(self) -> dict[str, Any]:
        """A JSON object with the scores and the remarks.

        The object has the fields of a single score, or else the list `submissions` with an object for each score.
        """
        rounded = {"rounded": sorted(self.withheld)} if self.withheld else {}
        objects = [
            {"submission": one.submission, "settings": one.settings, "sandboxed": one.sandboxed} | rounded
            | score_object(one.score)
            | ({"own_randomness": own_randomness_object(one.own_randomness)} if one.own_randomness else {})
            for one in self.scores
        ]  # fmt: skip
        return (objects[0] if len(objects) == 1 else {"submissions": objects}) | {"remarks": self.remarks}

    def headline(self, one: Scored) -> str:
        """Return a line with the name and the score of a submission."""
        decimals = DECIMALS if self.withheld else 4
        total = "none" if one.score.score is None else f"{one.score.score:.{decimals}f}"
        return f"{one.label}: score {total}"


def score(
    submissions: Submissions = (),
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    withhold: str = Withhold.AUTO.value,
    everything: bool = False,
    reference: str | Path | None = None,
    predictions: str | Path | None = None,
) -> ScoreResult:
    """Return the scores of recorded submissions, or of a directory of `.predict` files.

    Args:
        submissions: paths and measures as for `run`, in their current version, or names of recorded submissions, in
            their most recently requested version; empty: all recorded submissions.
        everything: score every version and configuration of a submission.
        reference: directory of the reference data; None: the directory of the tasks.
        predictions: directory of files `TASK.predict`, which are scored instead of records.

    Raises:
        UserError: tasks, records or files are missing or invalid.
    """
    if predictions is not None and submissions:
        raise UserError("--predictions scores files: it cannot be combined with SUBMISSION")
    separate = None if reference is None else TaskDirectory(Path(reference), _REFERENCE)
    competition = read_competition(Path(tasks_dir), Withhold(withhold), task_names, separate)
    if predictions is not None:
        directory, references = Path(predictions), competition.references
        values = read_predictions(directory, references)
        tasks = {name: TaskCalls(known.grid, known.gaps, values[name]) for name, known in references.items()}
        scores = [Scored(own_path(directory).name, rounded(score_submission(tasks), competition.withheld))]
        lines = competition.notes(None)
    else:
        scores, lines = _score_records(submissions, results, competition, everything=everything)
    return ScoreResult(scores, lines, competition.withheld)


def _score_records(
    submissions: Submissions, results: Address | Path | str, competition: Competition, *, everything: bool
) -> tuple[list[Scored], list[str]]:
    with Records(results, read_only=True) as records:
        collected = collect_records(records, competition, submissions, everything=everything)
        require_records(collected, records.name)
        lines = remarks_on(records, competition, collected, results)
    rows = make_rows(collected.shown, competition.references, competition.withheld)
    return [Scored(row.submission, row.result, row.own_randomness, row.settings, row.sandboxed) for row in rows], lines
