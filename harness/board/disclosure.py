"""The rule for hidden tasks: which of their results may be published.

Every published digit reveals something about the hidden models, and a participant could combine the digits of many
submissions. So only these results of a hidden task are published:

* the official score, rounded to `DECIMALS`; the final score, computed from rounded scores and rounded again; the rank;
* the number of models, the number of calls by outcome, and whether the task has a score.

No other number is published about a hidden task, or about a final score that includes it: no interval, p-value, chance
score, rank correlation, time, or reference score such as the noisy oracle's.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from harness.board.collect import Calls
from harness.outcome import WITHHELD, Outcome
from harness.task.hidden import Withhold
from scoring import SubmissionScore, TaskScore, mean_score

DECIMALS = 1  #: number of decimals of scores on hidden tasks, on the scale from 0 to 100

#: Replaces the reason for a missing score, which would reveal the failed model or values of hyperparameters.
REASON_WITHHELD = "the reason is withheld, since the task is hidden"

#: Texts beside a score on a hidden task, a final score that contains a hidden task, and the leader's score.
ONLY_ROUNDED = f"Rounded to {DECIMALS} decimal, and no other number is shown, since the task is hidden."
INTERVAL_WITHHELD = "Its interval is withheld, since a task is hidden."
LUCK_WITHHELD = "Whether luck explains the lead is withheld, since a task is hidden."


def rounded(result: SubmissionScore, withheld: Collection[str]) -> SubmissionScore:
    """Return the part of a submission's score that may be published if the tasks `withheld` are hidden."""
    if not set(withheld) & set(result.tasks):
        return result
    tasks = {name: rounded_task(task) if name in withheld else task for name, task in result.tasks.items()}
    score = result.score if result.exceeded else mean_score(tasks.values(), DECIMALS)
    return replace(result, score=score, tasks=tasks)


def rounded_task(task: TaskScore | str) -> TaskScore | str:
    """Return the part of a result on a hidden task that may be published: the rounded official score."""
    if isinstance(task, str):
        return REASON_WITHHELD
    return TaskScore(
        n_models=task.n_models,
        undefined=REASON_WITHHELD if task.undefined else "",
        official=None if task.official is None else round(task.official, DECIMALS + 2),
        official_pairs={},
        printed=None,
        printed_subsets={},
        kendall=None,  # with few models, three decimals identify the exact number
        granulated_kendall=None,
        granulated_psi={},
    )


def disclosure_note(tasks: Collection[str]) -> str:
    """Return the note that explains which numbers on a board are rounded or left out because `tasks` are hidden."""
    names = ", ".join(sorted(tasks))
    return (
        f"hidden: {names}. Scores there, and final scores, are rounded to {DECIMALS} decimal before ranking, because "
        "every digit reveals something about hidden models. Intervals, p-values, levels of chance, rank correlations "
        "and yardsticks are shown for no hidden task, and for no final score that contains one."
    )


def notes_on_marks(shown: Iterable[Calls], withheld: Collection[str], withhold: Withhold) -> list[str]:
    """Return a note on tasks that were hidden when the calls were made, but are not marked as hidden now."""
    # A participant's code may write the message of a failed call, but not of a successful call.
    found = {
        task for calls in shown for (task, _), row in calls.rows.items()
        if row.outcome == Outcome.OK and row.message == WITHHELD and task not in withheld
    }  # fmt: skip
    if not found or withhold is Withhold.NEVER:
        return []
    remedy = "to hide a task again: `pgdl task hide TASK`; to leave this line out: --withhold never"
    return [f"shown in full, though hidden when the calls were made: {', '.join(sorted(found))}; {remedy}"]
