"""Tests of inputs that every measure refuses, of inputs that only some measures refuse, and of wrong parameters."""

import functools

import numpy as np
import pytest
import tensorflow as tf
from measure_values import values
from small_networks import dataset, dense, gaussian, layers, sequential, t1

import baselines
from baselines import MEASURES, MeasureUnavailable
from baselines.core.measure import Need
from baselines.sharpness import box, scales

#: Measures that look at more than what the outputs of a network are.
OF_CLASSES = {name for name, measure in MEASURES.items() if measure.needs & {Need.LABELS, Need.CLASSES}}

NEED_LARGE_LAYERS = {"alpha", "alpha_req", "weighted_alpha", "log_alpha_norm", "mp_soft_rank", "rand_distance"}


def small(outputs=3, *, nested=False):
    head = [layers.Dense(4, "relu"), layers.Dense(4, "relu"), layers.Dense(outputs)]
    if nested:
        inner = sequential((5,), *head[:2])
        head = [inner, head[2]]
    model = sequential((6, 6, 1), layers.Flatten(), layers.Dense(5, "relu"), *head)
    gaussian(model)
    model.initial_weights = [array / 2 for array in model.get_weights()]
    return model


@pytest.fixture(scope="module")
def data():
    draw = np.random.default_rng(1)
    return dataset(draw.random((40, 6, 6, 1)), np.arange(40) % 3)


def said(message):
    return repr(MeasureUnavailable(message))


@pytest.mark.rest
@pytest.mark.parametrize(("bad", "nested"), [(np.nan, False), (np.inf, True)])
def test_weights_that_are_not_finite_are_refused_by_all(bad, nested, data):
    model = small(nested=nested)
    weights = model.get_weights()
    weights[3][1] = bad
    model.set_weights(weights)
    refusal = said(f"needs finite weights, which layer {model.layers[2].name} lacks")
    assert set(values(model, data).values()) == {refusal}


def test_initial_weights_that_are_missing_or_not_finite_are_refused_before_any_search(data, monkeypatch):
    for module in (box, scales):
        monkeypatch.setattr(module, "largest_harmless", None)
    model = small()
    model.initial_weights[2][0, 0] = np.nan
    names = [name for name, measure in MEASURES.items() if Need.INITIAL_WEIGHTS in measure.needs]
    assert set(values(model, data, names).values()) == {said("needs finite initial weights, which this model lacks")}
    del model.initial_weights
    assert set(values(model, data, names).values()) == {said("needs the initial weights, which this model lacks")}


@pytest.mark.rest
def test_one_logit_is_enough_for_what_does_not_need_logits_of_classes(data):
    found = values(small(outputs=1), data)
    refused = {name for name, value in found.items() if isinstance(value, str)}
    assert refused - NEED_LARGE_LAYERS == OF_CLASSES
    probabilities = "input_jacobian_norm:outputs=probabilities"
    found |= values(small(outputs=1), data, [probabilities])
    refusal = said("needs a logit for each of two classes or more, found 1")
    assert {found[name] for name in [*OF_CLASSES, probabilities]} == {refusal}


