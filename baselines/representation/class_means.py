"""Neural collapse of the class means: angles (NC2), alignment with the last kernel (NC3), nearest class means (NC4)."""

import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.outputs import logits
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.network import is_linear
from baselines.network.penultimate import last_weight_nodes
from baselines.representation.collapse import class_means
from baselines.representation.penultimate import penultimate, penultimate_by_class


@measure(Need.LABELS)
def neural_collapse_nc2(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Neural collapse NC2: distance of the class means from a simplex (equal norms, equal and maximal angles).

    Formula: |M M' / |M M'|_F - (I - 1 1' / kappa) / sqrt(kappa - 1)|_F, rows of M the centred means of kappa classes in
    the penultimate representation. Range: [0, sqrt(2)); 0 for a simplex. Source: Papyan, Han and Donoho 2020, arXiv
    2008.08186; the form of Zhu et al. 2021, arXiv 2105.02375.

    Zhu et al. take the rows of the last kernel as M. Two classes always form a simplex. The value is 1 if all class
    means are equal. Classes are chosen as for `cdnv`.
    """
    means = _centered_means(*penultimate_by_class(subject, n_samples, seed))
    number = len(means)
    simplex = (np.eye(number) - 1 / number) / math.sqrt(number - 1)
    return float(np.linalg.norm(_of_norm_one(means @ means.T) - simplex))


@measure(Need.LABELS)
def neural_collapse_nc3(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Neural collapse NC3: distance between the last kernel and the class means, both normalized.

    Formula: |W / |W|_F - M / |M|_F|_F^2, W the last kernel, M the centred class means of the penultimate
    representation, with a row for each class that the sample contains. Range: [0, 4]. Source: Papyan, Han and Donoho
    2020, arXiv 2008.08186. Refused: the logits are not the outputs of a single dense layer on the penultimate
    representation.
    """
    features, labels = penultimate(subject, n_samples, seed)
    kernel = _last_kernel(subject)
    if len(kernel) != features.shape[1]:
        raise MeasureUnavailable(
            f"needs a last layer on the penultimate representation: it has {features.shape[1]} numbers, and the kernel "
            f"takes in {len(kernel)}"
        )
    classes, numbers = np.unique(labels, return_inverse=True)
    means = _centered_means(features, numbers)
    return float(np.sum((_of_norm_one(kernel[:, classes].T) - _of_norm_one(means)) ** 2))


@measure(Need.LABELS)
def neural_collapse_nc4(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Neural collapse NC4: how often the class of the nearest mean differs from the predicted class.

    Formula: mean of 1[argmin_c |h - mu_c| != argmax_c f_c(x)], h the penultimate representation of x, mu_c the mean of
    h over class c (if the sample contains c), f the logits. Range: [0, 1]. Source: Papyan, Han and Donoho 2020, arXiv
    2008.08186.
    """
    _, answers = logits(subject, n_samples, seed)
    return float(np.mean(_nearest(*penultimate(subject, n_samples, seed)) != answers.argmax(axis=1)))


@measure(Need.LABELS)
def nearest_class_mean_error(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Training error of the nearest-class-mean classifier on the penultimate representation.

    Formula: mean of 1[argmin_c |h - mu_c| != y], h representations, mu_c their means over class c, y the true class.
    Range: [0, 1]. Source: Galanti, Gyorgy and Hutter 2022, arXiv 2112.15121.
    """
    features, labels = penultimate(subject, n_samples, seed)
    return float(np.mean(_nearest(features, labels) != labels))


def _nearest(features: Array, labels: Array) -> Array:
    classes, numbers = np.unique(labels, return_inverse=True)
    means, _ = class_means(features, numbers)
    middle = means.mean(axis=0)  # subtracted, so that differences of squares are accurate
    means, points = means - middle, features.astype(np.float64) - middle
    found: Array = classes[np.argmin(np.sum(means**2, axis=1) - 2 * product(points, means.T), axis=1)]
    return found


def _centered_means(features: Array, labels: Array) -> Array:
    means, _ = class_means(features, labels)
    found: Array = means - means.mean(axis=0)
    return found


def _of_norm_one(matrix: Array) -> Array:
    found: Array = matrix / (np.linalg.norm(matrix) or 1.0)
    return found


def _last_kernel(subject: Subject) -> Array:
    network = subject.network
    last = last_weight_nodes(network)
    kernels = [kernel.matrix for kernel in network.kernels if kernel.node in last]
    if len(kernels) != 1 or not is_linear(subject.nodes) or kernels[0].shape[1] != network.n_classes:
        raise MeasureUnavailable("needs logits that are the outputs of one weight layer, at most pooled")
    return kernels[0]
