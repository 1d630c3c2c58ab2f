"""A network that runs on copies of the weights, so that the Keras model never changes."""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.memory import require_memory
from baselines.core.needs import MeasureUnavailable
from baselines.network.attention import Attention
from baselines.network.nodes import ATTENTION, INPUT, Array, Node, Nodes, consumers
from baselines.network.operations import Operation, makes_masks, operation

#: Approximate size in bytes of a batch's activations: small enough for a CPU's caches, large enough to keep a GPU busy.
BATCH_BYTES, GPU_BATCH_BYTES = 2**27, 2**28

#: Functions that are called at most this often are not compiled, since compiling takes as long as dozens of passes.
FEW = 8


@dataclass(frozen=True)
class Kernel:
    """A kernel of a dense layer or convolution. A separable convolution has two kernels."""

    name: str  #: name of the layer
    node: int  #: position of the layer
    array: Array  #: (..., inputs, outputs); depthwise: (..., inputs, multiplier)
    is_depthwise: bool = False

    @functools.cached_property
    def matrix(self) -> Array:
        """The kernel as a matrix (window times inputs, outputs), float64, with zeros for channels that do not mix."""
        array = self.array.astype(np.float64)
        if not self.is_depthwise:
            return array.reshape(-1, array.shape[-1])
        *_, inputs, multiplier = array.shape
        blocks = array.reshape(-1, inputs, multiplier)
        matrix = np.zeros((len(blocks), inputs, inputs, multiplier))
        matrix[:, range(inputs), range(inputs), :] = blocks
        return matrix.reshape(-1, inputs * multiplier)


