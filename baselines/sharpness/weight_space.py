"""The weights of a network as a vector; logits, losses and gradients at any such vector."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from baselines.core import outputs
from baselines.core.lazy import tf
from baselines.core.needs import MeasureUnavailable
from baselines.core.sample import Array, Sample
from baselines.network import INPUT, Network
from baselines.network.losses import cross_entropies

#: Losses (examples,) of logits (examples, classes) and labels (examples,).
Losses = Callable[[Any, Any], Any]


class WeightSpace:
    """The parameters of a network as a vector (n,), float32, and training examples on which losses are computed.

    Methods with an argument `point` set the network's weights to it. They must be called within `network.restoring()`.
    """

    def __init__(self, network: Network, sample: Sample, *, are_kernels: bool = False) -> None:
        """The vector has all parameters; if `are_kernels`, only kernels: no biases, scales, shifts or slopes."""
        self.network, self.sample = network, sample
        self.variables = network.variables
        if are_kernels:
            of_weight_layers = [v for place in network.weight_nodes for v in network.trained(place)]
            self.variables = [v for v in of_weight_layers if len(v.shape) > 1]
        #: The current weights of the network.
        self.trained = np.concatenate([variable.numpy().ravel() for variable in self.variables])

    def __len__(self) -> int:
        return len(self.trained)

    @property
    def nbytes(self) -> int:
        """Bytes of the vector."""
        return int(self.trained.nbytes)

    @functools.cached_property
    def trained_gradient(self) -> tuple[float, Array]:
        """The `gradient` at the trained weights."""
        return self.gradient(self.trained)

    def logits(self, point: Array) -> Array:
        """Return logits (examples, classes), float32, at a point (n,)."""
        place = functools.partial(_place, self.variables)
        self.network.compiled("place", place, tf.TensorSpec((len(self),)))(point)
        return self.network.outputs(self.sample.inputs, often=True)[0]

    def margins(self, point: Array) -> Array:
        """Return margins (examples,), float64, at a point (n,); minus infinity where logits are not finite."""
        with np.errstate(invalid="ignore"):
            found = outputs.margins(self.logits(point), self.sample.labels)
        return np.where(np.isfinite(found), found, -np.inf)

    def gradient(self, point: Array) -> tuple[float, Array]:
        """Return the mean cross-entropy and its gradient (n,) at a point (n,)."""
        found = [self.batch_gradient(point, some) for some in self._batches()]
        loss, slope = (sum(parts) for parts in zip(*found, strict=True))
        return float(loss) / len(self.sample), slope / len(self.sample)

    def batch_loss(self, point: Array, some: slice, losses: Losses) -> float:
        """Return the sum of `losses(logits, labels)` over a batch `some` of examples, at a point (n,)."""
        return float(self._run(("loss at", losses), functools.partial(_loss_at, losses), point, some))

    def batch_gradient(
        self, point: Array, some: slice | Array, losses: Losses = cross_entropies
    ) -> tuple[float, Array]:
        """Return the sum of `losses(logits, labels)` over a batch `some`, and its gradient (n,), at a point (n,)."""
        loss, slope = self._run(("gradient at", losses), functools.partial(_gradient_at, losses), point, some)
        return float(loss), slope.numpy()

    def hessian_product(self, vector: Array) -> Array:
        """Return the Hessian of the mean cross-entropy at the current weights, times a vector (n,)."""
        for node in self.network.nodes:
            if node.config.get("interpolation", "nearest") != "nearest" or node.config.get("activation") == "softsign":
                raise MeasureUnavailable(
                    f"needs second derivatives, which layer {node.name} ({node.kind}) does not give"
                )
        products = [self._run("hessian product", _hessian_product, vector, some).numpy() for some in self._batches()]
        found: Array = sum(products[1:], start=products[0]) / len(self.sample)
        return found

    def _run(self, key: Any, function: Callable[..., Any], vector: Array, some: slice | Array) -> Any:
        specs = [tf.TensorSpec((len(self),)), self.network.spec(INPUT), tf.TensorSpec((None,), tf.int32)]
        run = self.network.compiled(key, functools.partial(function, self.network, self.variables), *specs)
        return run(vector, self.sample.inputs[some], self.sample.labels[some])

    def _batches(self) -> Iterator[slice]:
        size = self.network.batch_size
        return (slice(start, start + size) for start in range(0, len(self.sample), size))


def normalized(vector: Array) -> Array:
    """Return a vector (n,) scaled to length 1; a vector of zeros stays the same."""
    length = np.linalg.norm(vector.astype(np.float64))
    return vector / length if length > 0 else vector


# Compiled functions


def _place(variables: list[Any], point: Any) -> None:
    parts = tf.split(point, [variable.shape.num_elements() for variable in variables])
    for variable, part in zip(variables, parts, strict=True):
        variable.assign(tf.reshape(part, variable.shape))


def _loss_at(losses: Losses, network: Network, variables: list[Any], point: Any, images: Any, labels: Any) -> Any:
    _place(variables, point)
    return tf.reduce_sum(losses(tf.cast(network.logits(images), tf.float64), labels))


def _gradient_at(
    losses: Losses, network: Network, variables: list[Any], point: Any, images: Any, labels: Any
) -> tuple[Any, Any]:
    _place(variables, point)
    return _gradient(losses, network, variables, images, labels)


def _gradient(losses: Losses, network: Network, variables: list[Any], images: Any, labels: Any) -> tuple[Any, Any]:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(losses(network.logits(images), labels))
    return loss, _joined(tape.gradient(loss, variables, unconnected_gradients="zero"))


def _hessian_product(network: Network, variables: list[Any], vector: Any, images: Any, labels: Any) -> Any:
    with tf.GradientTape() as tape:
        _, slope = _gradient(cross_entropies, network, variables, images, labels)
        along = tf.tensordot(slope, vector, 1)
    return _joined(tape.gradient(along, variables, unconnected_gradients="zero"))


def _joined(tensors: list[Any]) -> Any:
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)
