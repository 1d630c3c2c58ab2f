"""Sharpness as the rise of the training loss close to the trained weights.

Weights: as trained.
"""

import numpy as np

from baselines.core import outputs
from baselines.core.measure import Need, measure
from baselines.core.subject import Subject
from baselines.sharpness.box import N_STEPS, STEP_TO_RADIUS
from baselines.sharpness.scales import weight_space
from baselines.sharpness.weight_space import normalized


@measure(Need.LABELS, Need.GRADIENTS)
def keskar_sharpness(subject: Subject, *, epsilon: float = 1e-3, n_samples: int = 2048, seed: int = 0) -> float:
    """Largest rise of the training loss in a small box around the weights, in percent of 1 + loss.

    Formula: 100 (max_{|u_i| <= epsilon (|w_i| + 1)} L(w + u) - L(w)) / (1 + L(w)), w the weights, u their changes, L
    the mean cross-entropy, the maximum over 20 full-batch steps along the gradient's sign. Range: [0, inf). Source:
    Keskar et al. 2017, arXiv 1609.04836, eq. 4. Work: 21 backward passes.

    Args:
        epsilon: size of the box: a weight w changes by at most epsilon (|w| + 1).
    """
    space = weight_space(subject, n_samples, seed, folded=False)
    radii = epsilon * (np.abs(space.trained) + 1)
    with space.network.restoring():
        point, (loss, slope) = space.trained, space.trained_gradient
        losses = [loss]
        for _ in range(N_STEPS):
            point = point + STEP_TO_RADIUS * radii * np.sign(slope)
            point = np.clip(point, space.trained - radii, space.trained + radii)
            loss, slope = space.gradient(point)
            losses.append(loss)
    return 100 * (max(losses) - losses[0]) / (1 + losses[0])


@measure(Need.LABELS, Need.GRADIENTS)
def sam_sharpness(
    subject: Subject, *, rho: float = 0.05, folded: bool = False, n_samples: int = 2048, seed: int = 0
) -> float:
    """Rise of the training loss by a single step of length rho along its gradient.

    Formula: L(w + rho g / |g|) - L(w), w the weights, L the mean cross-entropy, g its full-batch gradient; 0 if g = 0.
    Source: Foret et al. 2021, arXiv 2010.01412. Work: 1 backward pass + 1 forward pass.

    Args:
        rho: length of the step; for small rho the value is about rho |g|.
    """
    space = weight_space(subject, n_samples, seed, folded=folded)
    with space.network.restoring():
        _, slope = space.trained_gradient
        step = rho * normalized(slope)
        moved = space.logits(space.trained + step)
    labels = space.sample.labels
    still = (outputs.folded_logits if folded else outputs.trained_logits)(subject, n_samples, seed)
    return outputs.loss(moved, labels) - outputs.loss(still, labels)