class Network:
    """A network that runs from any position to any later position, in inference mode.

    Position i is the output of node i, position `INPUT` the network's input. `layers` are explained in `Nodes`.
    """

    def __init__(self, network: Nodes, dtype: str = "float32") -> None:
        self.description = network
        self.nodes, self.layers = network.nodes, network.layers
        self.dtype = dtype
        is_masked = any(map(makes_masks, self.nodes))
        self._layers = [(None if is_masked else operation(node, dtype)) or _make(node, dtype) for node in self.nodes]
        self._shapes = {INPUT: network.input_shape}
        self._build()
        self._compiled: dict[Any, Any] = {}

    def _build(self) -> None:
        zeros = tf.zeros((1, *self.description.input_shape), self.dtype)
        outputs = self.run({INPUT: zeros}, range(len(self.nodes)))
        for position, output in enumerate(outputs):
            self._shapes[position] = tuple(map(int, output.shape[1:]))
        for layer, node in zip(self._layers, self.nodes, strict=True):
            if node.weights and not isinstance(layer, Operation):
                layer.set_weights(node.weights)
                if node.kind == "Normalization":
                    layer.finalize_state()  # Keras 3 computes its constants from the weights here

    # Structure

    @property
    def output(self) -> int:
        """Position of the logits; raises `MeasureUnavailable` for a network without logits."""
        if self.description.no_logits:
            raise MeasureUnavailable(self.description.no_logits)
        return len(self.nodes) - 1

    @property
    def n_classes(self) -> int:
        """Number of logits."""
        return self._shapes[self.output][0]

    @property
    def weight_nodes(self) -> list[int]:
        """Positions of the weight layers: dense layers and convolutions.

        Raises `MeasureUnavailable` if there are none, or if weights of another layer do more than scale and shift.
        """
        for node in self.nodes:
            if node.weights and not node.has_kernel and not node.scales:
                raise MeasureUnavailable(f"does not understand the weights of layer {node.name} ({node.kind})")
        found = [position for position, node in enumerate(self.nodes) if node.has_kernel]
        if not found:
            raise MeasureUnavailable("needs a dense layer or a convolution, which this network lacks")
        return found

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels of all weight layers in forward order."""
        return [kernel for position in self.weight_nodes for kernel in _kernels(self.nodes[position], position)]

    def shape(self, position: int) -> tuple[int, ...]:
        """Return the shape of the values at a position, without the batch axis."""
        return self._shapes[position]

    @property
    def input_sides(self) -> tuple[int, ...]:
        """The sides of the network's inputs in pixels, without channels; () for vectors."""
        shape, readers = self.shape(INPUT), [self.nodes[place] for place in consumers(self.nodes, INPUT)]
        to_the_end = (*range(2, len(shape) + 1), 1)  # inputs with the channels first are turned at once
        has_channels_first = any(tuple(node.config["dims"]) == to_the_end for node in readers if node.kind == "Permute")
        return shape[1:] if has_channels_first else shape[:-1]

    def nodes_of(self, number: int) -> list[int]:
        """Return the positions of the nodes that compute layer `number` of `layers`; empty if all were removed."""
        sources, output = self.layers[number]
        if output in sources:
            return []
        found, waiting = [], [output]
        while waiting:
            found.append(waiting.pop())
            waiting += [source for source in self.nodes[found[-1]].sources if source > max(sources)]
        return found[::-1]

    def layer(self, position: int) -> Any:
        """Return the Keras layer that computes the node at `position`, or the `Operation` that replaces it."""
        return self._layers[position]

    @property
    def trained_nodes(self) -> list[int]:
        """Positions of all weight layers, then, if the network is not folded, of layers that only scale or shift."""
        scaling = () if self.description.is_folded else enumerate(self.nodes)
        return [*self.weight_nodes, *(position for position, node in scaling if node.scales and node.n_trained)]

    @property
    def variables(self) -> list[Any]:
        """Trained parameters as `tf.Variable`s, in the order of `trained_nodes`: kernels and biases come first."""
        return [variable for position in self.trained_nodes for variable in self.trained(position)]

    def trained(self, position: int) -> list[Any]:
        """Return the trained `tf.Variable`s of the node at `position`."""
        found = self._layers[position].weights[: self.nodes[position].n_trained]
        return [v if isinstance(v, tf.Variable) else v.value for v in found]  # Keras 3 wraps them

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Restore the values of `variables` at the end of the context."""
        variables = self.variables
        before = [variable.numpy() for variable in variables]
        try:
            yield
        finally:
            for variable, array in zip(variables, before, strict=True):
                variable.assign(array)

    # How it runs

    def run(self, given: Mapping[int, Any], wanted: Sequence[int], tape: Any = None) -> list[Any]:
        """Return the tensors (examples, ...) at positions `wanted`, computed from tensors `given` (position -> tensor).

        A `tape` (`tf.GradientTape`) watches each wanted tensor as soon as it is computed, so that nodes before it are
        not recorded. Raises `MeasureUnavailable` if a skip connection goes around `given`.
        """
        values = dict(given)
        for position in self._between(given, wanted):
            node = self.nodes[position]
            inputs = [values[source] for source in node.sources]
            n_named = len(node.keywords)
            named = dict(zip(node.keywords, inputs[len(inputs) - n_named :], strict=True)) | node.switches
            first = inputs[: len(inputs) - n_named]
            feed = first[0] if len(first) == 1 else first
            values[position] = self._layers[position](feed, training=False, **named)
            if tape is not None and position in wanted:
                tape.watch(values[position])
        return [values[position] for position in wanted]

    def _between(self, given: Mapping[int, Any], wanted: Sequence[int]) -> list[int]:
        needed, waiting = set(), [position for position in wanted if position not in given]
        while waiting:
            position = waiting.pop()
            if position == INPUT:
                raise MeasureUnavailable(f"a connection skips layer {self._name(max(given))}: cannot start from there")
            if position not in needed:
                needed.add(position)
                waiting += [source for source in self.nodes[position].sources if source not in given]
        return sorted(needed)

    def _name(self, position: int) -> str:
        return "input" if position == INPUT else self.nodes[position].name

    def logits(self, inputs: Any) -> Any:
        """Return the logits (examples, classes) of inputs (examples, ...), as a tensor that can be differentiated."""
        return self.run({INPUT: inputs}, [self.output])[0]

    def compiled(self, key: Any, function: Callable[..., Any], *specs: Any, n_calls: int | None = None) -> Any:
        """Return `function`, compiled for arguments with the `tf.TensorSpec`s `specs`, once for each `key`.

        If at most `FEW` calls are expected (`n_calls`), the function is not compiled.
        """
        if n_calls is None or n_calls > FEW:
            if (key, specs) not in self._compiled:
                # Traced here once: to look up the trace at each call would take TensorFlow a millisecond.
                traced = tf.function(function, input_signature=specs, autograph=False).get_concrete_function()
                self._compiled[key, specs] = traced
            function = self._compiled[key, specs]
        return lambda *arguments: function(
            *[tf.convert_to_tensor(given, spec.dtype) for given, spec in zip(arguments, specs, strict=True)]
        )

    def spec(self, position: int) -> Any:
        """Return the `tf.TensorSpec` of tensors at a position, for `compiled`."""
        return tf.TensorSpec((None, *self._shapes[position]), self.dtype)

    @functools.cached_property
    def batch_size(self) -> int:
        """Number of examples in a batch of a forward pass."""
        return self.batch_size_of(2)  # larger batches were slower

    def batch_size_of(self, passes: int) -> int:
        """Return the batch size, 8 to 1024, for work that takes the memory of `passes` forward passes per example."""
        n_bytes = GPU_BATCH_BYTES if tf.config.list_logical_devices("GPU") else BATCH_BYTES
        return int(np.clip(n_bytes // (4 * passes * self._numbers), 8, 1024))

    def require_room(self, n_examples: int, remedy: str) -> None:
        """Raise `MeasureUnavailable`, with advice `remedy`, if memory is too small for activations of `n_examples`."""
        require_memory(4 * n_examples * self._numbers, f"the activations of {n_examples} examples at once", remedy)

    @functools.cached_property
    def _numbers(self) -> int:
        return sum(math.prod(shape) for shape in self._shapes.values())

    def outputs(
        self, inputs: Array, wanted: Sequence[int] | None = None, start: int = INPUT, *, often: bool = False
    ) -> list[Array]:
        """Return the values (n, ...) at each wanted position (None: only the logits), computed in batches.

        `inputs` (n, ...) are the values at position `start`; `often` is explained at `in_batches`.
        """
        positions = tuple(wanted if wanted is not None else (self.output,))

        def run(batch: Any) -> list[Any]:
            return self.run({start: batch}, positions)

        return joined(self.in_batches(("outputs", start, positions), run, [inputs], often=often))

    def in_batches(
        self, key: Any, function: Callable[..., Any], arrays: Sequence[Array], *others: Any, size: int | None = None,
        often: bool = False,
    ) -> Iterator[Any]:  # fmt: skip
        """Run a function of tensors on batches of `arrays` (n, ...), and yield its result for each batch.

        Results are read-only arrays that share the memory of tensors.

        Args:
            key: identifies the function and everything it depends on in addition to its arguments.
            function: takes a batch of each array, and `others`; its result may be nested.
            arrays: arrays that are divided along their first axis.
            others: numbers, or arrays that are not divided.
            size: examples of a batch; by default `batch_size`.
            often: compile the function even for few batches, because it will be called many times.
        """
        size = size or self.batch_size
        starts = range(0, len(arrays[0]), size)
        others = tuple(map(np.asarray, others))
        specs = [tf.TensorSpec((None, *array.shape[1:])[: array.ndim], array.dtype) for array in (*arrays, *others)]
        run = self.compiled(key, function, *specs, n_calls=None if often else len(starts))
        for i in starts:
            found = run(*[array[i : i + size] for array in arrays], *others)
            yield tf.nest.map_structure(np.asarray, found)


def joined(batches: Iterable[Sequence[Array]]) -> list[Array]:
    """Concatenate the results of batches, each a sequence of arrays (examples, ...), into one sequence of arrays."""
    return [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*batches, strict=True)]


def _make(node: Node, dtype: str) -> Any:
    if node.kind == ATTENTION:
        return Attention(**node.config)
    config = {name: "zeros" if name.endswith("_initializer") else value for name, value in node.config.items()}
    config |= {name: None for name in config if name.endswith(("_regularizer", "_constraint"))}
    return getattr(tf.keras.layers, node.kind).from_config(_in_dtype(config, dtype))


def _in_dtype(config: dict[str, Any], dtype: str) -> dict[str, Any]:
    inside = {
        name: value | {"config": _in_dtype(value["config"], dtype)}
        for name, value in config.items() if isinstance(value, dict) and "dtype" in (value.get("config") or ())
    }  # fmt: skip
    return {**config, **inside, "dtype": dtype}


def _kernels(node: Node, position: int) -> Iterator[Kernel]:
    kernel, *others = node.weights
    if node.kind.startswith("Depthwise"):
        yield Kernel(node.name, position, kernel, is_depthwise=True)
    elif node.kind.startswith("Separable"):
        yield Kernel(node.name, position, kernel, is_depthwise=True)
        yield Kernel(node.name, position, others[0])
    elif node.kind.endswith("Transpose"):
        yield Kernel(node.name, position, np.swapaxes(kernel, -1, -2))
    else:
        yield Kernel(node.name, position, kernel)
