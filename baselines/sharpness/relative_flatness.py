"""Relative flatness: curvature of the loss in the weights of a layer, relative to the size of the weights."""

from typing import Any

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.subject import Subject
from baselines.network import INPUT, Network
from baselines.network.losses import Derivative, sum_over_logits


@measure(Need.LABELS, Need.GRADIENTS)
def relative_flatness(subject: Subject, *, layer: int = -1, n_samples: int = 2048, seed: int = 0) -> float:
    """Relative flatness: curvature of the loss in the last layer's weights, relative to the size of the weights.

    Formula: sum over the layer's neurons s, t of <w_s, w_t> Tr(H_st), w_s the weights of s, H_st the block of the
    Hessian of the mean cross-entropy for w_s and w_t. Range: [0, inf). Source: Petzka et al. 2021, arXiv 2001.00939.
    Work: 1 forward pass, and for each class a backward pass, but only through the layers after the dense layer.
    Weights: as trained. Refused: the layer is not dense, or computes outputs at several positions, or a connection
    skips it.

    Despite its name, relative flatness is large if the loss is sharp. For a last layer z = W'x + b it is E |x|^2
    Var_p(w), where Var_p(w) is the variance of the rows of W' under the predicted probabilities p. For homogeneous
    activations, the value stays the same if a factor moves from a layer's weights to the next layer's.

    The curvature of activations and layers after the chosen layer is left out. So the value is exact if these are
    piecewise linear, or if the chosen layer computes the logits. Biases are left out; normalization is not folded.

    Args:
        layer: number of the dense layer among all weight layers, from 0; negative numbers count from the end.
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
    """Return a derivative whose sum over all logits is the relative flatness (n,) of each example's loss.

    For inputs x and outputs z of the layer, H_st = x x' (H_z)_st, so the formula gives |x|^2 Tr(W H_z W'). H_z is J' A
    A' J, J the Jacobian of the logits in z, A = (I - p 1') diag(sqrt(p)), p the predicted probabilities.
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
