"""How much the labels vary between neighbours in graphs of the training examples' representations.

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

#: Both parameters of the beta distribution from which the shares in a mixture are drawn.
MIXING = 2.0


@measure(Need.LABELS, Need.QUANTITIES)
def vpm(subject: Subject, *, n_samples: int = 500, n_graphs: int = 1, seed: int = 0) -> float:
    """Labels' variation between nearest neighbours in the penultimate representation, of mixed examples.

    Formula: median over graphs of max(tr(Y' L Y) / (4 n), 0), L = I - D^-1/2 A D^-1/2, A_ij = 1 for i's nearest j.
    Range: [0, 1/4]. Work: 1 F of 500 examples for each graph. Draws: by example.

    Label variation of the penultimate layer on mixup. Training examples, as many of each class, are mixed with each
    other as l x + (1 - l) x', and so are their labels. Nearest neighbours are those of the penultimate representation
    (pooled, as for `cdnv`), scaled to length 1.

    Args:
        n_samples: examples in a graph, n; fewer where a class has too few.
        n_graphs: the authors took 1 or 80.
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
    """Largest variation of labels between nearest neighbours, over the inputs of the last third of layers.

    Formula: max over l > L - floor(L / 3) - 1 of tr(Y' L_l Y) / (4 n), L_l = I - D^-1/2 A D^-1/2 of the input of l.
    Range: [0, 1/4]. Work: 1 F of 50 x kappa examples. Draws: by example.

    Worst-case label variation. A joins two examples if either is the nearest neighbour of the other; representations
    have length 1. All L layers of the model count, pooling and reshaping included, a softmax at the end excluded.

    Args:
        per_class: examples of each class; fewer where a class has fewer.
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
    """Change of the labels' variation between neighbours, over the last layers.

    Formula: median of mean of |v_l+1 - v_l|, v = tr(Y' (D - A) Y) / (200 n), A_ij = cos(z_i, z_j) if nearest 20. Range:
    [0, inf). Work: 1 F of min(m, 5500) examples.

    Label variation rate, from the inputs of the last two layers to the logits. It is below 0.2 where no neighbours tie.
    Its authors do not say why it should grow with the gap; the sign is theirs.

    Args:
        graph_size: examples in a graph, n; all of them where there are fewer.
        n_graphs: graphs, of different examples; fewer where there are too few examples.
        n_neighbours: of each example; whose neighbour it is counts, too.
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
    """The model's own layers, without those at the very end that do nothing, as a softmax that was taken away."""
    layers = list(subject.network.layers)
    while layers[-1][1] in layers[-1][0]:
        layers.pop()
    return layers


def _balanced(examples: Sample, number: int, rng: np.random.Generator) -> Sample:
    """Draw `number` examples of each class, or all where there are fewer."""
    order = rng.permutation(len(examples))
    labels = examples.labels[order]
    return examples.take(np.concatenate([order[labels == label][:number] for label in np.unique(labels)]))


def _mixed(sample: Sample, subject: Subject, rng: np.random.Generator) -> tuple[Array, Array]:
    """Mix each example, and its label (n, classes), with another one."""
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
    """tr(Y' L Y) / (4 n) on the graph of nearest neighbours; of neighbours that tie all count.

    The authors compare a kernel exp(-distance / scale) instead of distances, which gives the same neighbours.
    """
    adjacency = neighbours(-squared_distances(representations), 1)
    if is_symmetric:
        adjacency |= adjacency.T
    return max(normalized_variation(adjacency, labels) / (4 * len(labels)), 0.0)


def cosine_variation(representations: Array, labels: Array, k: int) -> float:
    """tr(Y' L Y) / (200 n) on the graph of the k highest cosines; the authors' 2 * 50 * 1000 is 200 n."""
    similarities = np.clip(cosines(representations), 0, 1)
    adjacency = neighbours(similarities, k)
    return variation(similarities * (adjacency | adjacency.T), labels) / (200 * len(labels))
