"""Relative flatness: curvature of the loss in one layer's weights, in units of the weights themselves."""

from typing import Any

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.subject import Subject
from baselines.network import INPUT, Network
from baselines.network.losses import Derivative, sum_over_logits


@measure(Need.LABELS, Need.GRADIENTS)
def relative_flatness(subject: Subject, *, layer: int = -1, n_samples: int = 2048, seed: int = 0) -> float:
    """Curvature of the loss in the last layer's weights, in units of the weights.

    Formula: sum over neurons s, t of <w_s, w_t> Tr(H_st), H_st a block of the Hessian of the mean cross-entropy. Range:
    [0, inf). Source: Petzka et al. 2021, arXiv 2001.00939. Work: 1 F, and B of the layers behind it alone, kappa times.
    Weights: as trained. Refused: that layer is not dense, or has many positions; a connection goes around it.

    Relative flatness, which despite its name is large where the loss is sharp. Of a last layer z = W'x + b it is E
    |x|^2 Var_p(w), the variance of the rows w_k of W' under the network's own probabilities p. Moving scale from one
    layer to the next leaves it as it is where activations are homogeneous.

    Curvature that activations and layers behind the chosen one add by their own bends is left out: it is exact where
    these are piecewise linear, and for a layer that gives the logits themselves. Kernels alone count, as training left
    them: normalization is not folded.

    Args:
        layer: number of the dense layer among all weight layers, from 0, or from the end below 0.
    """
    network = subject.network
    places = network.weight_nodes
    if not -len(places) <= layer < len(places):
        raise ValueError(f"layer: expected a number from {-len(places)} to {len(places) - 1}, found {layer}")
    place = places[layer]
    node = network.nodes[place]
    if node.kind != "Dense" or len(network.shape(place)) != 1:
        raise MeasureUnavailable(f"needs a dense layer of one position, which layer {node.name} ({node.kind}) is not")
    inputs = subject.sample(n_samples, seed).inputs
    key = ("relative flatness", place)
    return float(sum_over_logits(network, key, lambda images: _forward(network, place, images), inputs).mean())


def _forward(network: Network, place: int, images: Any) -> Derivative:
    """Return what gives relative flatness (n,) of single examples' losses, summed over classes.

    With z the layer's output, the blocks of an example are x_i x_i' (H_z)_st, so their sum is |x|^2 Tr(W H_z W'); and
    H_z = J' A A' J with J the Jacobian of the logits with respect to z, and A = (I - p 1') diag(sqrt(p)).
    """
    (source,), kernel = network.nodes[place].sources, network.nodes[place].weights[0]
    entering, leaving = network.run({INPUT: images}, [source, place])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(leaving)
        (logits,) = network.run({place: leaving}, [network.output])
    p = tf.nn.softmax(logits)

    def of_class(direction: Any) -> Any:
        mixed = tf.sqrt(p) * direction
        columns = mixed - p * tf.reduce_sum(mixed, axis=1, keepdims=True)
        rows = tf.matmul(tape.gradient(logits, leaving, output_gradients=columns), kernel, transpose_b=True)
        return tf.reduce_sum(tf.square(rows), axis=1) * tf.reduce_sum(tf.square(entering), axis=1)

    return of_class
