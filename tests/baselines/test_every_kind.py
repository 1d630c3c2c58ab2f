"""Tests of all measures on pairs of networks that are the same function: equal values or equal refusals."""

import functools
import math

import pytest
from kinds import KINDS
from matrix import full
from measure_values import values
from written_twice import BUILDERS, OF_IMAGES, OF_VECTORS, normalized, of_images, written_with_other_scales

from baselines import MEASURES, MeasureUnavailable
from baselines.core.measure import Need

pytestmark = pytest.mark.rest

#: Kinds that are tried for every push; each of the others is another layer or another class of data.
EVERY_PUSH = {"attention", "like_convnext", *OF_IMAGES, *OF_VECTORS} - {"functions that are compiled"}

#: Look at the weights before normalization is folded into them.
AS_TRAINED = {name for name, measure in MEASURES.items() if measure.weights == "as trained"}

#: Change with scale that a normalization, or a constant, takes away: curvature and gradients in the units of weights.
#: Other measures do not, such as relative changes of weights, or have lists of their own.
IN_UNITS = AS_TRAINED - {
    "adaptive_sharpness_avg", "adaptive_sharpness_worst_linf", "asam_sharpness", "distance_from_init",
    "fisher_rao_norm", "gsnr", "information_in_weights", "local_energy", "log_fisher_rao_norm",
    "log_information_in_weights", "normalized_sharpness", "relative_flatness", "sharpness_starter_kit",
}  # fmt: skip

#: Sizes and distances of weights, and what harm a change of them does.
IN_ABSOLUTE_UNITS = {"fro_dist", "l2_dist", "l2_norm", "param_norm"} | {
    name for name in MEASURES if name.startswith(("dist_spec_init", "pacbayes", "sharpness"))
}

#: Look at the layers of the model as it is written: all of them, the last third, the last two.
AS_WRITTEN = {"jacobian_norm", "vr", "wcv"}

#: The same by all of the model's layers, as their authors count them.
BY_NUMBER = {"kv_gn_margin_authors", "kv_margin_authors"}

#: Of the first layer that has filters or strides, as their authors look for it.
OF_FIRST_LAYER = {"davies_bouldin_index", "dbi_mixup", "dbi_mixup_winner", "layer_margin_winner"}

#: Of spectra as WeightWatcher has them.
OF_SPECTRA = {"alpha", "log_alpha_norm", "mp_soft_rank", "rand_distance", "weighted_alpha"}

#: In front of normalization, or of arrays as they are, as in WeightWatcher, the authors' code, or the starting kit.
NOT_FOLDED = OF_SPECTRA | {
    "cna", "cna_area", "cna_area_over_margin", "cna_margin", "distance_from_init", "sharpness_starter_kit",
}  # fmt: skip

#: Of windows of convolutions: norms with periodic borders, bounds with their sides, spectra or noise of each place.
OF_WINDOWS = {
    *(name for name in MEASURES if name.endswith("_fft")), *OF_SPECTRA, "log_spec_init", "log_spec_init_op",
    "log_spec_orig", "log_spec_orig_op", "normalized_sharpness",
}  # fmt: skip

#: Measures of single weight layers, which differ if a layer is replaced by two equivalent layers.
OF_LAYERS = {
    "arora_compression_bound", "inverse_layer_cushion", "layer_margin_log_mean", "layer_margin_mean_l2",
    "layer_margin_median_l2", "layer_margin_q1_l2", "noise_sensitivity_l2", "noise_sensitivity_l3",
    "persistence_life_h1", "persistence_mean_h0", "persistence_midlife_h1", "persistence_std_h0",
}  # fmt: skip

#: Of changes of inputs, or distances between them, in their own units, or relative to how large they are.
OF_UNITS_OF_INPUTS = {
    "augmentation_robustness_runner_up", "constrained_margin", "deepfool_margin", "geometric_complexity",
    "input_gradient_norm", "input_jacobian_norm", "jacobian_norm", "kv_gn_margin_authors", "log_input_gradient_norm",
    "log_jacobian_norm_normalized", "noise_sensitivity",
}  # fmt: skip

#: Of random networks, in which an epsilon of a normalization counts that the trained weights do not let count, and
#: constants of the architecture do.
RANDOM_NETWORKS = {"marginal_likelihood_bound"}

#: Draw some of the units by their order, and by how large they are.
OF_SOME_UNITS = {"persistence_life_h1", "persistence_midlife_h1"}

KV_MARGINS = {"kv_gn_margin", "kv_gn_margin_authors", "kv_margin", "kv_margin_authors"}

