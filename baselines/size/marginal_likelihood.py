"""The probability of the labels under random networks of the architecture, and the PAC-Bayes bound computed from it."""

import math
from dataclasses import replace

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import Network
from baselines.network.nodes import NORMALIZATIONS, Node
from baselines.network.penultimate import last_weight_nodes, penultimate_branches
from baselines.size.orthant import log_probability


@shared
def random_covariance(subject: Subject, n_samples: int, n_draws: int, seed: int) -> Array:
    """Return the covariance (n, n) of an output at n training examples over random networks, scaled to mean variance 1.

    Kernels are normal with variance 2 / (inputs of a unit), biases are 0, and normalizations have their initial values.
    The average over the last layers' weights is computed exactly, without drawing them. In the limit of infinite width
    the network is a Gaussian process; the result estimates this process's kernel at the network's own width.
    """
    start = replace(subject.nodes, nodes=tuple(map(_before_training, subject.nodes.nodes)))
    network, inputs = Network(start), subject.sample(n_samples, seed).inputs
    variances = _last_variances(network)
    rng, found = stream("random networks", seed), np.zeros((len(inputs), len(inputs)))
    for _ in range(n_draws):
        for place in network.weight_nodes:
            network.layer(place).set_weights(_drawn(network.nodes[place], rng))
        for variance, features in zip(variances, penultimate_branches(network, inputs), strict=True):
            found += variance * product(features, features.T).astype(np.float64)
    size = float(np.mean(np.diag(found)))
    if not 0 < size < math.inf:
        raise MeasureUnavailable("needs random networks whose outputs are finite and not all 0")
    return found / size


def _last_variances(network: Network) -> list[float]:
    found: dict[int, float] = {}
    for node in (network.nodes[place] for place in last_weight_nodes(network)):
        last = len(node.weights) - (2 if node.config["use_bias"] else 1)
        variance = 2 / _fan_in(node, last, node.weights[last].shape)
        found[node.sources[0]] = found.get(node.sources[0], 0.0) + variance
    first, *_ = found.values()
    return [variance / first for variance in found.values()]


def _drawn(node: Node, rng: np.random.Generator) -> list[Array]:
    kernels, biases = (node.weights[:-1], node.weights[-1:]) if node.config["use_bias"] else (node.weights, ())
    drawn: list[Array] = []
    for number, kernel in enumerate(kernels):
        noise = rng.standard_normal(kernel.size, np.float32).reshape(kernel.shape)
        drawn.append(noise * np.float32(math.sqrt(2 / _fan_in(node, number, kernel.shape))))
    return [*drawn, *map(np.zeros_like, biases)]


def _fan_in(node: Node, number: int, shape: tuple[int, ...]) -> int:
    if node.kind.endswith("Transpose"):
        return math.prod(shape[:-2]) * shape[-1]
    is_depthwise = node.kind.startswith(("Depthwise", "Separable")) and number == 0
    return math.prod(shape[:-2] if is_depthwise else shape[:-1])


def _before_training(node: Node) -> Node:
    if node.kind not in NORMALIZATIONS | {"PReLU"}:
        return node
    values = [1.0] * node.config.get("scale", node.kind != "PReLU") + [0.0] * node.config.get("center", False)
    values += {"BatchNormalization": [0.0, 1.0], "PReLU": [0.0]}.get(node.kind, [])
    return replace(
        node, weights=tuple(np.full_like(array, value) for array, value in zip(node.weights, values, strict=False))
    )


#: The bound may fail with these probabilities: delta over training sets, and gamma over random networks.
CONFIDENCES = (0.05, 0.05)

#: Variance of noise that is added to outputs of mean variance 1: about the error of the estimated covariance.
NOISE = 0.01


@measure(Need.LABELS)
def marginal_likelihood_bound(subject: Subject, *, n_draws: int = 100, n_samples: int = 256, seed: int = 0) -> float:
    """Bound on the test error from the probability of the training labels under random networks of the architecture.

    Formula: -ln(1 - p) = (-ln P + ln n + ln(1 / delta) + ln(1 / gamma)) / (n - 1), p the bound, P the probability of n
    labels, which form two groups, delta = gamma = 0.05. Range: (0, inf). Source: Valle-Perez and Louis 2020, arXiv
    2012.04115, and its code; P by expectation propagation. Work: 100 forward passes over 256 examples. Draws: depend on
    the order of input dimensions. Refused: outputs of random networks are 0 or not finite; there is a single training
    example.

    p bounds the test error of a network that was trained only on the n examples, and fits them. Trained weights do not
    enter, so networks of equal architecture tie. Labels of simple functions are more probable under random networks. As
    in the authors' code, the lower and the upper half of the classes form the two groups.

    The authors take the covariance in the limit of infinite width if it is known; here it is always estimated, at the
    network's own width. Batch normalization has no effect in a random network. On the shipped tasks, whose networks are
    narrow, other seeds change the value by 3 %, and fewer draws make it larger.

    Args:
        n_draws: number of random networks.
        n_samples: training examples, n; time grows with the cube of n.
    """
    covariance = random_covariance(subject, min(n_samples, len(subject.examples)), n_draws, seed)
    labels = subject.sample(n_samples, seed).labels
    if len(labels) < 2:
        raise MeasureUnavailable("needs two training examples")
    signs = np.where(labels < subject.n_outputs / 2, -1.0, 1.0)
    rest = math.log(len(labels)) - sum(map(math.log, CONFIDENCES))
    return (rest - log_probability(covariance, signs, NOISE)) / (len(labels) - 1)
