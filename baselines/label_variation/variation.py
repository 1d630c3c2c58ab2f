"""Variation of the labels between neighbours in graphs of the training examples' representations.

Source: Lassance et al. 2020, arXiv 2011.12737.
"""

import math

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.memory import require_memory
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.label_variation.graphs import cosines, neighbours, normalized_variation, squared_distances, variation
from baselines.network.penultimate import penultimate_features

#: Both parameters of the beta distribution from which mixing coefficients are drawn.
MIXING = 2.0


@measure(Need.LABELS, Need.QUANTITIES)
def vpm(subject: Subject, *, n_samples: int = 500, n_graphs: int = 1, seed: int = 0) -> float:
    """Label variation between nearest neighbours in the penultimate representation of mixed examples.

    Formula: median over graphs of max(tr(Y' L Y) / (4 n), 0), L = I - D^-1/2 A D^-1/2, A_ij = 1 if j is the nearest
    neighbour of i, D row sums of A, rows of Y the labels of n examples. Range: [0, 1/4]. Work: 1 forward pass over 500
    examples for each graph. Draws: depend on the order of examples.

    Variation of the penultimate layer on mixup (VPM). A sample with equally many examples of each class is mixed with
    random partners: l x + (1 - l) x', l ~ Beta(2, 2), and labels likewise. Nearest neighbours are found in the
    penultimate representation, pooled as for `cdnv` and scaled to length 1.

    Args:
        n_samples: examples in a graph, n; fewer if a class has too few examples.
        n_graphs: number of graphs; Lassance et al. took 1 or 80.
    """
    network = subject.network
    values = []
    for graph in range(n_graphs):
        rng = stream("vpm", seed, graph)
        inputs, labels = _mixed(_balanced(subject.examples, max(n_samples // network.n_classes, 1), rng), subject, rng)
        values.append(nearest_variation(penultimate_features(network, inputs), labels, is_symmetric=False))
    return float(np.median(values))


@measure(Need.LABELS)
def wcv(subject: Subject, *, per_class: int = 50, seed: int = 0) -> float:
    """Largest label variation between nearest neighbours, over the inputs of the last third of the layers.

    Formula: max, over the last floor(K / 3) + 1 of K layers, of tr(Y' L Y) / (4 n), L = I - D^-1/2 A D^-1/2, A_ij = 1
    if i is the nearest neighbour of j, or j of i, in the layer's input, D row sums of A, rows of Y the labels of n
    examples of kappa classes. Range: [0, 1/4]. Work: 1 forward pass over 50 x kappa examples. Draws: depend on the
    order of examples.

    Worst-case variation (WCV). Representations are scaled to length 1. The K layers include pooling and reshaping, but
    no final softmax.

    Args:
        per_class: examples of each class; a class with fewer examples is taken whole.
    """
    layers = _layers(subject)
    positions = sorted({source for sources, _ in layers[-(len(layers) // 3 + 1) :] for source in sources})
    sample = _balanced(subject.examples, per_class, stream("wcv", seed))
    labels = _one_hot(sample.labels, subject)
    features = [math.prod(subject.network.shape(position)) for position in positions]
    needed = 4 * len(sample) * (sum(features) + max(features))
    require_memory(needed, f"what {len(sample)} examples are in {len(features)} layers", "try a smaller per_class")
    outputs = subject.network.outputs(sample.inputs, positions)
    return max(nearest_variation(found, labels, is_symmetric=True) for found in outputs)


@measure(Need.LABELS)
def vr(subject: Subject, *, graph_size: int = 500, n_graphs: int = 11, n_neighbours: int = 20, seed: int = 0) -> float:
    """Mean change of the label variation between neighbours, from each of the last layers to the next.

    Formula: median over graphs of mean over l of |v_l+1 - v_l|, v_l = tr(Y' (D - A) Y) / (200 n), A_ij = max(cos(z_i,
    z_j), 0) if the representations z_i, z_j are neighbours, D row sums of A, rows of Y the labels of n of the m
    training examples. Range: [0, inf). Work: 1 forward pass over min(m, 5500) examples. Draws: depend on the order of
    examples.

    Variation rate (VR) over three representations: the inputs of the last two layers, and the logits. The value is
    below 0.2 if no neighbours tie. The sign is that of Lassance et al., who give no reason for it.

    Args:
        graph_size: examples in a graph, n; a smaller training set is taken whole.
        n_graphs: graphs, of disjoint examples; fewer for small training sets.
        n_neighbours: nearest neighbours of each example; i and j are joined if either is among the other's neighbours.
    """
    network = subject.network
    positions = [*(sources[0] for sources, _ in _layers(subject)[-2:]), network.output]
    sample = subject.sample(graph_size * n_graphs, seed)
    size = min(graph_size, len(sample))
    rates = []
    for start in range(0, len(sample) - size + 1, size):
        part = sample.take(np.arange(start, start + size))
        labels = _one_hot(part.labels, subject)
        values = [cosine_variation(found, labels, n_neighbours) for found in network.outputs(part.inputs, positions)]
        rates.append(np.abs(np.diff(values)).mean())
    return float(np.median(rates))


def _layers(subject: Subject) -> list[tuple[tuple[int, ...], int]]:
    """Return `Network.layers` without layers at the end that changed nothing, such as a softmax that was removed."""
    layers = list(subject.network.layers)
    while layers[-1][1] in layers[-1][0]:
        layers.pop()
    return layers


def _balanced(examples: Sample, number: int, rng: np.random.Generator) -> Sample:
    order = rng.permutation(len(examples))
    labels = examples.labels[order]
    return examples.take(np.concatenate([order[labels == label][:number] for label in np.unique(labels)]))


def _mixed(sample: Sample, subject: Subject, rng: np.random.Generator) -> tuple[Array, Array]:
    partners = rng.permutation(len(sample))
    shares = rng.beta(MIXING, MIXING, len(sample))
    labels = _one_hot(sample.labels, subject)
    return _blend(shares.astype(np.float32), sample.inputs, partners), _blend(shares, labels, partners)


def _blend(shares: Array, values: Array, partners: Array) -> Array:
    shares = shares.reshape(-1, *[1] * (values.ndim - 1))
    mixed: Array = shares * values + (1 - shares) * values[partners]
    return mixed


def _one_hot(labels: Array, subject: Subject) -> Array:
    return np.eye(subject.network.n_classes)[labels]


def nearest_variation(representations: Array, labels: Array, *, is_symmetric: bool) -> float:
    """Return tr(Y' L Y) / (4 n), Y the labels, L the Laplacian of the graph of nearest neighbours, including ties."""
    adjacency = neighbours(-squared_distances(representations), 1)
    if is_symmetric:
        adjacency |= adjacency.T
    return max(normalized_variation(adjacency, labels) / (4 * len(labels)), 0.0)


def cosine_variation(representations: Array, labels: Array, k: int) -> float:
    """Return tr(Y' L Y) / (200 n), as in the authors' code, L the Laplacian of the graph of k nearest neighbours."""
    similarities = np.clip(cosines(representations), 0, 1)
    adjacency = neighbours(similarities, k)
    return variation(similarities * (adjacency | adjacency.T), labels) / (200 * len(labels))
