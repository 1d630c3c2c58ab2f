"""Adaptive sharpness: how much the loss rises when each weight changes in proportion to itself.

Scale that is moved between layers leaves such changes as they are. As in the authors' code weights are all that
training moved, scales and shifts of normalization among them. Parameters that both measures of Andriushchenko et al.
have:

Weights: as trained.

rho: size of the changes in units of the weights. Defaults are of those that the authors tried on residual networks.
normalize_logits: L is the mean cross-entropy of softmax((z - mean z) / |z - mean z|), z the logits of an example, mean
    and Euclidean norm over the classes; otherwise of softmax(z). So in most of their experiments, and in the command
    that they print: otherwise a network whose logits are large looks flat where it is right.
n_samples: training examples, 1024 in their experiments.
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

#: The shortest length by which logits are divided.
SHORTEST = 1e-10

#: Distributions of changes, of unit size.
_DRAWS = ("normal", "uniform")


@measure(Need.LABELS, Need.GRADIENTS)
def adaptive_sharpness_worst_linf(
    subject: Subject, *, rho: float = 0.002, normalize_logits: bool = True, n_steps: int = 20, batch: int = 128,
    n_samples: int = 1024, seed: int = 0,
) -> float:  # fmt: skip
    """Rise of the training loss by the worst change of each weight in proportion to it.

    Formula: E_S max_{|u_i| <= rho |w_i|} L_S(w + u) - L_S(w), batches S of 128 examples; L: see normalize_logits.
    Range: [0, inf). Source: Andriushchenko et al. 2023, arXiv 2302.07011, by Auto-PGD of Croce and Hein 2020, arXiv
    2003.01690. Work: 21 B of 1024 examples.

    Adaptive worst-case l_infinity m-sharpness, as far as the search finds it. Each batch is attacked on its own, from
    the trained weights, by Auto-PGD along the gradient's sign, and the best point on the way counts. Momentum is that
    of Auto-PGD; the authors' code has the place before last in its stead.

    Args:
        n_steps: of each attack.
        batch: m, examples of a batch. The last one may have fewer, and weighs as much less.
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
    """Rise of the training loss by random changes of each weight in proportion to it.

    Formula: E_u L(w + u) - L(w), u_i ~ N(0, rho^2 w_i^2); L: see normalize_logits. Source: Andriushchenko et al. 2023,
    arXiv 2302.07011. Work: 21 F of 1024 examples. Draws: by input.

    Adaptive average-case sharpness. Each batch has its own draws, as in the authors' code, and each draw counts with
    both signs. The authors take 20 draws for each batch, which costs as many forward passes. Opposite changes cancel
    the slope of the loss, most of the error: on two networks of 32 and of 128 and 64 hidden units, trained on 1024
    digits, other seeds move the value by 3 and 4 % (standard deviation), and that of the authors' code by 20 and 28 %.

    Args:
        noise: "normal", the paper's average case for p = 2, or "uniform" in the box |u_i| <= rho |w_i|, for p = inf.
        n_draws: of the changes of a batch.
        batch: size of a batch. The last batch may have fewer examples.
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
    """Rise of the training loss by one step along its gradient in units of the weights.

    Formula: L(w + rho T^2 g / |T g|) - L(w), T = diag(|w|), g the gradient of L. Source: Kwon et al. 2021, arXiv
    2102.11600. Work: 1 B + 1 F.

    Adaptive sharpness of ASAM: its one step stands in for the largest rise in |u / w| <= rho. It is `sam_sharpness` in
    units of the weights. The paper's training adds 0.01 to T for the sake of weights near 0 and leaves biases in
    absolute units; here T is that of its definition, for all weights. 0 where T g vanishes.

    Args:
        rho: length of the step; the paper's for CIFAR-10.
    """
    space = weight_space(subject, n_samples, seed, folded=False)
    with space.network.restoring():
        _, slope = space.trained_gradient
        step = rho * np.abs(space.trained) * normalized(np.abs(space.trained) * slope)
        moved = space.logits(space.trained + step)
    labels = space.sample.labels
    return outputs.loss(moved, labels) - outputs.loss(outputs.trained_logits(subject, n_samples, seed), labels)


def _drawn(noise: str, n: int, rng: np.random.Generator) -> Array:
    """Change of unit size (n,), float32."""
    return rng.standard_normal(n, np.float32) if noise == "normal" else rng.uniform(-1, 1, n).astype(np.float32)


def _loss_at(space: WeightSpace, some: slice, losses: Losses, points: Array) -> tuple[Array, Array]:
    """Summed losses (1,) of some of the examples at a point (1, n), and their gradient (1, n)."""
    loss, slope = space.batch_gradient(points[0], some, losses)
    return np.array([loss]), slope[None]


def _losses_of_normalized(logits: Any, labels: Any) -> Any:
    """Cross-entropies (n,) of logits that are centred and scaled to length 1; in float64, for squares of any logits."""
    logits = tf.cast(logits, tf.float64)
    centred = logits - tf.reduce_mean(logits, axis=1, keepdims=True)
    lengths = tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(centred), axis=1, keepdims=True), SHORTEST**2))
    return cross_entropies(centred / lengths, labels)
