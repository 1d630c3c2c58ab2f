"""Measures of the output margin, and of norms over it. gamma is the 10th percentile of the margins."""

import math

from baselines.core.measure import Need
from baselines.core.output_margin import output_margin, positive_margin
from baselines.norm.magnitude import JIANG
from baselines.norm.path_norm import squared_path_norm
from baselines.norm.terms import Terms, bounded_exp, log_prod, log_sum_of_ratios, norm_measure


@norm_measure(
    meaning="inverse of the squared output margin",
    formula="1 / gamma^2",
    source=JIANG + "22",
    margin=positive_margin,
)
def inverse_margin(terms: Terms) -> float:
    """Inverse of the squared margin, which is at least the floor. Range: (0, 1 / margin_floor^2]."""
    return 1 / terms.margin**2


@norm_measure(
    meaning="minus the output margin",
    formula="-gamma",
    source="control",
    margin=output_margin,
    normalizable=False,
)
def neg_output_margin(terms: Terms) -> float:
    """Minus the margin; positive if more than a tenth of the answers is wrong. Range: (-inf, inf)."""
    return -terms.margin


@norm_measure(
    meaning="minus the output margin over the product of the spectral norms",
    formula="-gamma / exp(sum_i ln S_i / 2)",
    source="Bartlett et al. 2017, arXiv 1706.08498",
    margin=output_margin,
    spectral=True,
    normalizable=False,
)
def normalized_margin(terms: Terms) -> float:
    """Minus the margin over a bound on the network's Lipschitz constant. Range: (-inf, inf)."""
    return -terms.margin * bounded_exp(-log_prod(terms.spec) / 2)


@norm_measure(
    meaning="log of the product of the squared spectral norms over the squared margin",
    formula="sum_i ln S_i - 2 ln gamma",
    source=JIANG + "31",
    margin=positive_margin,
    spectral=True,
)
def log_prod_of_spec_over_margin(terms: Terms) -> float:
    """Logarithm of the product of the squared spectral norms over the squared margin. Range: (-inf, inf)."""
    return log_prod(terms.spec) - 2 * math.log(terms.margin)


@norm_measure(
    meaning="log of the product of the squared Frobenius norms over the squared margin",
    formula="sum_i ln F_i - 2 ln gamma",
    source=JIANG + "36",
    margin=positive_margin,
)
def log_prod_of_fro_over_margin(terms: Terms) -> float:
    """Logarithm of the product of the squared Frobenius norms over the squared margin. Range: (-inf, inf)."""
    return log_prod(terms.fro) - 2 * math.log(terms.margin)


@norm_measure(
    meaning="log of d times the geometric mean of the squared spectral norms, over the margin",
    formula="ln d + (sum_i ln S_i - 2 ln gamma) / d",
    source=JIANG + "34",
    margin=positive_margin,
    spectral=True,
)
def log_sum_of_spec_over_margin(terms: Terms) -> float:
    """Logarithm of d times the d-th root of the product over the squared margin. Range: (-inf, inf)."""
    return math.log(terms.depth) + (log_prod(terms.spec) - 2 * math.log(terms.margin)) / terms.depth


@norm_measure(
    meaning="log of d times the geometric mean of the squared Frobenius norms, over the margin",
    formula="ln d + (sum_i ln F_i - 2 ln gamma) / d",
    source=JIANG + "38",
    margin=positive_margin,
)
def log_sum_of_fro_over_margin(terms: Terms) -> float:
    """Logarithm of d times the d-th root of the product over the squared margin. Range: (-inf, inf)."""
    return math.log(terms.depth) + (log_prod(terms.fro) - 2 * math.log(terms.margin)) / terms.depth


@norm_measure(
    meaning="main term of the spectral bound that looks at the distance from the initial weights",
    formula="sum_i ln S_i - 2 ln gamma + ln sum_j |W_j - W0_j|_F^2 / S_j",
    source=JIANG + "29",
    margin=positive_margin,
    needs={Need.INITIAL_WEIGHTS},
    spectral=True,
)
def log_spec_init_main(terms: Terms) -> float:
    """Main term of the bound; without any distance it counts as 1e-30. Range: (-inf, inf)."""
    return log_prod(terms.spec) - 2 * math.log(terms.margin) + log_sum_of_ratios(terms.fro_change, terms.spec)


@norm_measure(
    meaning="main term of the spectral bound that looks at the norm of the weights",
    formula="sum_i ln S_i - 2 ln gamma + ln sum_j F_j / S_j",
    source=JIANG + "30",
    margin=positive_margin,
    spectral=True,
)
def log_spec_orig_main(terms: Terms) -> float:
    """Main term of the bound. Range: (-inf, inf)."""
    return log_prod(terms.spec) - 2 * math.log(terms.margin) + log_sum_of_ratios(terms.fro, terms.spec)


@norm_measure(
    meaning="path norm over the squared margin",
    formula="sum_j f_{w^2}(1)_j / gamma^2",
    source=JIANG + "43",
    margin=positive_margin,
)
def path_norm_over_margin(terms: Terms) -> float:
    """Path norm over the squared margin. Range: (0, e^600]."""
    return bounded_exp(math.log(squared_path_norm(terms.subject)) - 2 * math.log(terms.margin))
