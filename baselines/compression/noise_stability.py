"""Noise stability: how much noise changes a network's outputs, and the compression bound that follows.

Weights: folded.

robust: take the 5th and 95th percentile over examples in place of the minimum and maximum.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from baselines.compression.cushions import FLOOR, HIGH, interlayer_cushions, layer_cushions, norms
from baselines.compression.draws import drawn, whole_blocks
from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.output_margin import positive_margin
from baselines.core.sample import Array
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject
from baselines.network import INPUT, Network, joined

#: Lower bound of the arguments of logarithms.
TINY = 1e-30

#: Weight layers after which noise is added, in addition to the input (0).
NOISY_LAYERS = (1, 2, 3)


@measure(Need.DATA)
def inverse_layer_cushion(subject: Subject, *, robust: bool = True, n_samples: int = 10_000, seed: int = 0) -> float:
    """Mean over weight layers of the inverse squared layer cushion: large if layers damp signals as much as noise.

    Formula: mean_i 1 / mu_i^2, mu_i = min_x |A_i phi(x^(i-1))| / (|A_i|_F |phi(x^(i-1))|), A_i the linear map of layer
    i, phi(x^(i-1)) its input. Range: [1, 1e12]. Source: Arora et al. 2018, arXiv 1802.05296, definition 4. Refused: all
    inputs, or all weights, of a layer are zero.

    For a convolution, |A_i|_F is the norm of its kernel times the square root of the number of its output positions (of
    a transposed convolution: input positions). With zero padding, this is more than the norm of the matrix that maps
    inputs to outputs, because weights on padding count, too; so 1 / mu_i^2 is larger.

    The value is 1 if every layer has rank one and its inputs lie along the layer's singular vector. The value is the
    width if the layers are rotations.
    """
    return float(np.mean(layer_cushions(subject, n_samples, seed, robust=robust) ** -2.0))


@measure(Need.DATA)
def activation_contraction(subject: Subject, *, robust: bool = True, n_samples: int = 10_000, seed: int = 0) -> float:
    """Largest factor by which an activation shrinks the norm of a layer's pre-activations.

    Formula: c = max over x and i of |x^i| / |phi(x^i)|, x^i pre-activations of layer i, phi its activation. Range: [0,
    1e6]; at least 1 for ReLU. Source: Arora et al. 2018, arXiv 1802.05296, definition 6.

    The ratio counts as 1 if no activation directly follows a layer, or if pre-activations and activations are all zero.
    """
    return _contraction(subject, n_samples, seed, robust=robust)


def _contraction(subject: Subject, n_samples: int, seed: int, *, robust: bool) -> float:
    found = norms(subject, n_samples, seed)
    before, behind = found.pre_activations, found.activations
    ratios = np.divide(before, np.maximum(behind, FLOOR * before), where=before > 0, out=(behind == 0).astype(float))
    return float(np.percentile(ratios, HIGH if robust else 100, axis=0).max())


@measure(Need.LABELS, Need.GRADIENTS)
def arora_compression_bound(
    subject: Subject, *, robust: bool = True, n_probes: int = 4, n_jacobians: int = 256, n_samples: int = 10_000,
    margin_floor: float = 1e-6, seed: int = 0,
) -> float:  # fmt: skip
    """Generalization bound by compression, from layer cushions, interlayer cushions and the margin.

    Formula: ln(c^2 d^2 max_x |f(x)|^2 sum_i 1 / (mu_i^2 mu_i->^2)) - 2 ln gamma, c activation_contraction, d layers, f
    the logits, mu_i the layer cushion (see inverse_layer_cushion), mu_i-> the smallest interlayer cushion, gamma the
    10th percentile of the margins. Source: Arora et al. 2018, arXiv 1802.05296, theorem 4.1, without its constants.
    Work: 2 forward passes, and 2.75 x d backward passes over 256 examples. Draws: depend on the order of examples.
    Refused: all inputs of a layer are zero, or no signal passes from a layer to a later layer.

    An interlayer cushion of layer i says how much of a signal passes from layer i to a later layer, relative to noise.

    Args:
        n_probes: random vectors for the norms of the Jacobians between layers.
        n_jacobians: training examples at which these Jacobians are taken.
        n_samples: training examples for all other terms.
    """
    cushions = layer_cushions(subject, n_samples, seed, robust=robust)
    between = interlayer_cushions(subject, n_jacobians, n_probes, seed, robust=robust)
    contraction = _contraction(subject, n_samples, seed, robust=robust)
    lengths = norms(subject, n_samples, seed).logits
    largest = float(np.percentile(lengths, HIGH if robust else 100))
    gamma = positive_margin(subject, n_samples=n_samples, margin_floor=margin_floor, seed=seed)
    factors = (contraction, len(cushions), largest, 1 / gamma)
    return 2 * sum(math.log(max(factor, TINY)) for factor in factors) + math.log(np.sum((cushions * between) ** -2.0))


def _noise_sensitivity(subject: Subject, layer: int, tau: float, n_draws: int, n_samples: int, seed: int) -> float:
    network, places = subject.folded, subject.folded.weight_nodes
    if layer > len(places):
        raise MeasureUnavailable(f"needs {layer} weight layers, which this network lacks")
    position = places[layer - 1] if layer else INPUT

    def run(images: Any, examples: Any, tau: Any, seed: Any) -> Any:
        def noise(shape: Sequence[int], first: Any) -> Any:
            return tf.random.stateless_normal(shape, tf.stack([seed, first]))

        return _moved(network, position, images, tau, n_draws, functools.partial(drawn, noise, examples))

    images, key = subject.sample(n_samples, seed).inputs, stream_seed("noise on activations", seed, layer)
    arrays, size = [images, np.arange(len(images))], whole_blocks(network.batch_size // n_draws)
    batches = network.in_batches(("noise", position, n_draws), run, arrays, np.float32(tau), key, size=size)
    moved, lengths = joined(batches)
    return _mean_ratio(moved.astype(np.float64), lengths.astype(np.float64)) / tau**2


def _mean_ratio(numerators: Array, denominators: Array) -> float:
    counted = denominators > 0
    if not counted.any():
        raise MeasureUnavailable("needs logits other than zero, which this network lacks")
    return float(np.mean(numerators[counted] / denominators[counted]))


def _moved(
    network: Network, position: int, images: Any, tau: Any, n_draws: int, noise: Callable[[Sequence[int]], Any]
) -> tuple[Any, Any]:
    """Return two arrays (n,) for n images: the squared change of their logits by noise, and the logits' squared norm.

    The change is a mean over `n_draws` draws.
    """
    clean, logits = network.run({INPUT: images}, [position, network.output])
    axes = list(range(1, len(clean.shape)))
    deviations = tau * tf.sqrt(tf.reduce_sum(tf.square(clean), axis=axes, keepdims=True))
    values, deviations = (tf.repeat(tensor, n_draws, axis=0) for tensor in (clean, deviations))
    noisy = values + deviations * tf.reshape(noise((n_draws, *clean.shape[1:])), tf.shape(values))
    changed = network.run({INPUT: tf.repeat(images, n_draws, axis=0), position: noisy}, [network.output])[0]
    squares = tf.reduce_sum(tf.square(changed - tf.repeat(logits, n_draws, axis=0)), axis=1)
    return tf.reduce_mean(tf.reshape(squares, [-1, n_draws]), axis=1), tf.reduce_sum(tf.square(logits), axis=1)


def _register_noise(layer: int) -> None:
    where = f"the pre-activations of weight layer {layer}" if layer else "the input"

    @measure(
        Need.DATA if layer else Need.QUANTITIES,
        name=f"noise_sensitivity_l{layer}" if layer else "noise_sensitivity", where=where,
        at=f", x for x^{layer}" if layer else "", draws="examples" if layer else "input dimensions and of examples",
    )  # fmt: skip
    def noise_sensitivity(
        subject: Subject, *, tau: float = 0.1, n_draws: int = 2, n_samples: int = 2048, seed: int = 0
    ) -> float:
        """Squared change of the logits under noise on $where, relative to their squared norm.

        Formula: mean over x and eta ~ N(0, tau^2 I) of |f(x + eta |x|) - f(x)|^2 / (tau^2 |f(x)|^2)$at, f the logits.
        Range: [0, inf). Source: Arora et al. 2018, arXiv 1802.05296, definition 3. Work: 3 forward passes. Draws:
        depend on the order of $draws. Refused: the logits are zero for all examples, or the network has too few layers.

        Every entry gets noise of standard deviation tau times the norm of the whole vector, so the noise of
        high-dimensional layers is larger than the signal. Examples whose logits are all zero are left out.

        Args:
            tau: scale of the noise, 1 in Arora et al.
            n_draws: draws of the noise for each example.
        """
        return _noise_sensitivity(subject, layer, tau, n_draws, n_samples, seed)


for _layer in (0, *NOISY_LAYERS):
    _register_noise(_layer)
