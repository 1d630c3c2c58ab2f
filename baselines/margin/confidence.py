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
