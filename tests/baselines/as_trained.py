"""Names of the measures that look at a network's weights before normalization is folded into them."""

from baselines import MEASURES

AS_TRAINED = {name for name, measure in MEASURES.items() if measure.weights == "as trained"}

#: Change with scale that a normalization, or a constant, takes away: curvature and gradients in the units of weights.
#: Other measures do not, such as relative changes of weights, or have lists of their own.
IN_UNITS = AS_TRAINED - {
    "adaptive_sharpness_avg", "adaptive_sharpness_worst_linf", "asam_sharpness", "distance_from_init",
    "fisher_rao_norm", "gsnr", "information_in_weights", "local_energy", "log_fisher_rao_norm",
    "log_information_in_weights", "normalized_sharpness", "relative_flatness", "sharpness_starter_kit",
}  # fmt: skip
