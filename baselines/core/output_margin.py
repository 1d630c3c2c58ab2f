"""The output margin gamma of a network: a low percentile of the margins of its training examples."""

import numpy as np

from baselines.core.outputs import logits, margins
from baselines.core.subject import Subject, shared


@shared
def output_margin(subject: Subject, *, n_samples: int = 10_000, percentile_method: str = "kth", seed: int = 0) -> float:
    """Return gamma, the 10th percentile of the margins. It is negative if over 10 % of the predictions are wrong.

    `percentile_method` "kth" takes the max(1, floor(n / 10))-th smallest of n margins, "linear" interpolates.
    """
    sample, answers = logits(subject, n_samples, seed)
    found = margins(answers, sample.labels)
    if percentile_method == "linear":
        return float(np.percentile(found, 10))
    if percentile_method != "kth":
        raise ValueError(f"percentile_method: expected kth or linear, found {percentile_method}")
    rank = max(1, len(found) // 10)
    return float(np.partition(found, rank - 1)[rank - 1])


def positive_margin(
    subject: Subject, *, n_samples: int = 10_000, percentile_method: str = "kth", margin_floor: float = 1e-6,
    parity_abs: bool = False, seed: int = 0,
) -> float:  # fmt: skip
    """Return the output margin gamma, or |gamma| if `parity_abs`, but at least `margin_floor`, for use as a divisor."""
    found = output_margin(subject, n_samples=n_samples, percentile_method=percentile_method, seed=seed)
    return max(abs(found) if parity_abs else found, margin_floor)
