"""The distance of training examples from the decision boundary in the maximum norm, found by Auto-PGD."""

import functools
from typing import Any

import numpy as np

from baselines.core.auto_pgd import highest
from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.outputs import logits
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.margin.attacks import PASSES, inputs_range
from baselines.network import Network

#: Lower end of the first interval of radii, as a fraction of the inputs' range.
SMALLEST = 1e-4


@measure(Need.CLASSES, Need.GRADIENTS, Need.QUANTITIES)
def auto_pgd_margin(
    subject: Subject, *, n_samples: int = 128, n_steps: int = 20, n_halvings: int = 6, seed: int = 0
) -> float:
    """Minus the mean size of the smallest change of an input by which Auto-PGD changes the prediction.

    Formula: -mean of min{eps: max over |u|_inf <= eps range(x) of max_c f_c(x + u) - f_a(x + u) > 0}, f the logits, a
    the predicted class, c any other class, range(x) the largest minus the smallest number of all inputs. Range: [-1,
    0]. Source: Croce and Hein 2020, arXiv 2003.01690. Work: 1 forward pass + 1 backward pass + 6 x 20 backward passes.

    The size of a change is its maximum norm. Attacks start at the example and maximize the lead max_c f_c - f_a, which
    unlike the cross-entropy does not saturate. Bisection of ln eps finds the smallest eps at which an attack succeeds;
    within the last interval, the lead is interpolated linearly. An example contributes -1 if no attack with eps below 1
    succeeds. Predictions may be right or wrong. Unlike for `adversarial_error`, changed inputs may leave the range.

    Args:
        n_steps: steps of each attack.
        n_halvings: attacks on each example.
    """
    sample, answers = logits(subject, n_samples, seed)
    *_, width = inputs_range(sample.inputs, 1.0)
    size = subject.network.batch_size_of(PASSES)
    found = [
        _distances(subject.network, sample.inputs[some], answers[some].argmax(axis=1), width, n_steps, n_halvings)
        for some in (slice(i, i + size) for i in range(0, len(sample), size))
    ]
    return -float(np.mean(np.concatenate(found)))


def _distances(network: Network, inputs: Array, answers: Array, width: float, n_steps: int, n_halvings: int) -> Array:
    """Return the smallest radii (n,), as fractions of `width`, at which an attack succeeds; 1 if none succeeds."""
    value = functools.partial(_lead, network, inputs.shape[1:], answers.astype(np.int32))
    start = inputs.reshape(len(inputs), -1)
    at_start = value(start)
    ends = np.array([[SMALLEST], [1.0]]) * np.ones(len(start))
    leads = np.stack([at_start[0], np.full(len(start), np.nan)]).astype(np.float64)
    for _ in range(n_halvings):
        middle = np.sqrt(ends[0] * ends[1])
        lead = highest(value, start, at_start, (width * middle).astype(np.float32)[:, None], n_steps)
        side = (lead > 0).astype(int)  # the end of the interval that the middle replaces
        ends[side, range(len(start))], leads[side, range(len(start))] = middle, lead
    shares = leads[0] / (leads[0] - leads[1])
    return np.where(np.isnan(shares), 1.0, ends[0] + shares * (ends[1] - ends[0]))


def _lead(network: Network, shape: tuple[int, ...], answers: Array, points: Array) -> tuple[Array, Array]:
    def run(flat: Any, chosen: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(flat)
            found = network.logits(tf.reshape(flat, (-1, *shape)))
            is_own = tf.one_hot(chosen, found.shape[-1], True, False, dtype=tf.bool)
            others = tf.reduce_max(tf.where(is_own, found.dtype.min, found), axis=1)
            lead = others - tf.reduce_sum(tf.where(is_own, found, 0.0), axis=1)
        return lead, tape.gradient(lead, flat)

    lead, slopes = next(network.in_batches("lead", run, [points, answers], size=len(points), often=True))
    return lead, slopes
