"""Rounding of published scores on hidden tasks.

Every published digit reveals something about the hidden models, and a participant could combine the digits of many
submissions. So scores are rounded, and the values that they are computed from are not published.
"""

from collections.abc import Collection
from dataclasses import replace

from scoring import SubmissionScore, TaskScore, mean_score

#: Decimals on the scale from 0 to 100, and on the scale from 0 to 1.
DECIMALS = 1
_DECIMALS_OF_1 = DECIMALS + 2

#: Replaces the reason, which would reveal the model that failed and how.
FAILED = "no score, the reason is withheld"

#: Replaces the reason why no measure has an official score, which names hyperparameters and their values.
UNDEFINED = "no official score, the reason is withheld"


def rounded(result: SubmissionScore, withheld: Collection[str]) -> SubmissionScore:
    """Round the scores of the tasks `withheld`, and compute the final score from the rounded ones.

    Their parts (per pair or set of hyperparameters, per hyperparameter) are left out, and so are rank correlations.
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
        undefined=UNDEFINED if task.undefined else "",
        official=_round_if_any(task.official),
        official_pairs={},
        printed=_round_if_any(task.printed),
        printed_subsets={},
        kendall=None,  # on few models, three decimals are the exact number
        granulated_kendall=None,
        granulated_psi={},
    )


def _round_if_any(number: float | None) -> float | None:
    return None if number is None else round(number, _DECIMALS_OF_1)


def rounding_note(tasks: Collection[str]) -> str:
    """Return the explanation of rounded scores for readers."""
    names = ", ".join(sorted(tasks))
    reason = "because every digit reveals something about hidden models"
    return f"rounded to {DECIMALS} decimal before ranking, {reason}: {names}."
