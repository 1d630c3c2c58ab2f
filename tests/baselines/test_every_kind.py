"""Every measure on every kind of network: the value of the same function in other words, or a refusal."""

from baselines import MEASURES

#: Kinds that are tried for every push; each of the others is another layer or another class of data.
EVERY_PUSH = ("attention", "channels_first", "like_convnext", "two_classes")

#: Look at the layers of the model as it is written.
AS_WRITTEN = {"jacobian_norm", "vr", "wcv"}

#: The same by all of the model's layers, as their authors count them.
BY_NUMBER = {"kv_gn_margin_authors", "kv_margin_authors"}

#: Of the first layer that has filters or strides, as their authors look for it.
OF_FIRST_LAYER = {"davies_bouldin_index", "dbi_mixup", "dbi_mixup_winner", "layer_margin_winner"}

#: In front of normalization, or of arrays as they are.
NOT_FOLDED = {"cna", "cna_area", "cna_area_over_margin", "cna_margin", "distance_from_init", "sharpness_starter_kit"}

#: Of windows of convolutions: norms with periodic borders, bounds with sides of windows, spectra of each place.
OF_WINDOWS = {
    *(name for name in MEASURES if name.endswith("_fft")), "alpha", "log_alpha_norm", "log_spec_init",
    "log_spec_init_op", "log_spec_orig", "log_spec_orig_op", "weighted_alpha",
}  # fmt: skip

#: Of each weight layer: one that is two others differs.
OF_LAYERS = {
    "arora_compression_bound", "inverse_layer_cushion", "layer_margin_log_mean", "layer_margin_mean_l2",
    "layer_margin_median_l2", "layer_margin_q1_l2", "noise_sensitivity_l2", "noise_sensitivity_l3",
    "persistence_mean_h0", "persistence_std_h0",
}  # fmt: skip

#: Draw a number for each weight, unit, class or example, whose order is another one.
DRAWN = {
    "adaptive_sharpness_avg", "arora_compression_bound", "effective_dimensionality", "hessian_trace",
    "local_learning_coefficient", "noise_sensitivity_l1", "noise_sensitivity_l2", "noise_sensitivity_l3",
    "pacbayes_flatness", "pacbayes_init", "pacbayes_mag_flatness", "pacbayes_mag_init", "pacbayes_mag_init_exact",
    "pacbayes_mag_orig", "pacbayes_orig", "sharpness_flatness", "sharpness_init", "sharpness_mag_flatness",
    "sharpness_mag_init", "sharpness_mag_orig", "sharpness_orig", "sharpness_starter_kit",
}  # fmt: skip
DRAWN_BY_CLASS = {"kv_gn_margin", "kv_gn_margin_authors", "kv_margin", "kv_margin_authors", "vpm", "wcv"}

#: What may differ between the two ways to write a kind, with `random`, which is the bytes of the weights.
DIFFER = {}

NEED_EIGENVALUES = dict.fromkeys(
    ("alpha", "log_alpha_norm", "weighted_alpha"), "needs a layer with 10 eigenvalues that are not all equal"
) | {"alpha_req": "needs a penultimate representation of 12 dimensions or more"}
PATHS = dict.fromkeys(("log_path_norm", "path_norm", "path_norm_over_margin"), "needs paths of weights alone: layer")