def test_a_model_without_a_graph_of_layers_is_refused_by_all_but_those_of_arrays(data):
    class Subclass(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.last = layers.Dense(3)

        def call(self, inputs):
            return self.last(tf.reshape(inputs, (-1, 36)))

    subclass = Subclass()
    subclass(np.zeros((1, 6, 6, 1), np.float32))
    subclass.initial_weights = subclass.get_weights()
    reason = said("expected a sequential or functional model that has been built")
    of_arrays = {"distance_from_init", "random"}
    assert not any(isinstance(value, str) for value in values(subclass, data, of_arrays).values())
    assert set(values(subclass, data, MEASURES.keys() - of_arrays).values()) == {reason}


@pytest.mark.parametrize("name", ["fisher_trace", "hessian_trace", "asam_sharpness", "num_params"])
def test_a_network_without_weight_layers_is_refused(name, data):
    model = sequential((6, 6, 1), layers.Reshape((12, 3)), layers.GlobalMaxPooling1D())
    with pytest.raises(MeasureUnavailable, match="needs a dense layer or a convolution, which this network lacks"):
        baselines.load(name)(model, data)


def test_data_of_another_form_are_refused_in_one_line(data):
    halved = data.map(lambda image, label: (image, label / 2))
    for other, found in (
        (data.take(0), "expected examples, found none"),
        (data.batch(20), r"found labels \(20,\)"),
        (data.map(lambda image, label: (image, tf.one_hot(label, 3))), r"found labels \(3,\)"),
        (halved, r"example 1: expected a whole number as its label, found 0\.5"),
    ):
        with pytest.raises(ValueError, match=rf"^dataset: .*{found}"):
            baselines.load("inverse_margin")(small(), other)


def test_labels_that_are_no_class_are_refused_with_the_example(data):
    changed = data.map(lambda image, label: (image, label + 1))
    said = repr(ValueError("dataset: example 2: expected a label from 0 to 2, found 3"))
    of_labels = {name for name, measure in MEASURES.items() if Need.LABELS in measure.needs}
    assert set(values(small(), changed, of_labels).values()) == {said}


@pytest.mark.rest
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_inputs_that_are_not_finite_are_refused_with_the_example(bad):
    images = np.zeros((40, 6, 6, 1))
    images[7, 2, 5, 0] = bad
    said = repr(ValueError(f"dataset: example 7: expected finite numbers, found {np.float32(bad)} at (2, 5, 0)"))
    names = {name for name, measure in MEASURES.items() if Need.DATA in measure.needs}
    found = values(small(), dataset(images, np.arange(40) % 3), names)
    assert set(found.values()) == {said}


@pytest.mark.parametrize("name", ["augmentation_robustness_penalty", "layer_margin_winner"])
def test_pixels_out_of_the_range_that_changes_of_colours_take_are_refused(name, data):
    refusal = r"^dataset: example 0: expected pixels in \[0, 1\], found 2.* at \(\d, \d, 0\)"
    with pytest.raises(ValueError, match=refusal):
        baselines.load(name)(small(), data.map(lambda image, label: (image * 255, label)))


def test_a_value_that_is_no_number_is_refused_with_what_came_out(data):
    model = small()
    model.set_weights([1e15 * array for array in model.get_weights()])
    with pytest.raises(MeasureUnavailable, match=r"^came out as (nan|inf), which is no finite number$"):
        baselines.load("geometric_complexity")(model, data)


no_hidden_layer = functools.partial(dense, [[1.0, -1.0], [0.0, 0.0]])
dead = functools.partial(dense, np.zeros((2, 3)), np.zeros((3, 2)))


def image(*parts, shape=(4, 4, 1)):
    return sequential(shape, *parts, layers.Flatten(), layers.Dense(3))


def vectors(*parts):
    return sequential((2,), *parts, layers.Dense(2))


def graph(join):
    source = tf.keras.Input((2,))
    return tf.keras.Model(source, join(source))


def gated(flow):
    return layers.Dense(2)(layers.Multiply(name="gate")([layers.Dense(3)(flow), layers.Dense(3, "sigmoid")(flow)]))


def attended(flow):
    places = layers.Reshape((2, 2))(layers.Dense(4)(flow))
    return layers.Dense(2)(layers.Flatten()(layers.Dot(2, name="gate")([places, places])))


def with_softmax(flow):
    return layers.Dense(2)(layers.Softmax(name="gate")(layers.Dense(3)(flow)))


def skipped(source):
    """A connection around the only hidden layer."""
    return layers.Add()([layers.Dense(2)(source), layers.Dense(2)(layers.Dense(2, "relu")(source))])


def labelled(*labels):
    return dataset([[1.0, 0.0], [3.0, 1.0], [-7.0, 2.0]][: len(labels)], labels)


def images_of(*shape, scale=1.0):
    return dataset(scale * np.random.default_rng(0).random((6, *shape)), np.arange(6) % 3)


SAME = dataset(np.ones((4, 2)), [0, 1, 0, 1])
LATTICE = dataset(np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2), [0] * 36)
DRAWN = np.random.default_rng(0).normal(size=(20, 20))

OF_PIECES = "linear_regions_met activation_changes activation_patterns"
OF_SPECTRA = "rand_distance mp_soft_rank alpha"
OF_COLOURS = " ".join(f"{prefix}_color_jitter" for prefix in ("gi", "augmented_subset_error", "pr_mean_error"))
TWO_CLASSES = "needs (training )?examples of two classes, (which this training set lacks|and all that were drawn)"
TWO_OF_A_CLASS = "needs two examples of a class, which this training set lacks"
NOT_LINEAR = "needs a hidden layer that is not linear"
BENT = r"linear in pieces, unlike layer bent.* \(Activation\)"
NO_PATHS = "needs paths of weights alone: layer gate"
SIGNED = r"needs paths of weights alone: layer signed .* has signs of its own"
NO_COLOURS = "needs images with 1, 3 or 4 channels"

