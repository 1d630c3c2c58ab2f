"""The output margin gamma (the 10th percentile of the training margins), and norms of the weights over gamma."""

import math

from baselines.core.measure import Need
from baselines.core.output_margin import output_margin, positive_margin
from baselines.norm.path_norm import squared_path_norm
from baselines.norm.terms import Terms, bounded_exp, log_prod, log_sum_of_ratios, norm_measure


@norm_measure(margin=positive_margin)
def inverse_margin(terms: Terms) -> float:
    """Inverse of the squared output margin.

    Formula: 1 / gamma^2, gamma the 10th percentile of the margins. Range: (0, 1 / margin_floor^2]. Source: Jiang et al.
    2019, arXiv 1912.02178, eq. 22.
    """
    return 1 / terms.margin**2


@norm_measure(margin=output_margin, normalizable=False)
def neg_output_margin(terms: Terms) -> float:
    """Minus the output margin.

    Formula: -gamma, gamma the 10th percentile of the margins; positive if more than 10 % of the predictions are wrong.
    Source: control.
    """
    return -terms.margin


@norm_measure(margin=output_margin, spectral=True, normalizable=False)
def normalized_margin(terms: Terms) -> float:
    """Minus the output margin over the product of the spectral norms.

    Formula: -gamma / exp(sum_i ln S_i / 2), S_i squared spectral norms, gamma the 10th percentile of the margins.
    Source: Bartlett et al. 2017, arXiv 1706.08498. Weights: folded.
    """
    return -terms.margin * bounded_exp(-log_prod(terms.spec) / 2)


@norm_measure(margin=positive_margin, spectral=True)
def log_prod_of_spec_over_margin(terms: Terms) -> float:
    """Logarithm of the product of the squared spectral norms over the squared margin.

    Formula: sum_i ln S_i - 2 ln gamma, S_i squared spectral norms, gamma the 10th percentile of the margins. Source:
    Jiang et al. 2019, arXiv 1912.02178, eq. 31. Weights: folded.
    """
    return log_prod(terms.spec) - 2 * math.log(terms.margin)


@norm_measure(margin=positive_margin)
def log_prod_of_fro_over_margin(terms: Terms) -> float:
    """Logarithm of the product of the squared Frobenius norms over the squared margin.

    Formula: sum_i ln F_i - 2 ln gamma, F_i squared Frobenius norms, gamma the 10th percentile of the margins. Source:
    Jiang et al. 2019, arXiv 1912.02178, eq. 36. Weights: folded.
    """
    return log_prod(terms.fro) - 2 * math.log(terms.margin)


@norm_measure(margin=positive_margin, spectral=True)
def log_sum_of_spec_over_margin(terms: Terms) -> float:
    """Logarithm of d times the geometric mean of the squared spectral norms, over gamma^(2/d).

    Formula: ln d + (sum_i ln S_i - 2 ln gamma) / d, S_i squared spectral norms of d layers, gamma the 10th percentile
    of the margins. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 34. Weights: folded.
    """
    return math.log(terms.depth) + (log_prod(terms.spec) - 2 * math.log(terms.margin)) / terms.depth


@norm_measure(margin=positive_margin)
def log_sum_of_fro_over_margin(terms: Terms) -> float:
    """Logarithm of d times the geometric mean of the squared Frobenius norms, over gamma^(2/d).

    Formula: ln d + (sum_i ln F_i - 2 ln gamma) / d, F_i squared Frobenius norms of d layers, gamma the 10th percentile
    of the margins. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 38. Weights: folded.
    """
    return math.log(terms.depth) + (log_prod(terms.fro) - 2 * math.log(terms.margin)) / terms.depth


@norm_measure(Need.INITIAL_WEIGHTS, margin=positive_margin, spectral=True)
def log_spec_init_main(terms: Terms) -> float:
    """Logarithm of the main term of the spectral bound, with distances from the initial weights.

    Formula: sum_i ln S_i - 2 ln gamma + ln sum_j |W_j - W0_j|_F^2 / S_j, kernels W_j, initially W0_j, squared spectral
    norms S_j, gamma the 10th percentile of the margins; a sum of 0 counts as 1e-30. Source: Jiang et al. 2019, arXiv
    1912.02178, eq. 29. Weights: folded.
    """
    return log_prod(terms.spec) - 2 * math.log(terms.margin) + log_sum_of_ratios(terms.fro_change, terms.spec)


@norm_measure(margin=positive_margin, spectral=True)
def log_spec_orig_main(terms: Terms) -> float:
    """Logarithm of the main term of the spectral bound, with norms of the weights.

    Formula: sum_i ln S_i - 2 ln gamma + ln sum_j F_j / S_j, S_i and F_i squared spectral and Frobenius norms, gamma the
    10th percentile of the margins. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 30. Weights: folded.
    """
    return log_prod(terms.spec) - 2 * math.log(terms.margin) + log_sum_of_ratios(terms.fro, terms.spec)


@norm_measure(margin=positive_margin)
def path_norm_over_margin(terms: Terms) -> float:
    """Path norm over the squared margin.

    Formula: sum_j f_{w^2}(1)_j / gamma^2, f_{w^2}(1) the logits for inputs 1 and squared weights, gamma the 10th
    percentile of the margins. Range: (0, e^600]. Source: Jiang et al. 2019, arXiv 1912.02178, eq. 43. Weights: folded.
    """
    return bounded_exp(math.log(squared_path_norm(terms.subject)) - 2 * math.log(terms.margin))
