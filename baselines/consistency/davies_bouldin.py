"""Davies-Bouldin index: overlap of the classes in the outputs of a layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array, Sample, draw
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject, shared
from baselines.network import INPUT, Network
from baselines.network.hidden import first_hidden
from baselines.network.nodes import ACTIVATIONS

#: Distances below this fraction of the largest coordinate count as zero, because of rounding.
ROUNDING = 1e-8


@measure(Need.LABELS)
def davies_bouldin_index(
    subject: Subject, *, layer: str = "initial", pool: int = 4, n_batches: int = 40, batch: int = 120,
    stratified: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """Davies-Bouldin index of the classes in the first convolution's output: large if classes overlap.

    Formula: mean over batches and classes k of max over classes l of (s_k + s_l) / |c_k - c_l|, s_k the mean distance
    to the centroid c_k. Range: [0, inf). Source: Natekar and Sharma 2020, arXiv 2012.02775. Work: 1 forward pass over
    4800 examples up to the layer. Draws: depend on the order of examples. Refused: all examples are of one class, or
    the network lacks the layer.

    The index is 0, the best value, if every class is a single point. By convention it is also 0 if all classes have the
    same centroid, so it says nothing about networks of chance accuracy.

    Args:
        layer: number of the layer whose output is clustered, from 0; layers that act only in training do not count.
            "initial" is the first convolution, as in the authors' code, or a pooling after a weight layer, whichever
            comes first; in a network with neither, the first hidden layer that is not linear in the input.
        pool: side of the max-pooling windows; outputs smaller than a window are not pooled.
        n_batches: batches, each drawn without replacement.
        batch: examples in a batch.
        stratified: draw each class in proportion, with at least two examples. If false and there are many classes,
            most classes have a single example in a batch, and so no spread.
    """
    return mean_index(
        subject, layer=layer, pool=pool, n_batches=n_batches, batch=batch, stratified=stratified, seed=seed
    )


@shared
def mean_index(
    subject: Subject, *, layer: str, pool: int, n_batches: int, batch: int, stratified: bool, seed: int
) -> float:
    """Return the value of `davies_bouldin_index`. It is cached, because several measures need it."""
    seeds = [stream_seed("batches of davies_bouldin", seed, number) for number in range(n_batches)]
    batches = [draw(subject.examples, batch, each, by_class=stratified) for each in seeds]
    return index_of_batches(subject.network, batches, layer, pool)


def index_of_batches(network: Network, batches: Sequence[Sample], layer: str, pool: int) -> float:
    """Return the mean Davies-Bouldin index of a layer's outputs over batches, without batches of a single class."""
    position = _position(network, layer)
    features = _features(network, np.concatenate([part.inputs for part in batches]), position, pool)
    ends = np.cumsum([len(part) for part in batches])
    parts = zip(np.split(features, ends[:-1]), [part.labels for part in batches], strict=True)
    found = [index(points, labels) for points, labels in parts if len(np.unique(labels)) > 1]
    if not found:
        raise MeasureUnavailable("needs examples of two classes, which this training set lacks")
    return float(np.mean(found))


def index(points: Array, labels: Array) -> float:
    """Return the Davies-Bouldin index of points (n, ...) in clusters `labels` (n,). Equal centroids add 0."""
    points = points.reshape(len(points), -1).astype(np.float64)
    points = points - points.mean(axis=0)
    _, labels = np.unique(labels, return_inverse=True)
    members = np.eye(labels.max() + 1)[labels]
    sizes = members.sum(axis=0)
    centroids = (members.T @ points) / sizes[:, None]
    spread = members.T @ np.linalg.norm(points - centroids[labels], axis=1) / sizes
    distances = np.linalg.norm(centroids[:, None] - centroids, axis=2)
    rounding = ROUNDING * np.abs(points).max()
    distances[distances <= rounding] = np.inf
    if spread.max() <= rounding:
        return 0.0
    return float(((spread[:, None] + spread) / distances).max(axis=1).mean())


def _position(network: Network, layer: str) -> int:
    outputs = [output for _, output in network.layers]
    if layer == "initial":
        first = next((place for place, node in enumerate(network.nodes) if node.has_kernel), len(network.nodes))
        strided = [place for place in range(first, len(network.nodes)) if "strides" in network.nodes[place].config]
        return next(output for output in outputs if output >= strided[0]) if strided else first_hidden(network)
    if not layer.isdecimal() or int(layer) >= len(outputs):
        raise ValueError(f"layer: expected initial or a number from 0 to {len(outputs) - 1}, found {layer}")
    return outputs[int(layer)]


def _features(network: Network, inputs: Array, position: int, pool: int) -> Array:
    shape = network.shape(position)
    is_turned = _has_channels_in_front(network, position)
    sides = shape[1:] if is_turned else shape[:-1]

    def run(images: Any) -> Any:
        features = network.run({INPUT: images}, [position])[0]
        if not sides or min(sides) < pool:
            return features
        if is_turned:
            features = tf.transpose(features, (0, *range(2, len(shape) + 1), 1))
        window = [pool] * len(sides)
        return tf.nn.pool(features, window, "MAX", strides=window, padding="VALID")

    return np.concatenate(list(network.in_batches(("pooled", position, pool), run, [inputs])))


def _has_channels_in_front(network: Network, position: int) -> bool:
    node = network.nodes[position]
    while node.kind in ACTIVATIONS and node.sources[0] != INPUT:
        node = network.nodes[node.sources[0]]
    if node.kind != "Permute":
        return node.config.get("data_format") == "channels_first"
    rank, source = len(node.config["dims"]), node.sources[0]
    is_back = tuple(node.config["dims"]) == (rank, *range(1, rank))
    return is_back and source != INPUT and network.nodes[source].has_kernel
