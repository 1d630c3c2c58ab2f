"""Accuracy on mixtures of examples: its Gi-score, its Pal-score, and the mean error.

Source: Schiff et al. 2021, arXiv 2106.04765. Draws: depend on the order of examples.

n_samples: number of pairs. With fewer examples, each example has several partners. Schiff et al. take 23,040 pairs.
"""

import math
import statistics
from collections.abc import Callable, Sequence

from baselines.core.measure import Need, measure
from baselines.core.subject import Subject
from baselines.perturbation_response.mixing import CURVES, mixup_curve
from baselines.perturbation_response.response_curve import gi_score, mean_error, pal_score


def _register_gi(kind: str, layer: int) -> None:
    @measure(*_needs(layer), name=f"gi_{kind}_l{layer}", mixed=_mixing(kind, layer), accuracy=_accuracy(kind, layer))
    def gi(
        subject: Subject, *, n_alphas: int = 11, n_samples: int = 2048, seed: int = 0, method: str = "trapezoid"
    ) -> float:
        """Gi-score: large if accuracy falls much, and early, when $mixed.

        Formula: 1 - 2 int_0^1 int_0^t A(s) ds dt, $accuracy. Range: [0, 1]; 0 for a network that is always right. Work:
        11 forward passes.
        """
        return gi_score(*mixup_curve(subject, kind, layer, n_alphas, n_samples, seed), method)


def _register_pal(
    name: str, meaning: str, formula: str, curves: Sequence[tuple[str, int]], combine: Callable[[list[float]], float]
) -> None:
    needs = _needs(min(layer for _, layer in curves))

    @measure(*needs, name=name, meaning=meaning, formula=formula, number=11 * len(curves))
    def pal(subject: Subject, *, n_alphas: int = 11, n_samples: int = 2048, seed: int = 0) -> float:
        """Minus the $meaning.

        Formula: $formula. Range: (-inf, 0]. Work: $number forward passes.

        Any constant accuracy above 0 has the Pal-score 84; accuracy 0 at small magnitudes has the Pal-score 0.
        """
        return -combine([pal_score(*mixup_curve(subject, *curve, n_alphas, n_samples, seed)) for curve in curves])


def _register_mean_error(kind: str, layer: int) -> None:
    name = f"pr_mean_error_{kind}_l{layer}"

    @measure(*_needs(layer), name=name, mixed=_mixing(kind, layer), accuracy=_accuracy(kind, layer))
    def pr_mean_error(subject: Subject, *, n_alphas: int = 11, n_samples: int = 2048, seed: int = 0) -> float:
        """Mean error over all shares when $mixed.

        Formula: 1 - mean over t of A(t), $accuracy. Range: [0, 1]. Work: 11 forward passes.
        """
        return mean_error(mixup_curve(subject, kind, layer, n_alphas, n_samples, seed)[1])


def _needs(layer: int) -> set[Need]:
    return {Need.LABELS} if layer else {Need.LABELS, Need.QUANTITIES}


def _mixing(kind: str, layer: int) -> str:
    what = "outputs of the first hidden layer" if layer else "inputs"
    return f"{what} are mixed with those of {'the same' if kind == 'intra' else 'another'} class"


def _accuracy(kind: str, layer: int) -> str:
    share = "t / 2" if kind == "intra" else "t (n_alphas - 1) / (2 n_alphas)"
    return f"A(t) = accuracy of f from (1 - a) x^{layer} + a x'^{layer}, a = {share}"


for _kind, _layer in CURVES:
    _register_gi(_kind, _layer)
for _kind, _layer in CURVES:
    _register_pal(
        f"pal_{_kind}_l{_layer}",
        f"Pal-score: how little accuracy falls when {_mixing(_kind, _layer)}",
        f"-int_0.4^1 C / int_0^0.1 C, C(t) = int_0^t A(s) ds, {_accuracy(_kind, _layer)}",
        [(_kind, _layer)],
        math.prod,
    )
for _kind, _layer in CURVES:
    _register_mean_error(_kind, _layer)
_register_pal(
    "pal_intra_l0_x_l1",
    "product of the Pal-scores within classes of inputs and of the first hidden layer's outputs",
    "-Pal_intra_l0 Pal_intra_l1",
    [("intra", 0), ("intra", 1)],
    math.prod,
)
_register_pal(
    "pal_inter_plus_intra_l0",
    "mean of the Pal-scores between classes and within them, of inputs",
    "-(Pal_inter_l0 + Pal_intra_l0) / 2",
    [("inter", 0), ("intra", 0)],
    statistics.fmean,
)
