"""The table of the measures that see the weights of a network: as they were trained, or with normalization folded."""

from enum import StrEnum


class Form(StrEnum):
    """How a measure sees a network with normalization."""

    TRAINED = "as trained"  #: normalization is a layer; its scales and shifts are parameters like kernels and biases
    FOLDED = "folded"  #: normalization is in the kernels and biases, which are the parameters


#: As in their sources: what looks at the loss around the weights, or at gradients in them.
_TRAINED = {
    "adaptive_sharpness_avg", "adaptive_sharpness_worst_linf", "asam_sharpness", "distance_from_init",
    "effective_dimensionality", "fisher_rao_norm", "fisher_trace", "gradient_confusion", "gradient_noise_final",
    "gradient_norm", "gsnr", "hessian_top_eigenvalue", "hessian_trace", "information_in_weights",
    "keskar_sharpness", "local_energy", "local_learning_coefficient", "log_fisher_rao_norm", "log_fisher_trace",
    "log_gradient_noise_final", "log_gradient_norm", "log_information_in_weights", "low_pass_loss",
    "m_coherence", "neg_local_entropy", "neg_stiffness_cosine", "neg_stiffness_sign", "normalized_sharpness",
    "ntk_alignment", "ntk_complexity", "relative_flatness", "sam_sharpness", "sharpness_starter_kit",
    "tic_diag", "tic_trace",
}  # fmt: skip

#: As in their sources, or because weights in front of a normalization could be of any scale.
_FOLDED = {
    "activation_contraction", "arora_compression_bound", "dist_spec_init", "dist_spec_init_fft",
    "dist_spec_init_op", "effective_rank_sum", "fro_dist", "fro_over_spec", "fro_over_spec_fft",
    "fro_over_spec_op", "inverse_layer_cushion", "l1_max_norm", "l2_dist", "l2_norm", "l3_15_norm",
    "log_path_norm", "log_prod_of_fro", "log_prod_of_fro_over_margin", "log_prod_of_spec",
    "log_prod_of_spec_fft", "log_prod_of_spec_op", "log_prod_of_spec_over_margin",
    "log_prod_of_spec_over_margin_fft", "log_prod_of_spec_over_margin_op", "log_spec_init", "log_spec_init_fft",
    "log_spec_init_main", "log_spec_init_main_fft", "log_spec_init_main_op", "log_spec_init_op",
    "log_spec_orig", "log_spec_orig_fft", "log_spec_orig_main", "log_spec_orig_main_fft",
    "log_spec_orig_main_op", "log_spec_orig_op", "log_sum_of_fro", "log_sum_of_fro_over_margin",
    "log_sum_of_spec", "log_sum_of_spec_fft", "log_sum_of_spec_op", "log_sum_of_spec_over_margin",
    "log_sum_of_spec_over_margin_fft", "log_sum_of_spec_over_margin_op", "lotfi_compression_bound",
    "noise_sensitivity", "noise_sensitivity_l1", "noise_sensitivity_l2", "noise_sensitivity_l3",
    "normalized_margin", "normalized_margin_fft", "normalized_margin_op", "pacbayes_flatness", "pacbayes_init",
    "pacbayes_mag_flatness", "pacbayes_mag_init", "pacbayes_mag_init_exact", "pacbayes_mag_orig",
    "pacbayes_optimized", "pacbayes_orig", "param_norm", "path_norm", "path_norm_over_margin",
    "pruning_tolerance", "quantization_bits", "sharpness_flatness", "sharpness_init",
    "sharpness_mag_flatness", "sharpness_mag_init", "sharpness_mag_orig", "sharpness_orig",
    "spectral_complexity_2_1", "spectral_complexity_2_1_fft", "spectral_complexity_2_1_op", "trace_norm_prod",
}  # fmt: skip

#: Name of a measure -> form. Others look at inputs and outputs of layers, or do as their pages say.
FORMS = dict.fromkeys(_TRAINED, Form.TRAINED) | dict.fromkeys(_FOLDED, Form.FOLDED)
