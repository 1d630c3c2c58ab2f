"""The penultimate representation of examples, cached for all measures."""

import numpy as np

from baselines.core.measure import MeasureUnavailable
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network.penultimate import penultimate_features


def penultimate(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array]:
    """Return the representation (n, features), float32, and the labels (n,) of at most `n_samples` random examples."""
    return _penultimate(subject, min(n_samples, len(subject.examples)), seed)


@shared
def _penultimate(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array]:
    sample = subject.sample(n_samples, seed)
    return penultimate_features(subject.network, sample.inputs), sample.labels


@shared
def penultimate_by_class(subject: Subject, n_samples: int, seed: int) -> tuple[Array, Array]:
    """Return `penultimate` without classes that have a single example in the sample, and number the others from 0."""
    features, labels = penultimate(subject, n_samples, seed)
    classes, sizes = np.unique(labels, return_counts=True)
    is_kept = np.isin(labels, classes[sizes > 1])
    if np.sum(sizes > 1) < 2:
        raise MeasureUnavailable("needs two classes with two examples each, which this training set lacks")
    return features[is_kept], np.unique(labels[is_kept], return_inverse=True)[1]