#: Measures, a network and its data, and the reason for which the measures refuse.
REFUSALS = [
    ("adversarial_error fgsm_error auto_pgd_margin", dead, SAME, "inputs that are not all the same, found 1 only"),
    ("deepfool_margin", dead, labelled(0, 1, 0), "have a gradient"),
    ("constrained_margin", no_hidden_layer, labelled(1, 1, 0), "classified correctly"),
    ("constrained_margin", no_hidden_layer, dataset([[1.0, 0.0]] * 3, [0, 0, 0]), "inputs that differ"),
    ("lotfi_compression_bound", no_hidden_layer, labelled(1, 1), "needs a right answer"),
    ("kv_margin davies_bouldin_index", no_hidden_layer, labelled(0, 0, 1), "needs a hidden layer"),
    ("kv_margin", t1, labelled(0, 1), "a class with two examples"),
    ("kv_margin kv_gn_margin", small, images_of(6, 6, 1, scale=1e30), "needs representations whose squares are finite"),
    ("davies_bouldin_index dbi_mixup gi_inter_l0 gi_inter_l1 ntk_alignment", t1, labelled(0, 0, 0), TWO_CLASSES),
    ("mixup_error manifold_mixup_error gi_intra_l0 gi_intra_l1", t1, labelled(0, 1), TWO_OF_A_CLASS),
    ("manifold_mixup_error", lambda: vectors(layers.ReLU()), SAME, NOT_LINEAR),
    ("manifold_mixup_error", lambda: vectors(layers.Dense(5)), SAME, NOT_LINEAR),
    ("manifold_mixup_error", lambda: vectors(layers.Dropout(0.5), layers.Flatten()), SAME, NOT_LINEAR),
    ("gi_intra_l1 pal_inter_l1", lambda: graph(skipped), SAME, f"{NOT_LINEAR} and that no connection"),
    ("cdnv neural_collapse_nc1", t1, labelled(0, 0, 1), "two classes with two examples each"),
    ("intrinsic_dimension", lambda: dense(np.eye(2), np.eye(2, 3)), LATTICE, "are not equally far, which are lacking"),
    ("intrinsic_dimension_peak", lambda: dense(np.eye(2), np.eye(2, 3)), LATTICE, "which the two nearest of three"),
    (
        "neural_collapse_nc3", lambda: sequential((4, 4, 1), layers.Conv2D(3, 2), layers.GlobalMaxPooling2D()),
        images_of(4, 4, 1), "it has 1 numbers, and the kernel takes in 4",
    ),
    ("alpha_req", t1, labelled(0, 1, 0), "of 12 dimensions or more"),
    ("layer_margin_q1_l0 layer_margin_log_mean", t1, labelled(1), "classified correctly and have a gradient"),
    ("cna cna_area cna_margin cna_area_over_margin", t1, labelled(0), "two weight layers before the last"),
    ("cna:include_output_layer=True", no_hidden_layer, labelled(0), "needs two weight layers, which"),
    ("noise_sensitivity noise_sensitivity_l2", dead, SAME, "logits other than zero"),
    (
        "inverse_layer_cushion arora_compression_bound",
        lambda: vectors(layers.Dense(3, "relu", kernel_initializer="zeros", name="odd")), SAME,
        "a signal that is not zero, which layer odd lacks",
    ),
    ("ntk_complexity", dead, SAME, "needs gradients of the logits, which are all 0"),
    (
        "neg_stiffness_cosine linear_regions_met pacbayes_optimized marginal_likelihood_bound", t1, labelled(0),
        "needs two training examples",
    ),
    ("marginal_likelihood_bound", t1, dataset(np.zeros((5, 2)), np.zeros(5)), "outputs are finite and not all 0"),
    ("tic_trace", lambda: dense([[1e4, -1e4], [0, 0]]), labelled(1, 1), "wrong beyond doubt"),
    (
        "fisher_trace", lambda: image(layers.Conv2DTranspose(2, 3, name="odd")), images_of(4, 4, 1),
        r"layer odd \(Conv2DTranspose\)",
    ),
    (
        "relative_flatness:layer=0", lambda: image(layers.Conv2D(2, 2, name="odd")), images_of(4, 4, 1),
        r"needs a dense layer .* layer odd \(Conv2D\) is not",
    ),
    (OF_PIECES, lambda: vectors(layers.Dense(3, "gelu", name="bent")), SAME, BENT),
    (OF_PIECES, lambda: vectors(layers.Dense(3, "tanh", name="bent")), SAME, BENT),
    ("path_norm", lambda: graph(gated), None, NO_PATHS),
    ("path_norm", lambda: graph(attended), None, NO_PATHS),
    ("path_norm", lambda: graph(with_softmax), None, NO_PATHS),
    ("path_norm", lambda: image(layers.UpSampling2D(2, interpolation="bicubic", name="signed")), None, SIGNED),
    (
        "path_norm", lambda: image(layers.Conv2D(3, 2), layers.Normalization((1, 2), 0.0, 4.0, name="signed")), None,
        SIGNED,
    ),
    ("path_norm", lambda: dense(np.eye(2), np.eye(2), activation="log_sigmoid"), None, "activations that are positive"),
    (OF_SPECTRA, t1, None, "needs a layer with 8 eigenvalues, which"),
    ("rand_distance:min_eigenvalues=1", lambda: dense(DRAWN[:, :1]), None, "of several input and output channels"),
    ("alpha", lambda: dense(np.eye(20)), None, "needs a layer with eigenvalues that are not all equal"),
    (f"augmentation_robustness_penalty {OF_COLOURS}", lambda: image(shape=(8, 8, 2)), images_of(8, 8, 2), NO_COLOURS),
    ("augmentation_robustness_penalty", lambda: image(shape=(1, 8, 3)), images_of(1, 8, 3), NO_COLOURS),
    ("augmentation_robustness_penalty", lambda: image(shape=(8, 8)), images_of(8, 8), NO_COLOURS),
]  # fmt: skip
REFUSALS_OF_ONE = [(name, *others) for names, *others in REFUSALS for name in names.split()]


