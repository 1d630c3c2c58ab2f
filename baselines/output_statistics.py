"""What the outputs say by themselves."""

import numpy as np
from scipy.special import log_softmax

from baselines.measure import Need, measure
from baselines.outputs import cross_entropies, logits
from baselines.subject import Subject


@measure(
    family="margin", meaning="training loss", formula="mean cross-entropy",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 21", cost="1 F", needs={Need.DATA, Need.LABELS},
)  # fmt: skip
def cross_entropy(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Mean cross-entropy in nats. Range: [0, inf)."""
    sample, answers = logits(subject, n_samples, seed)
    return float(cross_entropies(answers, sample.labels).mean())


@measure(
    family="margin", meaning="minus the entropy of the predictions", formula="mean sum_j p_j ln p_j",
    source="Jiang et al. 2019, arXiv 1912.02178, eq. 23", cost="1 F", needs={Need.DATA},
)  # fmt: skip
def neg_entropy(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Minus the mean entropy in nats. Range: [-ln kappa, 0]; confident networks are near 0."""
    _, answers = logits(subject, n_samples, seed)
    logs = log_softmax(answers.astype(np.float64), axis=1)
    return float((np.exp(logs) * logs).sum(axis=1).mean())
