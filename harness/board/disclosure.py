"""The rule for hidden tasks: which of their results may leave the harness. All writers take their numbers from here.

Every published digit reveals something about the hidden models, and a participant could combine the digits of many
submissions. So only these results of a hidden task are published:

* the official score, rounded to `DECIMALS`; the final score, computed from it and rounded again; and the rank;
* the verdict: the number of models, of calls by outcome, and whether there is a score.

No other number is published of a hidden task, or of a final score that contains a hidden task: no interval, p-value,
level of chance or rank correlation, and no yardstick. Times of hidden tasks do not count in medians.
"""

from collections.abc import Collection
from dataclasses import replace

from scoring import SubmissionScore, TaskScore, mean_score

#: Decimals on the scale from 0 to 100, and on the scale from 0 to 1.
DECIMALS = 1
_DECIMALS_OF_1 = DECIMALS + 2

#: Replaces the reason why there is no score, which would reveal the model that failed and how, and the reason why no
#: measure has an official score, which names hyperparameters and their values.
REASON_WITHHELD = "the reason is withheld, since the task is hidden"

#: Note on a score on a hidden task.
ONLY_ROUNDED = f"Rounded to {DECIMALS} decimal, and no other number is shown, since the task is hidden."

#: Note on a row whose final score contains a score on a hidden task.
INTERVAL_WITHHELD = "Its interval is withheld, since a task is hidden."

#: Note on the first row of a board with a hidden task.
LUCK_WITHHELD = "Whether luck explains the lead is withheld, since a task is hidden."


def rounded(result: SubmissionScore, withheld: Collection[str]) -> SubmissionScore:
    """Reduce the scores of the tasks `withheld` to what the rule allows, and compute the final score from these."""
    if not set(withheld) & set(result.tasks):
        return result
    tasks = {name: rounded_task(task) if name in withheld else task for name, task in result.tasks.items()}
    score = result.score if result.exceeded else mean_score(tasks.values(), DECIMALS)
    return replace(result, score=score, tasks=tasks)


def rounded_task(task: TaskScore | str) -> TaskScore | str:
    """Return what may be published of a result on a hidden task."""
    if isinstance(task, str):
        return REASON_WITHHELD
    return TaskScore(
        n_models=task.n_models,
        undefined=REASON_WITHHELD if task.undefined else "",
        official=None if task.official is None else round(task.official, _DECIMALS_OF_1),
        official_pairs={},
        printed=None,
        printed_subsets={},
        kendall=None,  # on few models, three decimals are the exact number
        granulated_kendall=None,
        granulated_psi={},
    )


def disclosure_note(tasks: Collection[str]) -> str:
    """Return the explanation of boards with hidden tasks for readers."""
    names = ", ".join(sorted(tasks))
    return (
        f"hidden: {names}. Scores there, and final scores, are rounded to {DECIMALS} decimal before ranking, because "
        "every digit reveals something about hidden models. Intervals, p-values, levels of chance, rank correlations "
        "and yardsticks are shown for no hidden task, and for no final score that contains one."
    )
