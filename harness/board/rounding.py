"""What is published of scores on hidden tasks.

Every digit that a participant is shown tells him something about the hidden models: whoever hands in often enough
puts it together. So scores are rounded, and the numbers that they are made of are left out.
"""

from collections.abc import Collection
from dataclasses import replace

from scoring import SubmissionScore, TaskScore, mean_score

#: Digits behind the point on the scale from 0 to 100, and on that from 0 to 1.
DECIMALS = 1
_DECIMALS_OF_1 = DECIMALS + 2

#: Stands instead of the reason, which says which model failed and how.
FAILED = "no score, the reason is withheld"


def rounded(result: SubmissionScore, withheld: Collection[str]) -> SubmissionScore:
    """Round the scores of the tasks `withheld`, and the final score that is computed from them once rounded.

    Their parts (given each pair or set of hyperparameters, for each hyperparameter) are left out.
    """
    if not set(withheld) & set(result.tasks):
        return result
    tasks = {name: _rounded_task(task) if name in withheld else task for name, task in result.tasks.items()}
    score = result.score if result.exceeded else mean_score(tasks.values(), DECIMALS)
    return replace(result, score=score, tasks=tasks)


def _rounded_task(task: TaskScore | str) -> TaskScore | str:
    if isinstance(task, str):
        return FAILED
    return replace(
        task,
        official=_round_if_any(task.official),
        official_pairs={},
        printed=_round_if_any(task.printed),
        printed_subsets={},
        kendall=_round(task.kendall),
        granulated_kendall=_round_if_any(task.granulated_kendall),
        granulated_psi={},
    )


def _round(number: float) -> float:
    return round(number, _DECIMALS_OF_1) + 0.0  # never -0.0, which would tell the sign of what is not shown


def _round_if_any(number: float | None) -> float | None:
    return None if number is None else _round(number)


def rounding_note(tasks: Collection[str]) -> str:
    """What a reader must know beside rounded scores."""
    names = ", ".join(sorted(tasks))
    return f"rounded to {DECIMALS} decimal, and ranked so, because every digit tells of hidden models: {names}."