PARTNERS = {name for name in MEASURES if name.startswith(("gi_int", "pal_", "pr_mean_error_int"))}
DRAWN_BY_CLASS = KV_MARGINS | {"vpm", "wcv"}

#: Measures whose random draws depend on the order of inputs or weights, or of examples. Networks of vectors meet no
#: condition.
DRAWS_BY_INPUT, DRAWS_BY_EXAMPLE = (
    {name for name, measure in MEASURES.items() if what in measure.draws.partition(" if ")[0]}
    for what in ("input dimensions", "examples")
)

#: Draw a number for each weight, unit, class or example, whose order is another one.
DRAWN = DRAWS_BY_INPUT - NOT_FOLDED - {"adversarial_error", "noise_sensitivity", "sensitivity_output_change"} | {
    "arora_compression_bound", "hessian_trace", "noise_sensitivity_l1", "noise_sensitivity_l2", "noise_sensitivity_l3",
    "rand_distance", "sharpness_starter_kit",
}  # fmt: skip

#: Whatever else is done to it, an input that is no image has no value of these, with this error.
NEED_IMAGES = dict.fromkeys(
    ["layer_margin_winner"]
    + [
        f"{prefix}_{change}"
        for prefix in ("gi", "augmented_subset_error", "pr_mean_error")
        for change in ("rotation", "translate_x", "translate_y", "color_jitter")
    ],
    "needs images (height, width, channels), which inputs of shape (12,) are not",
) | dict.fromkeys(
    ["augmentation_robustness_penalty", "augmentation_robustness_runner_up"],
    "needs images with 1, 3 or 4 channels, which inputs of shape (12,) are not",
)

#: By kind, what differs between the two ways to write it. `random`, which is the bytes of the weights, differs wherever
#: the weights are others.
DIFFER = {
    "the order of inputs and hidden units": DRAWS_BY_INPUT | {"noise_sensitivity_l1"},
    "scale that moves between layers": IN_UNITS | NOT_FOLDED | IN_ABSOLUTE_UNITS | {"jacobian_norm", "random"},
    "the order of examples": DRAWS_BY_EXAMPLE,
    "the order of images in other batches": MEASURES.keys() - NEED_IMAGES.keys()
    | DRAWS_BY_EXAMPLE,  # the others are tried with vectors
    "the structure of the model in other batches": AS_WRITTEN,
    "at_every_place": OF_FIRST_LAYER | BY_NUMBER,
    "attention": AS_WRITTEN | BY_NUMBER | {"layer_margin_winner"},
    "batch_norm_folded": AS_WRITTEN
    | OF_FIRST_LAYER
    | NOT_FOLDED
    | AS_TRAINED - {"normalized_sharpness", "relative_flatness"},
    "branches": BY_NUMBER,
    "channels_first": AS_WRITTEN | BY_NUMBER | OF_SOME_UNITS,
    "constants": AS_WRITTEN | OF_FIRST_LAYER | NOT_FOLDED - {"sharpness_starter_kit"} | IN_UNITS | RANDOM_NETWORKS,
    "constants_in_front": OF_UNITS_OF_INPUTS,
    "class_missing": DRAWN | DRAWN_BY_CLASS | PARTNERS | {"dbi_mixup_winner"},
    "class_of_one": DRAWN | DRAWN_BY_CLASS | PARTNERS,
    "constant_images": DRAWN | DRAWN_BY_CLASS,
    "dead": DRAWN | DRAWN_BY_CLASS | {"nearest_class_mean_error"},
    "dense_as_convolution": AS_WRITTEN | BY_NUMBER | OF_WINDOWS | {"relative_flatness"},
    "hundred_classes": DRAWN
    | DRAWN_BY_CLASS
    | PARTNERS
    | OF_SOME_UNITS
    | {"dbi_mixup_winner", "normalized_sharpness", "ntk_alignment", "ntk_complexity", "tic_diag", "tic_trace"},
    "one_dimension": OF_FIRST_LAYER,
    "residual": {"distance_from_init", "jacobian_norm", "log_alpha_norm", "weighted_alpha"} | IN_UNITS,
    "separable": AS_WRITTEN | BY_NUMBER | OF_LAYERS,
    "squeeze_and_excite": DRAWN | OF_SOME_UNITS,
    "transposed": AS_WRITTEN | BY_NUMBER | OF_FIRST_LAYER,
    "two_classes": DRAWN | DRAWN_BY_CLASS | PARTNERS | OF_SOME_UNITS,
} | {
    kind: AS_WRITTEN
    | OF_FIRST_LAYER
    | NOT_FOLDED - {"sharpness_starter_kit"}
    | IN_UNITS
    | {"vpm"}
    | RANDOM_NETWORKS
    | OF_SOME_UNITS
    for kind in BUILDERS
}

