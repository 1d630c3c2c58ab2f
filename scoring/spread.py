"""Variances and covariances of final scores over the choice of models and over their test sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.batches import crossed_scores
from scoring.conditioning import Conditioning
from scoring.jackknife import delete_one, jackknife_deviations
from scoring.paired import PairedTask
from scoring.streams import stream
from scoring.vectors import Vector

GAP_DRAWS = 400  #: draws of the gaps; the error of a standard deviation from so many is 4 %
FULL_SCORE = 100.0  #: final scores are 100 times the mean over tasks


@dataclass(frozen=True)
class HeldOut:
    """The images that the gaps of a task were measured on.

    Attributes:
        accuracy: accuracy of each model on the test images, 0 to 1, in the order of the grid's models.
        n_images: number of test images.
    """

    accuracy: Sequence[float]
    n_images: int


def model_spread(tasks: Sequence[PairedTask]) -> NDArray[np.float64]:
    """Deviations of the final scores when the models of the tasks are a sample: the delete-one jackknife.

    Every model of every task is left out in turn, the same one for all submissions.

    Returns:
        Shape (n_deletions, n_submissions), in points of the final score. With these deviations d, d.T @ d is the
        covariance of the scores, and the norm of d[:, a] - d[:, b] the standard error of a difference.

    Source: Efron and Stein, "The jackknife estimate of variance", 1981.
    """
    return np.concatenate([_deletions(task) for task in tasks]) * FULL_SCORE / len(tasks)


def gap_spread(tasks: Mapping[str, PairedTask], held_out: Mapping[str, HeldOut], seed: int = 0) -> Vector:
    """Standard error of the final scores that comes from measuring gaps on finitely many test images.

    Each model's number of correct answers is drawn anew from the binomial distribution of its accuracy, the
    models independently of each other; measures stay as they are. Models that are tested on the same images
    err together in part, so this is an upper estimate. Training accuracy is of all training images, so exact.

    Returns:
        Shape (n_submissions,), in points of the final score.

    Raises:
        ValueError: a task without a test set; accuracies of another number of models or outside 0 to 1; fewer
            than one image.
    """
    random = stream("held-out images", seed)
    variances = [_drawn_gaps(name, task, held_out, random).var(axis=0, ddof=1) for name, task in tasks.items()]
    spread: Vector = np.sqrt(np.sum(variances, axis=0)) * FULL_SCORE / len(tasks)
    return spread


def _deletions(task: PairedTask) -> NDArray[np.float64]:
    gap, cond = task.gap.tobytes(), task.conditioning
    scores = np.array([_without_one(measure.tobytes(), gap, cond) for measure in task.measures]).T
    return jackknife_deviations(scores)


@lru_cache(maxsize=2**14)  # a board needs the same twice: for intervals, and for its comparison with hyperparameters
def _without_one(measure: bytes, gap: bytes, cond: Conditioning) -> Vector:
    return delete_one(np.frombuffer(measure), np.frombuffer(gap), cond)


def _drawn_gaps(
    name: str, task: PairedTask, held_out: Mapping[str, HeldOut], random: np.random.Generator
) -> NDArray[np.float64]:
    """Official scores with the gaps drawn anew, shape (draws, n_submissions)."""
    if name not in held_out:
        raise ValueError(f"task {name!r}: expected a test set, found none")
    n_images, accuracy = held_out[name].n_images, _accuracy(name, held_out[name].accuracy, task.gap.size)
    if n_images < 1:
        raise ValueError(f"task {name!r}: expected at least one test image, found {n_images}")
    drawn = random.binomial(n_images, accuracy, size=(GAP_DRAWS, accuracy.size)) / n_images
    gaps = task.gap + (accuracy - drawn)
    return crossed_scores(task.measures, gaps, task.conditioning).T


def _accuracy(name: str, accuracy: ArrayLike, n_models: int) -> Vector:
    found = np.asarray(accuracy, dtype=np.float64)
    if found.shape != (n_models,) or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"task {name!r}: expected a test accuracy from 0 to 1 for each of {n_models} models")
    return found
