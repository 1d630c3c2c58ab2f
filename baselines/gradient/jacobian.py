"""Derivatives of the logits."""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Cost, Need, measure
from baselines.core.requirements import require_classes
from baselines.core.sample import Array, checked
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network, joined
from baselines.network.losses import balanced


@measure(
    meaning="mean square of the logits' derivatives with respect to every layer's input",
    formula="mean over batches and layers l of mean((d f / d x^l)^2)",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)",
    cost=Cost.GRADIENTS,
    work="kappa B of 528 examples",
    needs={Need.DATA, Need.GRADIENTS, Need.QUANTITIES},
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
    network.require_room(batch_size * len(directions[0]), "try a smaller batch_size or classes_at_once")
    mean_squares = network.compiled(
        "mean square of Jacobians",
        lambda images, some: _mean_squares(network, images, some),
        network.spec(INPUT),
        network.spec(network.output),
    )
    batches = []
    for number, (images, labels) in enumerate(subject.dataset.batch(batch_size).take(n_batches)):
        images, _ = checked(images.numpy(), labels.numpy(), batch_size * number)
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


@shared
def input_jacobians(
    subject: Subject, n_samples: int, seed: int, classes_at_once: int, outputs: str
) -> tuple[Array, Array, Array]:
    """Return |J_i|_F, |x_i| and |f_i| (n,) of examples i, J_i the Jacobian of the outputs with respect to the input."""
    network, sample = subject.network, subject.sample(n_samples, seed)
    if outputs not in ("logits", "probabilities"):
        raise ValueError(f"outputs: expected logits or probabilities, found {outputs}")
    if outputs == "probabilities":
        require_classes(subject)

    def run(images: Any, some: Any) -> Any:
        return _input_jacobian(network, images, some, outputs)

    directions = np.array_split(np.eye(network.n_classes, dtype=np.float32), -(-network.n_classes // classes_at_once))
    size = max(network.batch_size // classes_at_once, 4)
    key = ("input Jacobians", outputs)
    often = len(directions) > 1
    parts = [joined(network.in_batches(key, run, [sample.inputs], some, size=size, often=often)) for some in directions]
    squares = np.sum([part[0] for part in parts], axis=0, dtype=np.float64)
    inputs = np.linalg.norm(sample.inputs.reshape(len(sample), -1).astype(np.float64), axis=1)
    return np.sqrt(squares), inputs, parts[0][1].astype(np.float64)


def _input_jacobian(network: Network, images: Any, directions: Any, outputs: str) -> tuple[Any, Any]:
    """Squared norms (n,) of the Jacobian's rows along `directions`, and the outputs' norms (n,)."""
    classes = tf.shape(directions)[0]
    repeated = tf.repeat(images, classes, axis=0)
    with tf.GradientTape() as tape:
        tape.watch(repeated)
        answers = logits = network.logits(repeated)
    slopes = tf.tile(directions, [tf.shape(images)[0], 1])
    if outputs == "probabilities":
        answers = tf.nn.softmax(logits)
        along = tf.reduce_sum(slopes * answers, axis=1, keepdims=True)
        slopes = balanced(answers * (slopes - along), logits)
    rows = tape.gradient(logits, repeated, output_gradients=slopes)
    squares = tf.reduce_sum(tf.square(tf.reshape(rows, (tf.shape(rows)[0], -1))), axis=1)
    return tf.reduce_sum(tf.reshape(squares, (-1, classes)), axis=1), tf.norm(answers[::classes], axis=1)


@measure(
    meaning="norm of the Jacobian of the logits with respect to the input",
    formula="E |d f / d x|_F",
    source="Novak et al. 2018, arXiv 1802.08760",
    cost=Cost.GRADIENTS,
    work="kappa B",
    needs={Need.DATA, Need.GRADIENTS, Need.QUANTITIES},
)
def input_jacobian_norm(
    subject: Subject, *, n_samples: int = 2048, outputs: str = "logits", classes_at_once: int = 10, seed: int = 0
) -> float:
    """Mean Frobenius norm of the Jacobian. Range: [0, inf).

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        outputs: "logits" or "probabilities".
        classes_at_once: outputs that are differentiated in one pass.
        seed: draws the examples.
    """
    return float(input_jacobians(subject, n_samples, seed, classes_at_once, outputs)[0].mean())


@measure(
    meaning="norm of the Jacobian, free of the scale of inputs and logits",
    formula="E ln(|d f / d x|_F |x| / |f|)",
    source="Novak et al. 2018, arXiv 1802.08760",
    cost=Cost.GRADIENTS,
    work="kappa B",
    needs={Need.DATA, Need.GRADIENTS, Need.QUANTITIES},
)
def log_jacobian_norm_normalized(
    subject: Subject, *, n_samples: int = 2048, classes_at_once: int = 10, seed: int = 0
) -> float:
    """Mean logarithm of the relative Jacobian. Examples with a zero among the three do not count; 0 if all have one.

    The parameters are those of `input_jacobian_norm`.
    """
    parts = np.array(input_jacobians(subject, n_samples, seed, classes_at_once, "logits"))
    jacobians, inputs, answers = parts[:, (parts > 0).all(axis=0)]
    return float(np.mean(np.log(jacobians) + np.log(inputs) - np.log(answers))) if len(inputs) else 0.0


@measure(
    meaning="mean square of the Jacobian of the logits with respect to the input",
    formula="E |d f / d x|_F^2",
    source="Dherin, Munn, Rosca and Barrett 2022, arXiv 2209.13083",
    cost=Cost.GRADIENTS,
    work="kappa B",
    needs={Need.DATA, Need.GRADIENTS, Need.QUANTITIES},
)
def geometric_complexity(subject: Subject, *, n_samples: int = 2048, classes_at_once: int = 10, seed: int = 0) -> float:
    """Geometric complexity: a discrete Dirichlet energy of the logits over the training inputs. Range: [0, inf).

    It is |W|_F^2 for a linear network, and 0 for a constant one. The parameters are those of `input_jacobian_norm`,
    whose square is smaller by the variance of the norm over examples. The paper takes all examples or a batch.
    """
    norms = input_jacobians(subject, n_samples, seed, classes_at_once, "logits")[0]
    return float(np.mean(norms**2))