#: Sums of many float32 numbers, searches, directions that are nearly rounding, and counts of answers, of which one may
#: be another, end in other digits.
COARSE = (
    {"constrained_margin", "deepfool_margin", "gsnr", "h_score", "pacbayes_optimized"}
    | {f"noise_sensitivity{end}" for end in ("", "_l1", "_l2", "_l3")}
    | {name for name, measure in MEASURES.items() if measure.family == "perturbation response"}
)

#: What small layers lack, whatever their kind.
OF_SMALL_LAYERS = dict.fromkeys(OF_SPECTRA, "needs a layer with 8 eigenvalues") | {
    "alpha_req": "needs a penultimate representation of 12 dimensions or more",
    "rand_distance": "needs a layer",
}

#: Have a value where the weights are not understood: they look at inputs, outputs and what lies between, or at kernels
#: by themselves.
OF_THE_FUNCTION = OF_SPECTRA | {
    name for name, measure in MEASURES.items()
    if measure.family in ("perturbation response", "consistency", "label variation", "control")
} | {
    "adversarial_error", "alpha_req", "auto_pgd_margin", "cdnv", "constrained_margin", "cross_entropy",
    "deepfool_margin", "distance_from_init", "expected_calibration_error", "fgsm_error", "geometric_complexity",
    "h_score", "input_gradient_norm", "input_jacobian_norm", "intrinsic_dimension", "inverse_margin", "jacobian_norm",
    "layer_margin_winner", "log_input_gradient_norm", "log_jacobian_norm_normalized", "log_me",
    "nearest_class_mean_error", "neg_confidence", "neg_entropy", "neg_output_margin", "neural_collapse_nc1",
    "neural_collapse_nc2", "neural_collapse_nc4", "participation_ratio", "rankme", "sensitivity_output_change",
}  # fmt: skip


def with_needs(*needs):
    """Return the names of the measures that need at least one of `needs`."""
    return {name for name, measure in MEASURES.items() if measure.needs & {*needs}}


PATHS = dict.fromkeys(("log_path_norm", "path_norm", "path_norm_over_margin"), "needs paths of weights alone: layer")
PIECES = dict.fromkeys(("activation_changes", "activation_patterns", "linear_regions_met"), "in pieces, unlike layer")
OF_HIDDEN = {
    f"{curve}_l1"
    for curve in ("gi_inter", "gi_intra", "pal_inter", "pal_intra", "pr_mean_error_inter", "pr_mean_error_intra")
} | {"manifold_mixup_error", "pal_intra_l0_x_l1"}
OF_SINGLE_GRADIENTS = {
    "fisher_rao_norm", "fisher_trace", "gradient_confusion", "gradient_noise_final", "gradient_norm", "gsnr",
    "log_fisher_rao_norm", "log_fisher_trace", "log_gradient_noise_final", "log_gradient_norm", "m_coherence",
    "neg_stiffness_cosine", "neg_stiffness_sign", "normalized_sharpness", "ntk_alignment", "ntk_complexity", "tic_diag",
    "tic_trace",
}  # fmt: skip
LAYER_MARGINS = {name for name in MEASURES if name.startswith("layer_margin") and name != "layer_margin_winner"}

