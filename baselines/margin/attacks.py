"""Training errors under attacks, which are small changes of all pixels along gradients.

epsilon: largest change of a pixel, as a fraction of the range of all inputs (the largest minus the smallest number).
"""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.outputs import logits
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.network import Network, joined
from baselines.network.losses import directions

#: Memory for a step, as a multiple of a forward pass's memory.
PASSES = 2

#: Sum of the step lengths of an attack, divided by epsilon; a common choice.
REACH = 2.5


@measure(Need.LABELS, Need.GRADIENTS, Need.QUANTITIES)
def adversarial_error(
    subject: Subject, *, epsilon: float = 0.01, n_steps: int = 10, n_samples: int = 1024, seed: int = 0
) -> float:
    """Training error under an attack of several steps along the gradient's sign: PGD.

    Formula: mean of max_k 1[argmax f(x_k) != y], f the logits, y the true class, x_k points of an ascent on the loss in
    the box |x_k - x|_inf <= epsilon range(x), range(x) the largest minus the smallest number of all inputs. Range: [0,
    1]. Source: Madry et al. 2018, arXiv 1706.06083. Work: 1 forward pass + 11 backward passes. Draws: depend on the
    order of input dimensions and of examples.

    Points are clipped to the range of the inputs. With the common epsilon, 8 / 255, nearly all predictions change
    unless a network was trained adversarially, so networks tie. On images of 8 x 8 pixels, the default changes few
    predictions.

    Args:
        n_steps: steps of length 2.5 epsilon / n_steps, from a random point of the box.
    """
    sample, answers = logits(subject, n_samples, seed)
    low, high, radius = inputs_range(sample.inputs, epsilon)
    noise = stream("beginnings of attacks", seed).uniform(-radius, radius, sample.inputs.shape)
    wrong = answers.argmax(axis=1) != sample.labels
    points = np.clip(sample.inputs + noise, low, high).astype(np.float32)
    for step in range(n_steps + 1):
        found, slopes = _slopes(subject.network, points, sample.labels)
        wrong |= found
        if step < n_steps:
            moved = points + np.float32(REACH * radius / n_steps) * np.sign(slopes)
            points = np.clip(np.clip(moved, sample.inputs - radius, sample.inputs + radius), low, high)
    return float(wrong.mean())


@measure(Need.LABELS, Need.GRADIENTS, Need.QUANTITIES)
def fgsm_error(subject: Subject, *, epsilon: float = 0.01, n_samples: int = 1024, seed: int = 0) -> float:
    """Training error after a single step of the inputs along the sign of the loss' gradient: FGSM.

    Formula: mean of 1[argmax f(x + epsilon range(x) sign(d l / d x)) != y], f the logits, y the true class, l the
    cross-entropy, range(x) the largest minus the smallest number of all inputs; points are clipped to the range. Range:
    [0, 1]. Source: Goodfellow, Shlens and Szegedy 2015, arXiv 1412.6572. Work: 1 backward pass + 1 forward pass.
    """
    sample = subject.sample(n_samples, seed)
    low, high, radius = inputs_range(sample.inputs, epsilon)
    _, slopes = _slopes(subject.network, sample.inputs, sample.labels)
    moved = np.clip(sample.inputs + np.float32(radius) * np.sign(slopes), low, high)
    answers = subject.network.outputs(moved, often=True)[0]
    return float(np.mean(answers.argmax(axis=1) != sample.labels))


def inputs_range(inputs: Array, epsilon: float) -> tuple[float, float, float]:
    """Return the smallest and the largest number in the inputs, and their difference times `epsilon`.

    Raises `MeasureUnavailable` if all numbers are equal.
    """
    low, high = float(inputs.min()), float(inputs.max())
    if low == high:
        raise MeasureUnavailable(f"needs inputs that are not all the same, found {low:g} only")
    return low, high, epsilon * (high - low)


def _slopes(network: Network, points: Array, labels: Array) -> tuple[Array, Array]:
    def run(images: Any, true: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(images)
            answers = network.logits(images)
        wrong = tf.argmax(answers, axis=1, output_type=tf.int32) != true
        return wrong, tape.gradient(answers, images, output_gradients=directions(answers, true))

    size = network.batch_size_of(PASSES)
    found, slopes = joined(network.in_batches("attack on labels", run, [points, labels], size=size, often=True))
    return found, slopes
