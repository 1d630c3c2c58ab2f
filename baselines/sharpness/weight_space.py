"""The weights of a network as one point of a vector space, and accuracy and loss as functions of that point."""

import functools
from collections.abc import Callable
from typing import Any

from baselines.core.lazy import tf
from baselines.core.sample import Array, Sample
from baselines.network import INPUT, Network

#: Losses (examples,) of logits (examples, classes) and labels (examples,).
Losses = Callable[[Any, Any], Any]


def _losses(logits: Any, labels: Any) -> Any:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


class WeightSpace:
    """Kernels and biases of all weight layers as one vector (n,), float32, with training examples.

    Asking for a point moves the network's weights there: ask within `network.restoring()`.
    """

    def __init__(self, network: Network, sample: Sample) -> None:
        self.network, self.sample = network, sample
        self.data = (tf.constant(sample.inputs), tf.constant(sample.labels))
        self.trained = _joined(network.variables)  #: the point where the network is now

    def __len__(self) -> int:
        return int(self.trained.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the vector and of the examples."""
        return sum(tensor.shape.num_elements() * tensor.dtype.size for tensor in (self.trained, *self.data))

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call `function(network, *arguments, images, labels)`, compiled once for each network."""
        given = [*map(tf.convert_to_tensor, arguments), *self.data]
        specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in given]
        return self.network.compiled(function, functools.partial(function, self.network), *specs)(*given)

    @functools.cached_property
    def trained_hits(self) -> int:
        """Number of examples that are classified correctly where training ended, once for all who ask."""
        return int(self.run(_scores_at, self.trained)[0])

    @functools.cached_property
    def trained_gradient(self) -> tuple[float, Array]:
        """`gradient` where training ended, once for all who ask."""
        return self.gradient(self.trained)

    def accuracy(self, point: Any) -> float:
        """Fraction of the examples that are classified correctly, in [0, 1]."""
        return float(self.run(_scores_at, point)[0]) / len(self.sample)

    def loss(self, point: Any) -> float:
        """Mean cross-entropy in nats."""
        return float(self.run(_scores_at, point)[1]) / len(self.sample)

    def gradient(self, point: Any) -> tuple[float, Array]:
        """Mean cross-entropy and its gradient (n,)."""
        size = self.network.batch_size
        found = [self.batch_gradient(point, slice(i, i + size)) for i in range(0, len(self.sample), size)]
        loss, slope = (sum(parts) for parts in zip(*found, strict=True))
        return float(loss) / len(self.sample), slope / len(self.sample)

    def batch_gradient(self, point: Any, some: slice | Array, losses: Losses = _losses) -> tuple[float, Array]:
        """Summed cross-entropy of some of the examples, run at once, and its gradient (n,).

        Or the sum of `losses(logits, labels)` (examples,), compiled once for each such function.
        """
        specs = [tf.TensorSpec(self.trained.shape), self.network.spec(INPUT), tf.TensorSpec((None,), tf.int32)]
        function = functools.partial(_gradient_at, self.network, losses)
        run = self.network.compiled(("gradient at", losses), function, *specs)
        loss, slope = run(point, self.sample.inputs[some], self.sample.labels[some])
        return float(loss), slope.numpy()

    def hessian_product(self, vector: Any) -> Any:
        """The Hessian of the mean cross-entropy where the network is now, times a vector (n,)."""
        return self.run(_hessian_product, vector) / len(self.sample)


# What is compiled. Loops are part of it: a small network needs less time than a call from Python does.


def repeat(number: Any, step: Callable[..., tuple[Any, ...]], *state: Any) -> tuple[Any, ...]:
    """`state = step(i, *state)` for i from 0 to `number` - 1."""
    _, *last = tf.while_loop(
        lambda i, *_: i < number,
        lambda i, *now: (i + 1, *step(i, *now)),
        (tf.constant(0), *map(tf.convert_to_tensor, state)),
        parallel_iterations=1,
    )
    return tuple(last)


def place(network: Network, point: Any) -> None:
    """Give the network the weights of a point."""
    for variable, part in zip(network.variables, _split(network, point), strict=True):
        variable.assign(part)


def scores(network: Network, images: Any, labels: Any) -> tuple[Any, ...]:
    """Number of correct answers, and summed cross-entropy."""

    def of_batch(some: Any, truth: Any) -> tuple[Any, Any]:
        logits = network.logits(some)
        losses = _losses(logits, truth)
        is_hit = tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32), truth)
        is_hit &= tf.math.is_finite(losses)  # far away logits overflow, and those are wrong
        return tf.reduce_sum(tf.cast(is_hit, tf.float32)), tf.reduce_sum(losses)

    return summed(network, of_batch, images, labels, 0.0, 0.0)


def gradient(network: Network, images: Any, labels: Any, losses: Losses = _losses) -> tuple[Any, Any]:
    """Summed cross-entropy of one batch, and its gradient (n,); or those of other `losses`."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(losses(network.logits(images), labels))
    return loss, _joined(tape.gradient(loss, network.variables, unconnected_gradients="zero"))


def summed(
    network: Network, of_batch: Callable[[Any, Any], tuple[Any, ...]], images: Any, labels: Any, *zeros: Any
) -> tuple[Any, ...]:
    """Add up what `of_batch(images, labels)` returns over batches, beginning with `zeros`."""
    size = network.batch_size
    if labels.shape[0] is not None and labels.shape[0] <= size:
        return of_batch(images, labels)  # a loop takes longer to compile

    def add(i: Any, *sums: Any) -> tuple[Any, ...]:
        found = of_batch(images[i * size : (i + 1) * size], labels[i * size : (i + 1) * size])
        return tuple(total + more for total, more in zip(sums, found, strict=True))

    return repeat(-(-tf.shape(labels)[0] // size), add, *zeros)


def _scores_at(network: Network, point: Any, images: Any, labels: Any) -> tuple[Any, ...]:
    place(network, point)
    return scores(network, images, labels)


def _gradient_at(network: Network, losses: Losses, point: Any, images: Any, labels: Any) -> tuple[Any, Any]:
    place(network, point)
    return gradient(network, images, labels, losses)


def _hessian_product(network: Network, vector: Any, images: Any, labels: Any) -> Any:
    def of_batch(some: Any, truth: Any) -> tuple[Any]:
        with tf.GradientTape() as tape:
            _, slope = gradient(network, some, truth)
            along = tf.tensordot(slope, vector, 1)
        return (_joined(tape.gradient(along, network.variables, unconnected_gradients="zero")),)

    return summed(network, of_batch, images, labels, tf.zeros_like(vector))[0]


def _split(network: Network, vector: Any) -> list[Any]:
    """Cut a vector (n,) into tensors of the shapes of the network's weights."""
    shapes = [variable.shape for variable in network.variables]
    parts = tf.split(vector, [shape.num_elements() for shape in shapes])
    return [tf.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]


def _joined(tensors: Any) -> Any:
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)