#: Kind -> the measures that refuse it, with a part of their messages.
REFUSED = {
    "attention": PATHS | PIECES,
    "branches": PIECES,
    "constant_images": {"constrained_margin": "needs inputs that differ"}
    | dict.fromkeys(("adversarial_error", "auto_pgd_margin", "fgsm_error"), "needs inputs that are not all the same"),
    "dead": dict.fromkeys(LAYER_MARGINS | {"constrained_margin"}, "needs examples that are classified correctly")
    | {"deepfool_margin": "needs examples that are not zeros only and have a gradient"}
    | dict.fromkeys(("arora_compression_bound", "inverse_layer_cushion"), "needs a signal that is not zero"),
    "linear": dict.fromkeys(LAYER_MARGINS | KV_MARGINS, "needs a hidden layer, which this network lacks")
    | dict.fromkeys(OF_HIDDEN | OF_FIRST_LAYER - {"layer_margin_winner"}, "needs a hidden layer that is not linear")
    | dict.fromkeys((name for name in MEASURES if name.startswith("cna")), "needs two weight layers before the last")
    | {f"noise_sensitivity_l{number}": f"needs {number} weight layers" for number in (2, 3)},
    "low_rank": dict.fromkeys(with_needs(Need.INITIAL_WEIGHTS), "needs the initial weights"),
    "one_logit": dict.fromkeys(with_needs(Need.LABELS, Need.CLASSES), "needs a logit for each of two classes"),
    "recurrent": dict.fromkeys(MEASURES.keys() - OF_THE_FUNCTION, "the weights of layer memory (LSTM)") | PIECES,
    "constants_in_front": dict.fromkeys(
        ("augmentation_robustness_penalty", "layer_margin_winner"), "expected pixels in [0, 1], found"
    ),
    "rescaled_inputs": dict.fromkeys(
        ("augmentation_robustness_penalty", "layer_margin_winner"), "expected pixels in [0, 1], found 255"
    ),
    "squeeze_and_excite": PATHS | PIECES,
    "tokens": dict.fromkeys(MEASURES.keys() - OF_THE_FUNCTION, "the weights of layer words (Embedding)")
    | PIECES
    | dict.fromkeys(with_needs(Need.QUANTITIES), "layer words (Embedding) takes in numbers of tokens"),
    "transposed": dict.fromkeys(
        OF_SINGLE_GRADIENTS, "needs gradients of single examples, which layer conv2d_transpose"
    ),
    **dict.fromkeys(BUILDERS, PATHS | PIECES),
    **dict.fromkeys(OF_VECTORS, NEED_IMAGES),
}


#: Relative tolerance, by kind, of numbers that are computed alike; other kinds are rounded in other places.
CLOSE = dict.fromkeys([*OF_IMAGES, *OF_VECTORS], 1e-4)

MADE = OF_IMAGES | OF_VECTORS | dict(sorted(KINDS.items())) | {
    kind: lambda build=build: written_with_other_scales(build) for kind, build in sorted(BUILDERS.items())
}  # fmt: skip

#: Values of networks that several kinds share.
values_of = functools.lru_cache(maxsize=1)(values)


def test_idle_layers_other_measures_before_it_and_the_seed_of_the_call_change_no_digit_of_a_measure():
    """Only `random` uses the seed of the call; other measures that draw numbers have a parameter `seed`."""
    (model, data), other = of_images(), normalized(idle=True)
    found, before = values_of(model, data), state(other)
    again = values(other, data, [*MEASURES][::-1], seed=8)
    assert {name for name in MEASURES if again[name] != found[name]} == {"random"}
    assert [name for name, one in found.items() if type(one) is not float or not math.isfinite(one)] == []
    assert state(other) == before
    for name in ("inverse_margin", "gi_intra_l0", "pacbayes_flatness", "log_prod_of_spec", "jacobian_norm"):
        assert values(model, data, [name])[name] == found[name]


def state(model):
    flags = [weight.trainable for weight in model.weights]
    activations = [getattr(layer, "activation", None) for layer in model.layers]
    return [weights.tobytes() for weights in model.get_weights()], flags, activations


@pytest.mark.parametrize("kind", [kind if kind in EVERY_PUSH else full(kind) for kind in MADE])
def test_every_measure_has_the_value_of_the_same_function_or_refuses_with_the_reason(kind, monkeypatch):
    written = MADE[kind]()
    left_out = DIFFER.get(kind, set()) | (set() if kind in CLOSE else {"random"})
    found = values_of(written.model, written.data)
    if written.setting is not None:
        monkeypatch.setattr(*written.setting)
    others = values(written.other, written.other_data, [name for name in MEASURES if name not in left_out])
    wrong = {}
    for name, other in others.items():
        cell = found[name], other
        lacks = OF_SMALL_LAYERS.get(name) if kind not in CLOSE and isinstance(found[name], str) else None
        reason = REFUSED.get(kind, {}).get(name, lacks)
        whole = None if reason is None or kind not in CLOSE else repr(MeasureUnavailable(reason))
        if not (are_close(kind, name, *cell) if reason is None else are_refusals(whole or reason, *cell)):
            wrong[name] = cell
    assert wrong == {}


def are_close(kind, name, *pair):
    """Return whether both values are numbers that agree within the tolerance."""
    tolerance, least = CLOSE.get(kind, 5e-3 if name in COARSE else 5e-4), 1e-9 if kind in CLOSE else 1e-7
    return all(type(one) is float for one in pair) and pair[1] == pytest.approx(pair[0], rel=tolerance, abs=least)


def are_refusals(reason, *messages):
    return all(isinstance(message, str) and reason in message for message in messages)
