"""P-values of the mean score over tasks, without and with adjustment for the best of many measures."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scoring.chance import Chance, share_reaching
from scoring.streams import stream
from scoring.vectors import Vector


def p_values(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return the p-value of the mean score of each measure, 0 to 1, shape (n_measures,).

    If a measure knows only two hyperparameters of each task, and nothing else about the gaps, a mean score as high has
    at most this probability. On a single task it is the largest p-value of all pairs. On several tasks, the two
    hyperparameters may differ from task to task: the scores under chance are taken from the pair on which chance scores
    most.

    Args:
        measures: task -> its score beside chance, for each measure.

    Raises:
        ValueError: a measure without a task, or different numbers of permutations.
    """
    scores = _mean_scores(measures)
    found = _smallest(measures)
    for under_chance in _under_chance(measures):
        found = np.maximum(found, [*map(share_reaching, scores, under_chance)])
    return found


def adjusted_p_values(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return p-values, as `p_values`, that are adjusted for the number of measures.

    If no measure knows more than two hyperparameters, this is an upper bound of the probability that any measure has a
    mean score as high. All measures have the same permutations, so that similar measures count as few. From the best
    down, each measure is compared with the best score under chance of itself and all lower measures.

    Source: Westfall and Young, "Resampling-based multiple testing", 1993 (the step-down maximum).
    """
    scores = _mean_scores(measures)
    rising = np.argsort(scores, kind="stable")
    found = _smallest(measures)
    for under_chance in _under_chance(measures):
        highest = np.maximum.accumulate(under_chance[rising], axis=0)
        stepwise = [*map(share_reaching, scores[rising], highest)]
        found[rising] = np.maximum(found[rising], np.maximum.accumulate(stepwise[::-1])[::-1])
    return found


def _smallest(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    """Return the smallest possible p-values: few permutations must not claim more, by luck, than all would."""
    return np.array([np.prod([chance.smallest for chance in tasks.values()]) for tasks in measures])


def _mean_scores(measures: Sequence[Mapping[str, Chance]]) -> Vector:
    found = {scores.size for tasks in measures for chance in tasks.values() for scores in chance.dealt.values()}
    if not all(measures) or len(found) > 1:
        numbers = ", ".join(map(str, sorted(found))) or "none"
        raise ValueError(f"expected a task for every measure, and as many permutations for all, found {numbers}")
    return np.array([np.mean([chance.score for chance in tasks.values()]) for tasks in measures])


def _under_chance(measures: Sequence[Mapping[str, Chance]]) -> list[NDArray[np.float64]]:
    """Return mean scores under chance, shape (n_measures, n_permutations), with the permutations of each pair in turn.

    Scores on several tasks have the distribution of the worst pair at any turn: the turn only decides which measures
    have high scores together.
    """
    names = sorted({name for tasks in measures for name in tasks})
    n_pairs = max((len(chance.dealt) for tasks in measures for chance in tasks.values()), default=0)
    orders = {}
    for number, name in enumerate(names):
        # Tasks with the same grid have the same permutations, but their luck is independent.
        n = next(_scores(tasks[name], 0).size for tasks in measures if name in tasks)
        orders[name] = stream("tasks", number).permutation(n)
    worst = [
        {name: _worst_pair(chance) for name, chance in tasks.items()} if len(tasks) > 1 else dict.fromkeys(tasks)
        for tasks in measures
    ]
    return [
        np.array([
            np.mean([_in_turn(tasks[name], pair, high)[orders[name]] for name, high in worst_of.items()], axis=0)
            for tasks, worst_of in zip(measures, worst, strict=True)
        ])
        for pair in range(n_pairs)
    ]  # fmt: skip


def _in_turn(chance: Chance, pair: int, worst: Vector | None) -> Vector:
    """Return scores under chance in the order of a pair's permutations, with the values of the worst pair."""
    dealt = _scores(chance, pair)
    if worst is None:
        return dealt
    found = np.empty_like(dealt)
    found[np.argsort(dealt, kind="stable")] = worst
    return found


def _worst_pair(chance: Chance) -> Vector:
    """Return the scores under chance, ascending, of the pair with the highest top tenth."""
    rising = np.sort([*chance.dealt.values()])
    worst: Vector = rising[rising[:, -max(1, rising.shape[1] // 10) :].mean(axis=1).argmax()]
    return worst


def _scores(chance: Chance, pair: int) -> Vector:
    dealt = list(chance.dealt.values())
    return dealt[pair % len(dealt)]
