"""Relative flatness: curvature of the loss in one layer's weights, in units of the weights themselves."""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Cost, MeasureUnavailable, Need, measure
from baselines.core.subject import Subject
from baselines.network import Network


@measure(
    meaning="curvature of the loss in the last layer's weights, in units of the weights",
    formula="sum over neurons s, t of <w_s, w_t> Tr(H_st), H_st a block of the Hessian of the mean cross-entropy",
    source="Petzka et al. 2021, arXiv 2001.00939",
    cost=Cost.GRADIENTS,
    work="1 F, and B of the layers behind it alone, kappa times",
    needs={Need.DATA, Need.LABELS, Need.GRADIENTS},
)
def relative_flatness(
    subject: Subject, *, layer: int = -1, n_samples: int = 2048, classes_at_once: int = 10, seed: int = 0
) -> float:
    """Relative flatness, which despite its name is large where the loss is sharp. Range: [0, inf).

    Of a last layer z = W'x + b it is E |x|^2 Var_p(w), the variance of the rows w_k of W' under the network's own
    probabilities p. Moving scale from one layer to the next leaves it as it is where activations are homogeneous.

    Curvature that activations and layers behind the chosen one add by their own bends is left out: it is exact where
    these are piecewise linear, and for a layer that gives the logits themselves. Kernels alone count. Batch
    normalization is folded.

    Args:
        subject: the network and its training data.
        layer: number of the dense layer among all weight layers, from 0, or from the end below 0.
        n_samples: training examples.
        classes_at_once: directions in the space of logits that are differentiated in one pass.
        seed: draws the examples.

    Raises:
        ValueError: there is no layer of that number.
        MeasureUnavailable: that layer is not dense, or has many positions; a connection goes around it.
    """
    network = subject.folded
    places = network.weight_nodes
    if not -len(places) <= layer < len(places):
        raise ValueError(f"layer: expected a number from {-len(places)} to {len(places) - 1}, found {layer}")
    place = places[layer]
    node = network.nodes[place]
    if node.kind != "Dense" or len(network.shape(place)) != 1:
        raise MeasureUnavailable(f"needs a dense layer of one position, which layer {node.name} ({node.kind}) is not")
    inputs = subject.sample(n_samples, seed).inputs
    return float(np.mean(_of_examples(network, inputs, place, classes_at_once), dtype=np.float64))


def _of_examples(network: Network, inputs: Any, place: int, classes_at_once: int) -> Any:
    """Relative flatness (n,) of single examples' losses.

    With z the layer's output, the blocks of an example are x_i x_i' (H_z)_st, so their sum is |x|^2 Tr(W H_z W'); and
    H_z = J' A A' J with J the Jacobian of the logits with respect to z, and A = (I - p 1') diag(sqrt(p)).
    """
    (source,) = network.nodes[place].sources
    kernel = tf.constant(network.nodes[place].weights[0])
    classes = network.n_classes

    def traces(entering: Any, leaving: Any, some: Any) -> Any:
        repeated = tf.repeat(leaving, tf.shape(some)[0], axis=0)
        with tf.GradientTape() as tape:
            tape.watch(repeated)
            logits = network.run({place: repeated}, [network.output])[0]
        p = tf.nn.softmax(logits)
        mixed = tf.sqrt(p) * tf.tile(some, [tf.shape(leaving)[0], 1])
        columns = mixed - p * tf.reduce_sum(mixed, axis=1, keepdims=True)
        rows = tf.matmul(tape.gradient(logits, repeated, output_gradients=columns), kernel, transpose_b=True)
        squares = tf.reduce_sum(tf.reshape(tf.square(rows), [tf.shape(leaving)[0], -1]), axis=1)
        return squares * tf.reduce_sum(tf.square(entering), axis=1)

    starts = range(0, len(inputs), network.batch_size)
    specs = [network.spec(source), network.spec(place), network.spec(network.output)]
    run = network.compiled(("relative flatness", place), traces, *specs, n_calls=len(starts))
    parts = np.array_split(np.eye(classes, dtype=np.float32), -(-classes // classes_at_once))
    found = []
    for start in starts:
        images = inputs[start : start + network.batch_size]
        batch = network.outputs(images, [source, place], often=len(starts) > 1)
        found.append(sum(run(*batch, some).numpy().astype(np.float64) for some in parts))
    return np.concatenate(found)
