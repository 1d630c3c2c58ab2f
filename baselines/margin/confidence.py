"""How sure a network is of its answers on the training set."""

import numpy as np

from baselines.core.measure import Cost, Need, measure
from baselines.core.outputs import cross_entropies, log_probabilities, logits
from baselines.core.subject import Subject


@measure(
    meaning="cross-entropy on the training set",
    formula="mean of -ln p_y",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 21",
    cost=Cost.FORWARD,
    work="1 F",
    needs={Need.DATA, Need.LABELS},
)
def cross_entropy(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Mean cross-entropy in nats. Range: [0, inf).

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        seed: draws them.
    """
    sample, answers = logits(subject, n_samples, seed)
    return float(cross_entropies(answers, sample.labels).mean())


@measure(
    meaning="minus the entropy of the predicted probabilities: confidence",
    formula="mean of sum_j p_j ln p_j",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 23",
    cost=Cost.FORWARD,
    work="1 F",
    needs={Need.DATA, Need.CLASSES},
)
def neg_entropy(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Minus the mean entropy in nats. Range: [-ln kappa, 0]; 0 for a network that is certain of every answer.

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        seed: draws them.
    """
    _, answers = logits(subject, n_samples, seed)
    logs = log_probabilities(answers)
    return float(np.sum(np.exp(logs) * logs, axis=1).mean())


@measure(
    meaning="minus the average confidence: the largest probability of each answer",
    formula="-mean of max_j p_j",
    source="Hendrycks and Gimpel 2017, arXiv 1610.02136",
    cost=Cost.FORWARD,
    work="1 F",
    needs={Need.DATA, Need.CLASSES},
)
def neg_confidence(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Minus the mean probability of the answer. Range: [-1, -1 / kappa]; -1 for a network that is certain of all.

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        seed: draws them.
    """
    _, answers = logits(subject, n_samples, seed)
    return -float(np.exp(log_probabilities(answers).max(axis=1)).mean())


@measure(
    meaning="expected calibration error on the training set",
    formula="sum over bins b of (n_b / n) |accuracy_b - confidence_b|, equal bins of the confidence max_j p_j",
    source="Guo, Pleiss, Sun and Weinberger 2017, arXiv 1706.04599",
    cost=Cost.FORWARD,
    work="1 F",
    needs={Need.DATA, Need.LABELS},
)
def expected_calibration_error(subject: Subject, *, n_samples: int = 10_000, n_bins: int = 15, seed: int = 0) -> float:
    """How far confidence is from accuracy, by bins of confidence. Range: [0, 1].

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        n_bins: bins of equal width in (0, 1]; a bin has its upper end.
        seed: draws the examples.
    """
    sample, answers = logits(subject, n_samples, seed)
    confidence = np.exp(log_probabilities(answers).max(axis=1))
    surplus = (answers.argmax(axis=1) == sample.labels) - confidence
    bins = np.clip(np.ceil(confidence * n_bins).astype(int), 1, n_bins)
    return float(np.abs(np.bincount(bins, surplus)).sum() / len(surplus))
