"""Cushions of Arora et al. 2018: how much of a signal each layer passes on, relative to random noise of the same norm.

x^i is the pre-activation of weight layer i. The layer's linear part A_i maps phi(x^(i-1)) to x^i, where phi are the
operations between weight layers i-1 and i. J_ij is the Jacobian of x^j with respect to x^i.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.compression.draws import drawn, whole_blocks
from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable
from baselines.core.sample import Array
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network, joined
from baselines.network.nodes import ACTIVATIONS

#: Lower bound of cushions, because a layer may map a signal to zero.
FLOOR = 1e-6

#: Layers that only reorder or reshape, such as the `Permute` around a convolution with channels first.
_ORDERS = {"Flatten", "Permute", "Reshape"}

#: Percentiles over examples that replace the minimum and the maximum if `robust`.
LOW, HIGH = 5, 95


@dataclass(frozen=True)
class Norms:
    """Norms (n, d) of the vectors that n examples have at d weight layers; the norms of the logits are (n, 1)."""

    without_bias: Array  #: of the layers' outputs without bias and activation
    taken_in: Array  #: of the layers' inputs
    pre_activations: Array
    activations: Array  #: of the activations; of the pre-activations if a layer has no activation
    logits: Array


@shared
def norms(subject: Subject, n_samples: int, seed: int) -> Norms:
    """Return the `Norms` of a sample of examples; batch normalization is folded."""
    network, images = subject.folded, subject.sample(n_samples, seed).inputs
    found = joined(network.in_batches("norms", functools.partial(_norms, network), [images]))
    return Norms(*[part.astype(np.float64) for part in found])


def _norms(network: Network, images: Any) -> list[Any]:
    places = network.weight_nodes
    taken_in = [network.nodes[place].sources[0] for place in places]
    activations = [_activation(network, place) for place in places]
    positions = sorted({*taken_in, *places, *activations, network.output})
    found = dict(zip(positions, network.run({INPUT: images}, positions), strict=True))
    lengths = {position: _norm(value) for position, value in found.items()}
    kept = [_norm(found[place] - _bias(network, place)) for place in places]
    wanted = [[lengths[p] for p in some] for some in (taken_in, places, activations, [network.output])]
    return [tf.stack(some, axis=1) for some in (kept, *wanted)]


def _activation(network: Network, place: int) -> int:
    """Return the position of the activation that follows the weight layer at `place`; `place` if none follows."""
    ordered = [place]
    for position, node in enumerate(network.nodes):
        if len(node.sources) == 1 and node.sources[0] in ordered:
            if node.kind in ACTIVATIONS:
                return position
            ordered += [position] if node.kind in _ORDERS else []
    return place


def _bias(network: Network, place: int) -> Any:
    node = network.nodes[place]
    return node.weights[-1] if node.config["use_bias"] else 0.0


def _norm(values: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(values), axis=list(range(1, len(values.shape)))))


def layer_cushions(subject: Subject, n_samples: int, seed: int, *, robust: bool) -> Array:
    """Return mu_i = min_x |A_i phi(x^(i-1))| / (|A_i|_F |phi(x^(i-1))|), shape (d,). Range: [`FLOOR`, 1].

    For a convolution, |A_i|_F is the norm of the kernel times the square root of the number of positions at which the
    kernel is applied. If `robust`, the 5th percentile over examples x replaces the minimum.
    """
    found = norms(subject, n_samples, seed)
    ratios = _ratios(found.without_bias, found.taken_in * _frobenius(subject.folded))
    names = [subject.folded.nodes[place].name for place in subject.folded.weight_nodes]
    return _smallest(ratios, names, robust)


def _frobenius(network: Network) -> Array:
    return np.array([_frobenius_of(network, place) for place in network.weight_nodes])


def _frobenius_of(network: Network, place: int) -> float:
    node = network.nodes[place]
    factors = [kernel.matrix for kernel in network.kernels if kernel.node == place]  # a separable convolution has two
    mapped = node.sources[0] if node.kind.endswith("Transpose") else place
    positions = math.prod(network.shape(mapped)[:-1])
    return float(np.linalg.norm(functools.reduce(np.matmul, factors))) * math.sqrt(positions)


@shared
def interlayer_cushions(subject: Subject, n_samples: int, n_probes: int, seed: int, *, robust: bool) -> Array:
    """Return mu_i-> = min over j >= i of min_x |J_ij x^i| / (|J_ij|_F |x^i|), shape (d,). Range: [`FLOOR`, 1].

    The term j = i is 1 / sqrt(h_i) for a layer with h_i outputs. |J_ij|_F^2 is estimated by the mean of |J_ij' v|^2
    over `n_probes` vectors v of random signs; this mean is exact if the rows of J_ij are orthogonal. If `robust`, the
    5th percentile over examples x replaces the minimum.
    """
    network, images = subject.folded, subject.sample(n_samples, seed).inputs
    places = network.weight_nodes
    size = whole_blocks(network.batch_size // len(places))

    def probe(batch: Any, examples: Any, seed: Any, number: Any) -> Any:
        def signs(shape: Sequence[int], first: Any) -> Any:
            uniform = tf.random.stateless_uniform(shape, tf.stack([seed, n_probes * first + number]))
            return tf.where(uniform < 0.5, -1.0, 1.0)

        return _probed(network, batch, functools.partial(drawn, signs, examples))

    batches = network.in_batches("carried", functools.partial(_carried, network), [images], size=size)
    carried, lengths = (part.astype(np.float64) for part in joined(batches))
    arrays, squares = [images, np.arange(len(images))], np.zeros(1)
    key = stream_seed("probes of cushions", seed)
    for number in range(n_probes):
        found = network.in_batches(("probed", n_probes), probe, arrays, key, number, size=size, often=True)
        squares = squares + np.concatenate(list(found)).astype(np.float64) / n_probes
    return _least(network, _ratios(carried, lengths[:, :, None] * np.sqrt(squares)), robust)


def _least(network: Network, ratios: Array, robust: bool) -> Array:
    places = network.weight_nodes
    cushions = [1 / math.sqrt(math.prod(network.shape(place))) for place in places]
    for i, place in enumerate(places):
        reached = [j for j, other in enumerate(places) if other in _behind(network, place)]
        names = [f"{network.nodes[place].name} to {network.nodes[places[j]].name}" for j in reached]
        cushions[i] = min([cushions[i], *_smallest(ratios[:, i, reached], names, robust)])
    return np.array(cushions)


def _behind(network: Network, place: int) -> set[int]:
    reached = {place}
    for position, node in enumerate(network.nodes):
        if reached.intersection(node.sources):
            reached.add(position)
    return reached - {place}


def _carried(network: Network, images: Any) -> tuple[Any, Any]:
    """Return |J_ij x^i| (n, d, d) and |x^i| (n, d) for all layers i, j.

    One pass is enough for all i: at layer i, a copy of the examples joins the batch, with x^i scaled by 1 + s. J_ij x^i
    is the derivative of a later x^j with respect to s. Two backward passes compute this derivative, as the gradient of
    <u, dx^j/ds> with respect to u: TensorFlow's forward mode takes much longer to compile.
    """
    places, number = network.weight_nodes, tf.shape(images)[0]
    scale, values, found = tf.constant(0.0), {INPUT: images}, []
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(scale)
            for place in places:
                values[place] = network.run(values, [place])[0]
                found.append(values[place])
                joining = {p: v[:number] * (1 + scale) if p == place else v[:number] for p, v in values.items()}
                values = {p: tf.concat([value, joining[p]], axis=0) for p, value in values.items()}
        weights = [tf.zeros_like(value) for value in found]
        outer.watch(weights)
        along = inner.gradient(found, scale, weights, tf.UnconnectedGradients.ZERO)
    moved = outer.gradient(along, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    carried = [_by_layer(m[number:], [i, number], [0, len(places) - i]) for i, m in enumerate(moved)]
    lengths = [_norm(value[:number]) for value in found]
    return tf.transpose(tf.stack(carried), [2, 1, 0]), tf.stack(lengths, axis=1)


def _probed(network: Network, images: Any, signs: Callable[[Sequence[int]], Any]) -> Any:
    """Return |J_ij' v|^2 (n, d, d) for random vectors v, which `signs(shape)` returns as (n, *shape).

    One pass is enough for all j: the batch holds d copies of the examples, and copy j leaves the batch at layer j.
    """
    places, number = network.weight_nodes, tf.shape(images)[0]
    values = {INPUT: tf.tile(images, [len(places)] + [1] * (len(images.shape) - 1))}
    found, ends = [], []
    with tf.GradientTape() as tape:
        tape.watch(values[INPUT])
        for place in places:
            found.append(network.run(values, [place])[0])
            end, left = tf.split(found[-1], [number, -1])
            ends.append(end)
            values = {p: value[number:] for p, value in values.items()} | {place: left}
    slopes = tape.gradient(ends, found, [signs(end.shape[1:]) for end in ends], tf.UnconnectedGradients.ZERO)
    lengths = [_by_layer(slope, [len(places) - i, number], [i, 0]) for i, slope in enumerate(slopes)]
    return tf.transpose(tf.square(tf.stack(lengths)), [2, 0, 1])


def _by_layer(values: Any, shape: list[Any], others: list[int]) -> Any:
    return tf.pad(tf.reshape(_norm(values), shape), [others, [0, 0]])


def _ratios(numerators: Array, denominators: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = np.minimum(np.where(denominators > 0, numerators / denominators, np.nan), 1)
    return found


def _smallest(ratios: Array, names: list[str], robust: bool) -> Array:
    """Return minima (k,) of ratios (n, k) over n examples, or 5th percentiles if `robust`; at least `FLOOR`."""
    dead = np.isnan(ratios).all(axis=0)
    if dead.any():
        raise MeasureUnavailable(f"needs a signal that is not zero, which layer {names[int(dead.argmax())]} lacks")
    found: Array = np.maximum(np.nanpercentile(ratios, LOW if robust else 0, axis=0), FLOOR)
    return found
