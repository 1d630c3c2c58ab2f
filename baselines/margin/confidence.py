"""Confidence of a network on the training set: cross-entropy, entropy, and calibration."""

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.outputs import cross_entropies, log_probabilities, logits
from baselines.core.subject import Subject


@measure(Need.LABELS)
def cross_entropy(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Mean cross-entropy on the training set, in nats.

    Formula: mean of -ln p_y, p_y the predicted probability of the true class. Range: [0, inf). Source: Jiang et al.
    2019, arXiv 1912.02178, eq. 21.
    """
    sample, answers = logits(subject, n_samples, seed)
    return float(cross_entropies(answers, sample.labels).mean())


@measure(Need.CLASSES)
def neg_entropy(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Minus the mean entropy of the predicted probabilities, in nats.

    Formula: mean of sum_j p_j ln p_j, p_j the predicted probabilities. Range: [-ln kappa, 0], kappa classes; 0 if all
    predictions have probability 1. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 23.
    """
    _, answers = logits(subject, n_samples, seed)
    logs = log_probabilities(answers)
    return float(np.sum(np.exp(logs) * logs, axis=1).mean())


@measure(Need.CLASSES)
def neg_confidence(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Minus the mean confidence, the probability of the predicted class.

    Formula: -mean of max_j p_j, p_j the predicted probabilities of kappa classes. Range: [-1, -1 / kappa]. Source:
    Hendrycks and Gimpel 2017, arXiv 1610.02136.
    """
    _, answers = logits(subject, n_samples, seed)
    return -float(np.exp(log_probabilities(answers).max(axis=1)).mean())


@measure(Need.LABELS)
def expected_calibration_error(subject: Subject, *, n_samples: int = 10_000, n_bins: int = 15, seed: int = 0) -> float:
    """Expected calibration error on the training set: mean difference of accuracy and confidence.

    Formula: sum over bins b of (n_b / n) |accuracy_b - confidence_b|, n_b of the n examples in bin b, accuracy_b their
    accuracy, confidence_b the mean of their largest probabilities. Range: [0, 1]. Source: Guo, Pleiss, Sun and
    Weinberger 2017, arXiv 1706.04599.

    Args:
        n_bins: bins of the confidence, of equal width in (0, 1] and closed on the right.
    """
    sample, answers = logits(subject, n_samples, seed)
    confidence = np.exp(log_probabilities(answers).max(axis=1))
    surplus = (answers.argmax(axis=1) == sample.labels) - confidence
    bins = np.clip(np.ceil(confidence * n_bins).astype(int), 1, n_bins)
    return float(np.abs(np.bincount(bins, surplus)).sum() / len(surplus))
