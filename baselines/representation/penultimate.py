"""The penultimate representation: the inputs of the last weight layer."""

import numpy as np

from baselines.core.measure import MeasureUnavailable
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared


@shared
def penultimate(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array]:
    """Draw examples; returns the inputs (n, features) of the last weight layer, float32, and the labels (n,).

    A feature map is taken as one long vector.

    Raises:
        MeasureUnavailable: there is no weight layer.
    """
    network, sample = subject.network, subject.sample(n_samples, seed)
    if not network.weight_nodes:
        raise MeasureUnavailable("needs a weight layer, which this network lacks")
    place = network.nodes[network.weight_nodes[-1]].sources[0]
    features = network.outputs(sample.inputs, [place])[0]
    return features.reshape(len(sample), -1), sample.labels


@shared
def penultimate_by_class(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array]:
    """Return those of classes with two examples or more, which have a spread; labels are numbered from 0.

    Raises:
        MeasureUnavailable: there are fewer than two such classes.
    """
    features, labels = penultimate(subject, n_samples, seed)
    classes, sizes = np.unique(labels, return_counts=True)
    is_kept = np.isin(labels, classes[sizes > 1])
    if np.sum(sizes > 1) < 2:
        raise MeasureUnavailable("needs two classes with two examples each, which this training set lacks")
    return features[is_kept], np.unique(labels[is_kept], return_inverse=True)[1]
