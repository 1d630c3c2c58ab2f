"""Whether a step that helps one example helps another: angles between the gradients of pairs of examples.

Weights are all that training moved, scales and shifts of normalization among them.
"""

from typing import Any

import numpy as np

from baselines.core.measure import Cost, MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network.losses import directions
from baselines.network.per_example import gradient_products

_NEEDS = {Need.DATA, Need.LABELS, Need.GRADIENTS}
_STIFFNESS = "Fort, Nowak, Jastrzebski and Narayanan 2019, arXiv 1901.09491"


@shared
def _cosines(subject: Subject, n_samples: int, seed: int) -> Array:
    """Cosines (pairs,) of the angles between gradients of the cross-entropy; 0 where one of them is 0.

    Raises:
        MeasureUnavailable: a layer whose gradients cannot be taken apart, or a single example.
    """
    network, sample = subject.network, subject.sample(n_samples, seed)
    if len(sample) < 2:
        raise MeasureUnavailable("needs two training examples")
    network.require_room(len(sample), "try a smaller n_samples")

    def products(images: Any, labels: Any) -> Any:
        # lengths do not matter, and products of gradients as they are would vanish where answers are beyond doubt
        return gradient_products(network, images, lambda logits: directions(logits, labels))

    arrays = [sample.inputs, sample.labels]
    (found,) = network.in_batches("products of gradients", products, arrays, size=len(sample))
    exact = found.astype(np.float64)
    lengths = np.sqrt(np.maximum(np.diag(exact), 0))
    scales = np.outer(lengths, lengths)
    cosines = np.divide(exact, scales, out=np.zeros_like(exact), where=scales > 0)
    pairs: Array = np.clip(cosines[np.triu_indices(len(sample), 1)], -1, 1)
    return pairs


@measure(
    meaning="gradient confusion: how opposed the gradients of two examples are at most",
    formula="-min over pairs i < j of cos(g_i, g_j)",
    source="Sankararaman et al. 2020, arXiv 1904.06963",
    cost=Cost.GRADIENTS,
    work="1 B of 128",
    needs=_NEEDS,
)
def gradient_confusion(subject: Subject, *, n_samples: int = 128, seed: int = 0) -> float:
    """Minus the smallest cosine between gradients of two training examples. Range: [-1, 1].

    The paper bounds inner products from below, and shows cosines. More examples have a smaller minimum.

    Args:
        subject: the network and its training data.
        n_samples: training examples.
        seed: draws them.
    """
    return -float(_cosines(subject, n_samples, seed).min())


@measure(
    meaning="minus the stiffness: mean cosine between the gradients of two examples",
    formula="-mean over pairs i < j of cos(g_i, g_j)",
    source=_STIFFNESS,
    cost=Cost.GRADIENTS,
    work="1 B of 128",
    needs=_NEEDS,
)
def neg_stiffness_cosine(subject: Subject, *, n_samples: int = 128, seed: int = 0) -> float:
    """Minus the mean cosine. Range: [-1, 1 / (n - 1)]; -1 if all gradients have one direction."""
    return -float(_cosines(subject, n_samples, seed).mean())


@measure(
    meaning="minus the sign stiffness: how often a step for one example helps another, less how often it harms",
    formula="-mean over pairs i < j of sign(g_i . g_j)",
    source=_STIFFNESS,
    cost=Cost.GRADIENTS,
    work="1 B of 128",
    needs=_NEEDS,
)
def neg_stiffness_sign(subject: Subject, *, n_samples: int = 128, seed: int = 0) -> float:
    """Minus the mean sign of inner products. Range: [-1, 1]; -1 if all gradients point the same way."""
    return -float(np.sign(_cosines(subject, n_samples, seed)).mean())