@pytest.mark.parametrize(("name", "make", "data", "reason"), REFUSALS_OF_ONE, ids=[one[0] for one in REFUSALS_OF_ONE])
def test_a_measure_refuses_what_it_lacks(name, make, data, reason):
    model = make()
    model.initial_weights = model.get_weights()
    with pytest.raises(MeasureUnavailable, match=reason):
        baselines.load(name)(model, data)


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("adaptive_sharpness_avg:noise=other", "noise: expected normal or uniform, found other"),
        ("cna_margin:space=odds", "space: expected probabilities or logits, found odds"),
        ("cna_margin:statistic=min", "statistic: expected max or p10, found min"),
        ("davies_bouldin_index:layer=5", "layer: expected initial or a number from 0 to 4, found 5"),
        ("davies_bouldin_index:layer=-1", "layer: expected initial or a number from 0 to 4, found -1"),
        ("davies_bouldin_index:layer=last", "layer: expected initial or a number from 0 to 4, found last"),
        ("fisher_trace:label=other", "label: expected true or model"),
        ("gi_intra_l0:method=simpson", "expected trapezoid or exact, found simpson"),
        ("gi_rotation:low=0.0,symmetric=True", "symmetric: expected low < 0 < high, found 0.0 and 179.0"),
        ("gi_rotation:n_alphas=1", "n_alphas: expected 2 or more, found 1"),
        ("kv_gn_margin:statistic=max", "statistic: expected median or mean"),
        ("kv_margin:layer=2nd", "layer: expected 1st or 8th"),
        ("layer_margin_winner:data=plain", "data: expected augmented or mixup"),
        ("log_prod_of_spec_fft:fft_size=image", "fft_size: expected layer or dataset, found image"),
        ("neg_output_margin:percentile_method=nearest", "percentile_method: expected kth or linear, found nearest"),
        ("num_params:normalization=some", "normalization: expected none or dziugaite, found some"),
        ("pr_mean_error_rotation:low=5.0,high=5.0", "from low to high, found 5.0 to 5.0"),
        ("relative_flatness:layer=4", "layer: expected a number from -4 to 3, found 4"),
    ],
)
def test_a_value_that_a_parameter_does_not_have_is_refused(specification, message, data):
    with pytest.raises(ValueError, match=message):
        baselines.load(specification)(small(), data)
