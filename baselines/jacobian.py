"""Derivatives of the logits."""

from typing import Any

import numpy as np

from baselines.lazy import tf
from baselines.measure import Need, measure
from baselines.network import INPUT, Network
from baselines.subject import Subject


@measure(
    family="gradient",
    meaning="mean square of the logits' derivatives with respect to every layer's input",
    formula="mean over batches and layers l of mean((d f / d x^l)^2)",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)",
    cost="kappa B",
    needs={Need.DATA, Need.GRADIENTS},
)
def jacobian_norm(subject: Subject, *, n_batches: int = 33, batch_size: int = 16, classes_at_once: int = 10) -> float:
    """Mean square of the entries of d logits / d input of a layer, averaged over layers. Range: [0, inf).

    All layers count alike, pooling and reshaping included, and all batches, a last smaller one included:
    the starting kit of the competition does so with the first 33 batches of 16 examples.

    Args:
        subject: the network and its training data.
        n_batches: how many batches are read from the dataset's start.
        batch_size: examples in a batch.
        classes_at_once: logits that are differentiated in one pass; more need more memory and less time.
    """
    network = subject.network
    directions = np.array_split(np.eye(network.n_classes, dtype=np.float32), -(-network.n_classes // classes_at_once))
    mean_squares = network.compiled(
        "mean square of Jacobians",
        lambda images, some: _mean_squares(network, images, some),
        network.spec(INPUT),
        network.spec(network.output),
    )
    batches = []
    for images, _ in subject.dataset.batch(batch_size).take(n_batches):
        parts = [float(mean_squares(images, some)) for some in directions]
        batches.append(np.average(parts, weights=[len(some) for some in directions]))
    return float(np.mean(batches))


def _mean_squares(network: Network, images: Any, directions: Any) -> Any:
    """Mean, over layers, of the mean square of the logits' derivatives along `directions` (n, classes).

    In inference mode the examples of a batch do not see each other. So every example is repeated once for
    each direction in the space of logits, and one backward pass gives all rows of all Jacobians: no loop
    over classes in the graph, which would take seconds to trace.
    """
    repeated = tf.repeat(images, tf.shape(directions)[0], axis=0)
    seeds = tf.tile(directions, [tf.shape(images)[0], 1])
    positions = [position for sources, _ in network.layers for position in sources if position != network.output]
    places = sorted({INPUT, *positions})
    with tf.GradientTape() as tape:
        tape.watch(repeated)
        *found, logits = network.run({INPUT: repeated}, [*places, network.output])
    gradients = dict(zip(places, tape.gradient(logits, found, output_gradients=seeds), strict=True))
    return tf.reduce_mean([tf.reduce_mean(tf.square(gradients[position])) for position in positions])
