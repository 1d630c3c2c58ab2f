"""Margins of the logits, and norms over them. gamma is the 10th percentile of the margins over the training set."""

import functools
import math
from collections.abc import Callable

import numpy as np

from baselines.measure import Need, measure
from baselines.norm import TINY, log_mean_form, log_sum, squared_frobenius, squared_spectral
from baselines.outputs import logits, margins
from baselines.path_norm import squared_path_norm
from baselines.subject import Subject, shared

_JIANG = "Jiang et al. 2019, arXiv 1912.02178, eq. "
_DATA = {Need.DATA, Need.LABELS}

#: Margins below it, negative ones included, count as this before a logarithm or a division.
FLOOR = 1e-6


@shared
def output_margin(subject: Subject, n_samples: int, seed: int, percentile_method: str = "kth") -> float:
    """The 10th percentile of the margins: the max(1, floor(n / 10))-th smallest, or `linear` between two."""
    sample, answers = logits(subject, n_samples, seed)
    found = np.sort(margins(answers, sample.labels))
    if percentile_method == "linear":
        return float(np.percentile(found, 10))
    return float(found[max(1, len(found) // 10) - 1])


def positive_margin(subject: Subject, n_samples: int, seed: int) -> float:
    """`output_margin`, floored."""
    return max(output_margin(subject, n_samples, seed), FLOOR)


@measure(
    family="margin", meaning="minus the 10th percentile of the logits' margins", formula="-gamma", source="control",
    cost="1 F", needs=_DATA,
)  # fmt: skip
def neg_output_margin(
    subject: Subject, *, n_samples: int = 10_000, seed: int = 0, percentile_method: str = "kth"
) -> float:
    """Minus the margin; positive where a tenth of the training set is misclassified."""
    return -output_margin(subject, n_samples, seed, percentile_method)


@measure(
    family="margin",
    meaning="inverse squared margin",
    formula="1 / gamma^2",
    source=_JIANG + "22",
    cost="1 F",
    needs=_DATA,
)
def inverse_margin(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Inverse of the squared margin. Range: (0, 1e12]."""
    return 1 / positive_margin(subject, n_samples, seed) ** 2


@measure(
    family="margin", meaning="minus the margin over the product of spectral norms",
    formula="-gamma / exp(1/2 sum_i ln S_i)", source="Bartlett, Foster and Telgarsky 2017, arXiv 1706.08498",
    cost="1 F and SVD", needs=_DATA,
)  # fmt: skip
def normalized_margin(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
    """Minus the margin in units of the bound on the network's Lipschitz constant."""
    return -output_margin(subject, n_samples, seed) * math.exp(min(-log_sum(squared_spectral(subject)) / 2, 600))


def _ratio(shares: list[float], norms: list[float]) -> float:
    """Ln sum_j of quotients; a layer of zeros counts 0."""
    return math.log(max(sum(a / b if b else 0.0 for a, b in zip(shares, norms, strict=True)), TINY))


def _over_margin(
    name: str, meaning: str, formula: str, source: str, compute: Callable[[Subject, float], float], cost: str,
    needs: frozenset[Need] = frozenset(),
) -> None:  # fmt: skip
    """Register a measure of the subject and 2 ln gamma."""

    @measure(
        name=name, family="margin", meaning=meaning, formula=formula, source=source, cost=cost, needs=_DATA | needs
    )
    def over_margin(subject: Subject, *, n_samples: int = 10_000, seed: int = 0) -> float:
        """A norm over the squared margin; gamma is at least 1e-6."""
        return compute(subject, 2 * math.log(positive_margin(subject, n_samples, seed)))


def _log_prod(norms: Callable[[Subject], list[float]]) -> Callable[[Subject, float], float]:
    return lambda subject, margin: log_sum(norms(subject)) - margin


def _log_sum(norms: Callable[[Subject], list[float]]) -> Callable[[Subject, float], float]:
    def compute(subject: Subject, margin: float) -> float:
        found = norms(subject)
        return log_mean_form(log_sum(found) - margin, len(found))

    return compute


def _main(variant: str, shares: Callable[[Subject], list[float]]) -> Callable[[Subject, float], float]:
    def compute(subject: Subject, margin: float) -> float:
        norms = squared_spectral(subject, variant)
        return log_sum(norms) - margin + _ratio(shares(subject), norms)

    return compute


def _moved(subject: Subject) -> list[float]:
    return squared_frobenius(subject, "difference")


_INITIAL = frozenset({Need.INITIAL_WEIGHTS})

_over_margin("log_prod_of_fro_over_margin", "product of Frobenius norms over the margin", "sum_i ln F_i - 2 ln gamma",
             _JIANG + "36", _log_prod(squared_frobenius), "1 F")  # fmt: skip
_over_margin("log_sum_of_fro_over_margin", "mean form of the Frobenius norms over the margin",
             "ln d + (sum_i ln F_i - 2 ln gamma) / d", _JIANG + "38", _log_sum(squared_frobenius), "1 F")  # fmt: skip
_over_margin("path_norm_over_margin", "path norm over the margin", "path_norm / gamma^2", _JIANG + "43",
             lambda subject, margin: squared_path_norm(subject) * math.exp(-margin), "1 F")  # fmt: skip

for _variant, _suffix, _cost in (
    ("matrix", "", "1 F and SVD"),
    ("fft", "_fft", "1 F and SVD at every frequency"),
    ("op", "_op", "1 F and power iteration"),
):
    _norms = functools.partial(squared_spectral, variant=_variant)
    _over_margin(f"log_prod_of_spec_over_margin{_suffix}", "product of spectral norms over the margin",
                 "sum_i ln S_i - 2 ln gamma", _JIANG + "31", _log_prod(_norms), _cost)  # fmt: skip
    _over_margin(f"log_sum_of_spec_over_margin{_suffix}", "mean form of the spectral norms over the margin",
                 "ln d + (sum_i ln S_i - 2 ln gamma) / d", _JIANG + "34", _log_sum(_norms), _cost)  # fmt: skip
    _over_margin(f"log_spec_init_main{_suffix}", "spectral bound's main term, with the distance from initialization",
                 "sum_i ln S_i - 2 ln gamma + ln sum_j |W_j - W0_j|_F^2 / S_j", _JIANG + "29",
                 _main(_variant, _moved), _cost, _INITIAL)  # fmt: skip
    _over_margin(f"log_spec_orig_main{_suffix}", "spectral bound's main term, with the norm",
                 "sum_i ln S_i - 2 ln gamma + ln sum_j F_j / S_j", _JIANG + "30",
                 _main(_variant, squared_frobenius), _cost)  # fmt: skip
