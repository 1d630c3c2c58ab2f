"""Adaptive sharpness: rise of the loss when each weight changes in proportion to its magnitude.

The rise stays the same if a layer's weights are multiplied by a factor, and the next layer's weights divided by it. As
in the authors' code, weights are all trained parameters, including scales and shifts of normalization.

Weights: as trained.

rho: size of the changes relative to the weights. The authors tried the defaults on residual networks.
normalize_logits: L is the mean cross-entropy of softmax((z - mean z) / |z - mean z|), z the logits of an example, mean
    and Euclidean norm over the classes; if false, of softmax(z). Most experiments of Andriushchenko et al. normalize,
    since without this, a network with large logits looks flat at correctly classified examples.
n_samples: training examples; Andriushchenko et al. take 1024.
"""

import functools
from typing import Any

import numpy as np

from baselines.core import outputs
from baselines.core.auto_pgd import highest
from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.network.losses import cross_entropies
from baselines.sharpness.scales import weight_space
from baselines.sharpness.weight_space import Losses, WeightSpace, normalized

#: Lower bound of the norm by which logits are divided.
SHORTEST = 1e-10

_DRAWS = ("normal", "uniform")


@measure(Need.LABELS, Need.GRADIENTS)
def adaptive_sharpness_worst_linf(
    subject: Subject, *, rho: float = 0.002, normalize_logits: bool = True, n_steps: int = 20, batch: int = 128,
    n_samples: int = 1024, seed: int = 0,
) -> float:  # fmt: skip
    """Rise of the training loss by the worst changes of the weights, bounded in proportion to each weight.

    Formula: E_S max_{|u_i| <= rho |w_i|} L_S(w + u) - L_S(w), u changes of the weights w of relative size rho, L_S the
    mean loss on a batch S of 128 examples (see normalize_logits). Range: [0, inf). Source: Andriushchenko et al. 2023,
    arXiv 2302.07011, by Auto-PGD of Croce and Hein 2020, arXiv 2003.01690. Work: 21 backward passes over 1024 examples.
    Draws: depend on the order of examples.

    Adaptive worst-case l_infinity m-sharpness. For each batch, Auto-PGD ascends from the trained weights along the
    gradient's sign, and the largest loss on the way is taken. The momentum is that of Auto-PGD; the authors' code uses
    an older point in the momentum term.

    Args:
        n_steps: steps of each ascent.
        batch: m, examples of a batch. A smaller last batch has proportionally less weight.
    """
    space = weight_space(subject, n_samples, seed, folded=False)
    rises = 0.0
    losses = _losses_of_normalized if normalize_logits else cross_entropies
    space.network.require_room(min(batch, len(space.sample)), "try a smaller batch")
    with space.network.restoring():
        for first in range(0, len(space.sample), batch):
            some = slice(first, first + batch)
            value = functools.partial(_loss_at, space, some, losses)
            start = space.trained[None]
            at_start = value(start)
            rises += float((highest(value, start, at_start, rho * np.abs(start), n_steps) - at_start[0]).sum())
    return rises / len(space.sample)


@measure(Need.LABELS)
def adaptive_sharpness_avg(
    subject: Subject, *, rho: float = 0.1, normalize_logits: bool = True, noise: str = "normal", n_draws: int = 10,
    batch: int = 128, n_samples: int = 1024, seed: int = 0,
) -> float:  # fmt: skip
    """Mean rise of the training loss by random changes in proportion to each weight.

    Formula: E_u L(w + u) - L(w), u_i ~ N(0, rho^2 w_i^2), u changes of the weights w of relative size rho, L the mean
    loss (see normalize_logits). Source: Andriushchenko et al. 2023, arXiv 2302.07011. Work: 21 forward passes over 1024
    examples. Draws: depend on the order of input dimensions and of examples.

    Adaptive average-case sharpness. As in the authors' code, each batch has its own draws. Here 10 draws are taken with
    both signs, so that the slope of the loss, the largest source of error, cancels; the authors take 20 draws. For a
    network with 32 hidden units, trained on 1024 digits, the standard deviation over seeds is 3 % of the value; with
    hidden layers of 128 and 64 units, it is 4 %. With the authors' code, it is 20 and 28 %.

    Args:
        noise: "normal" (the authors' p = 2), or "uniform" in the box |u_i| <= rho |w_i| (their p = inf).
        n_draws: draws of the changes for each batch.
        batch: examples of a batch. The last batch may have fewer examples.
    """
    if noise not in _DRAWS:
        raise ValueError(f"noise: expected {' or '.join(_DRAWS)}, found {noise}")
    space = weight_space(subject, n_samples, seed, folded=False)
    losses = _losses_of_normalized if normalize_logits else cross_entropies
    sizes, rng = rho * np.abs(space.trained), stream("changes of adaptive sharpness", seed)
    space.network.require_room(min(batch, len(space.sample)), "try a smaller batch")
    rises = 0.0
    with space.network.restoring():
        for first in range(0, len(space.sample), batch):
            value = functools.partial(space.batch_loss, some=slice(first, first + batch), losses=losses)
            steps = (sizes * _drawn(noise, len(space), rng) for _ in range(n_draws))
            moved = [value(space.trained + step) + value(space.trained - step) for step in steps]
            rises += float(np.mean(moved)) / 2 - value(space.trained)
    return rises / len(space.sample)


@measure(Need.LABELS, Need.GRADIENTS)
def asam_sharpness(subject: Subject, *, rho: float = 0.5, n_samples: int = 2048, seed: int = 0) -> float:
    """Rise of the training loss by a single step along its gradient, rescaled by the magnitudes of the weights.

    Formula: L(w + rho T^2 g / |T g|) - L(w), T = diag(|w|), w the weights, L the mean cross-entropy, g its gradient; 0
    if T g = 0. Source: Kwon et al. 2021, arXiv 2102.11600. Work: 1 backward pass + 1 forward pass.

    Adaptive sharpness of ASAM: the step approximates the change u with the largest rise, for |u / w| <= rho. For
    training, Kwon et al. add 0.01 to T because of weights near 0, and leave biases in absolute units; here T is
    diag(|w|) for all weights.

    Args:
        rho: length of the step; the default is that of Kwon et al. for CIFAR-10.
    """
    space = weight_space(subject, n_samples, seed, folded=False)
    with space.network.restoring():
        _, slope = space.trained_gradient
        step = rho * np.abs(space.trained) * normalized(np.abs(space.trained) * slope)
        moved = space.logits(space.trained + step)
    labels = space.sample.labels
    return outputs.loss(moved, labels) - outputs.loss(outputs.trained_logits(subject, n_samples, seed), labels)


def _drawn(noise: str, n: int, rng: np.random.Generator) -> Array:
    return rng.standard_normal(n, np.float32) if noise == "normal" else rng.uniform(-1, 1, n).astype(np.float32)


def _loss_at(space: WeightSpace, some: slice, losses: Losses, points: Array) -> tuple[Array, Array]:
    loss, slope = space.batch_gradient(points[0], some, losses)
    return np.array([loss]), slope[None]


def _losses_of_normalized(logits: Any, labels: Any) -> Any:
    """Return cross-entropies (n,) of logits centred and scaled to length 1; float64 prevents overflow."""
    logits = tf.cast(logits, tf.float64)
    centred = logits - tf.reduce_mean(logits, axis=1, keepdims=True)
    lengths = tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(centred), axis=1, keepdims=True), SHORTEST**2))
    return cross_entropies(centred / lengths, labels)
