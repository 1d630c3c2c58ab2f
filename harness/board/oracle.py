"""The noisy oracle: a row of the leaderboard that shows how well a good measure could do."""

from collections import Counter
from collections.abc import Collection, Mapping

from harness.board.rounding import rounded
from harness.board.row import OnTask, Row
from harness.format.reference import Reference
from harness.submission.name import ORACLE
from scoring import SubmissionScore, TaskCalls, noisy_oracle, score_submission

#: Standard deviation of the noise, in gaps.
ORACLE_NOISE = 0.02


def score_oracle(references: Mapping[str, Reference]) -> SubmissionScore:
    """Score the gap itself with a little noise, computed from reference data alone."""
    return score_submission(_calls(references))


def oracle_row(references: Mapping[str, Reference], withheld: Collection[str]) -> Row:
    """Return the oracle's row, without a rank; it ranks although it never ran in a sandbox."""
    calls = _calls(references)
    result = rounded(score_submission(calls), withheld)
    tasks = {
        task: OnTask(
            result.tasks[task],
            len(reference.models),
            Counter(),
            {},
            withheld=task in withheld,
            scored=None if task in withheld else calls[task],
        )
        for task, reference in references.items()
    }
    return Row(None, ORACLE, "oracle", result, tasks, sandboxed=True)


def _calls(references: Mapping[str, Reference]) -> dict[str, TaskCalls]:
    calls = {}
    for task, reference in references.items():
        values = noisy_oracle(list(reference.gaps.values()), ORACLE_NOISE)
        named = dict(zip(reference.gaps, map(float, values), strict=True))
        calls[task] = TaskCalls(reference.grid, reference.gaps, named)
    return calls
