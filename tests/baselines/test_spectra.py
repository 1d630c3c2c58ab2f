"""Tests of spectra of weights, with recorded values of WeightWatcher 0.7.7, and of spectral norms of convolutions."""

import inspect
import itertools
import math

import numpy as np
import peer_networks
import pytest
import tensorflow as tf
from peer_networks import drawn
from small_networks import dense, gaussian, layers, sequential, t1

import baselines
from baselines.core.subject import Subject
from baselines.norm import operator_norm
from baselines.norm.correlation import counted_layers
from baselines.norm.heavy_tail import fit_power_law
from baselines.norm.spectral import singular_values, squared_fourier_norms, squared_matrix_norms, squared_operator_norms

distance, soft_rank, alpha = map(baselines.load, ("rand_distance", "mp_soft_rank", "alpha"))


def test_square_matrices_have_a_quarter_circle_whose_radius_stays_2():
    """WeightWatcher 0.7.7 gave the values. Only for sigma = 1 the density (4 - x^2)^(1/2) / (pi sigma^2) sums to 1."""
    assert soft_rank(dense(np.eye(24)), None) == pytest.approx(0.440035, abs=1e-5)
    assert soft_rank(dense(np.diag([3.0] + [0.0] * 19)), None) == pytest.approx(0.026661, abs=1e-5)


def test_layers_of_one_channel_do_not_count_because_every_order_has_their_spectrum():
    """An example is the first convolution of grey images. Rounding once made the distance of such a layer NaN."""
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(192, 12)) * np.exp(rng.normal(size=12))
    grey = sequential((6, 6, 1), layers.Conv2D(12, 3, use_bias=False), layers.Flatten(), layers.Dense(12))
    grey.set_weights([rng.normal(size=(3, 3, 1, 12)), kernel, np.zeros(12)])
    alone = distance(dense(kernel), None, n_draws=20)
    assert alone < -0.05
    assert distance(grey, None, n_draws=20) == pytest.approx(alone, rel=0.05)


def test_weights_of_a_convolution_are_permuted_at_each_place_of_its_window():
    model = sequential((6, 6, 8), layers.Conv2D(12, 3), layers.GlobalAveragePooling2D())
    kernel = np.random.default_rng(0).normal(size=(3, 3, 8, 12))
    kernel[0, 0] *= 30  # larger than other places, in any order of its own weights
    model.layers[0].set_weights([kernel, np.zeros(12)])
    alone = distance(dense(kernel[0, 0]), None, n_draws=20)
    assert distance(model, None, n_draws=20) == pytest.approx(alone, rel=0.15)


def test_two_values():
    """Values 1 and e: alpha is 1 + (2 - 1) / ln e = 2. Below e, the law has the share 1 - 1/e, and the data 1/2."""
    fit = fit_power_law(np.array([math.e, 1.0]))
    assert fit == pytest.approx((2, 1, 1 / 2 - math.exp(-1)), rel=1e-9)


def test_layers_without_a_power_law_do_not_count():
    """Such layers have equal eigenvalues (up to rounding), a single eigenvalue, or no eigenvalue above 1e-5."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    single, tiny = np.diag([3.0] + [0.0] * 19), 1e-4 * rng.normal(size=(20, 20))
    kernel = rng.normal(size=(20, 20))
    for without in (np.eye(20), rotation, single, tiny):
        assert alpha(dense(without, kernel), None) == pytest.approx(alpha(dense(kernel), None), rel=1e-4)
    assert alpha(t1(), None, min_eigenvalues=2) > 1, "few are enough if asked for"


# WeightWatcher's values were recorded with torch 2.13, by `WeightWatcher(model).analyze(mp_fit=True, randomize=True)`
# and `get_summary()`, otherwise with defaults, for a sequence of `torch.nn.Linear` and `Conv2d` with the kernels of
# these networks. For the networks in Keras 3.15, normalization included, WeightWatcher gave the same values to 1e-14.

#: By network its summary: alpha, alpha_weighted, log_alpha_norm and mp_softrank; and its mean rand_distance of 100
#: permutations, with the standard error, where the layer of one channel, 0 or NaN, is left out.
OF_NETWORKS = {
    "mlp": ((2.208248, 2.432033, 2.789465, 0.485699), 0.10508, 0.00070),
    "vgg": ((2.664855, 1.072278, 1.456940, 0.467960), 0.08406, 0.00067),
    "vgg_bn": ((1.916705, 1.232400, 1.811532, 0.262913), 0.10385, 0.00051),
    "nin": ((1.880736, 1.028324, 1.420940, 0.482741), 0.08063, 0.00061),
    "resnet": ((2.710407, 0.765797, 1.197202, 0.539556), 0.06428, 0.00041),
}
SUMMARY = [baselines.load(name) for name in ("alpha", "weighted_alpha", "log_alpha_norm", "mp_soft_rank")]


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_values_of_networks_and_distances_from_random_ones(name):
    model, (expected, distances, error) = peer_networks.network(name), OF_NETWORKS[name]
    assert [measure(model, None) for measure in SUMMARY] == pytest.approx(expected, abs=1e-4)
    assert distance(model, None, n_draws=100) == pytest.approx(-distances, abs=4 * np.sqrt(2) * error)
    assert "with n - 1 in place of n for N < 20" in inspect.getdoc(baselines.MEASURES["alpha"].function)


def image(*middle):
    return sequential((8, 8, 12), *middle, layers.GlobalAveragePooling2D())


def test_a_layer_counts_once_even_if_two_models_within_a_model_share_it():
    shared = layers.Dense(12)

    def around(*makers):
        source = flow = tf.keras.Input((12,))
        for make in makers:
            flow = make(flow)
        return tf.keras.Model(source, flow)

    for parts in ([around(shared), around(shared)], [around(around(shared), around(shared))]):
        model = around(*parts, layers.Dense(10))
        assert len(counted_layers(Subject(model, None), 8)) == 2
        model.initial_weights = model.get_weights()
        assert baselines.load("distance_from_init")(model, None) == 0


def of_tokens():
    """A network of tokens whose last layer is the transposed embedding, and which uses one dense layer twice."""
    tokens, table, twice = tf.keras.Input((5,)), layers.ReversibleEmbedding(40, 16), layers.Dense(16)
    return tf.keras.Model(tokens, table(twice(twice(table(tokens))), reverse=True))


REVERSIBLE = pytest.mark.skipif(not hasattr(layers, "ReversibleEmbedding"), reason="this Keras ties no embeddings")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: image(layers.Conv2D(30, 1)), (1.835623, 1.364061, 1.765132, 0.664021)),
        (lambda: image(layers.DepthwiseConv2D(3)), (2.010542, -1.297269, -0.991830, 0.538117)),
        (lambda: image(layers.Conv2D(12, 3, groups=3)), (2.898315, 1.126274, 1.236351, 0.281504)),
        (lambda: image(layers.Conv2DTranspose(10, 3)), (2.371615, 0.024324, 0.525208, 0.456118)),
        pytest.param(of_tokens, (1.838680, 2.000985, 2.194125, 0.477683), marks=REVERSIBLE),
    ],
    ids=["1 x 1", "depthwise", "of groups", "transposed", "embeddings, tied"],
)
def test_other_layers(build, expected):
    """The values were recorded with Keras: torch counts tied weights twice, and transposed convolutions not at all."""
    model, rng = build(), np.random.default_rng(7)
    model.set_weights([drawn(rng, *w.shape) if w.ndim > 1 else np.zeros_like(w) for w in model.get_weights()])
    assert [measure(model, None) for measure in SUMMARY] == pytest.approx(expected, abs=1e-4)


def test_kinds_of_layers_that_the_program_does_not_know():
    """Attention counts as four dense layers, a separable convolution as two; kernels with any number of axes count."""
    rng, inputs = np.random.default_rng(0), tf.keras.Input((6, 16))
    attention = layers.MultiHeadAttention(2, 8)
    kernels = [drawn(rng, 16, 16) for _ in range(4)]
    shapes = [(16, 2, 8)] * 3 + [(2, 8, 16)]
    model = tf.keras.Model(inputs, attention(inputs, inputs))
    given = iter([kernel.reshape(shape) for kernel, shape in zip(kernels, shapes, strict=True)])
    model.set_weights([next(given) if w.ndim > 2 else np.zeros_like(w) for w in model.get_weights()])
    assert_same(model, dense(*kernels))

    flat, long = image(layers.Conv2D(10, (1, 5))), sequential((8, 12), layers.Conv1D(10, 5))
    flat.set_weights([drawn(rng, 1, 5, 12, 10), np.zeros(10)])
    long.set_weights([flat.get_weights()[0][0], np.zeros(10)])
    assert_same(long, flat)


def test_inner_models_count_and_recurrent_or_huge_layers_do_not():
    rng = np.random.default_rng(0)
    kernels = [drawn(rng, 16, 16) for _ in range(3)]
    inner = sequential((16,), layers.Dense(16), layers.Dense(16))
    model = sequential((3, 16), layers.LSTM(16), layers.Dense(16), inner)
    model.set_weights([*model.layers[0].get_weights(), *(array for k in kernels for array in (k, np.zeros(16)))])
    assert_same(model, dense(*kernels))
    # The program's defaults: a side of up to 50,000.
    kernel = drawn(rng, 16, 12)
    model = sequential((5,), layers.Embedding(50_001, 16), layers.GlobalAveragePooling1D(), layers.Dense(12))
    model.set_weights([model.get_weights()[0], kernel, np.zeros(12)])
    assert_same(model, dense(kernel))


def assert_same(model, other):
    assert [measure(model, None) for measure in SUMMARY] == pytest.approx([m(other, None) for m in SUMMARY], rel=1e-4)


NORMS = {"matrix": squared_matrix_norms, "fft": squared_fourier_norms, "op": squared_operator_norms}


def network(*convolutions, shape, seed=0):
    return gaussian(sequential(shape, *convolutions, layers.Flatten(), layers.Dense(2)), seed)


def norms(variant, model, **options):
    return np.sqrt(NORMS[variant](Subject(model, None), **options))[:-1]


def rolled(kernel, side, stride=1, dilation=1):
    """Return the matrix of a 2D convolution (window, window, inputs, outputs) with periodic borders."""
    rows = []
    for unit in np.eye(side * side * kernel.shape[2]):
        image = unit.reshape(side, side, -1)
        shifts = itertools.product(range(kernel.shape[0]), range(kernel.shape[1]))
        parts = [np.roll(image, (-dilation * i, -dilation * j), (0, 1)) @ kernel[i, j] for i, j in shifts]
        rows.append(sum(parts)[::stride, ::stride].ravel())
    return np.array(rows)


def written_out(model):
    layer, shape = model.layers[0], model.inputs[0].shape[1:]
    size = math.prod(shape)
    zero, *units = layer(np.eye(size + 1, size, k=-1, dtype=np.float32).reshape(-1, *shape)).numpy()
    return (np.array(units) - zero).reshape(size, -1)


@pytest.mark.parametrize(
    ("side", "window", "stride", "dilation"),
    [(6, 3, 1, 1), (5, 2, 1, 1), (6, 3, 2, 1), (6, 3, 3, 1), (6, 1, 2, 1), (7, 3, 1, 2), (6, 5, 2, 1)],
)
def test_periodic_borders(side, window, stride, dilation):
    model = network(layers.Conv2D(3, window, stride, "same", dilation_rate=dilation), shape=(side, side, 2))
    expected = np.linalg.norm(rolled(model.get_weights()[0], side, stride, dilation), 2)
    assert norms("fft", model) == pytest.approx([expected])


def test_where_periodic_borders_do_not_fit():
    model = network(layers.Conv2D(3, 5, padding="same"), shape=(3, 3, 2))
    assert norms("fft", model) == pytest.approx([np.linalg.norm(rolled(model.get_weights()[0], 5), 2)])
    model = network(layers.Conv2D(3, 3, 2, "same"), shape=(7, 7, 2))
    assert norms("fft", model) == norms("op", model)
    model = network(layers.Reshape((4, 4, 1)), layers.Conv2D(2, 3, name="narrow"), shape=(16,))
    with pytest.raises(baselines.MeasureUnavailable, match="layer narrow"):
        norms("fft", model, fft_size="dataset")


def test_every_layer_has_its_own_feature_map_unless_that_of_the_inputs_is_asked_for():
    model = network(
        layers.Conv2D(2, 3, 2, "same"), layers.AveragePooling2D(2), layers.Conv2D(3, 2, padding="same"), shape=(8, 8, 2)
    )
    first, second = (array for array in model.get_weights() if array.ndim == 4)
    layerwise = [np.linalg.norm(rolled(first, 8, 2), 2), np.linalg.norm(rolled(second, 2), 2)]
    assert norms("fft", model) == pytest.approx(layerwise)
    of_inputs = [np.linalg.norm(rolled(kernel, 8), 2) for kernel in (first, second)]
    assert norms("fft", model, fft_size="dataset") == pytest.approx(of_inputs)


def test_sides_of_the_networks_inputs_are_those_of_images_wherever_channels_are():
    """Differences of neighbours are largest at the highest frequency, which images of 8 rows have, and 3 rows not."""
    first = network(layers.Conv2D(1, 2, data_format="channels_first"), shape=(3, 8, 8))
    last = network(layers.Conv2D(1, 2), shape=(8, 8, 3))
    kernel = np.zeros((2, 2, 3, 1))
    kernel[:, 0, 0, 0] = 1, -1
    for model in (first, last):
        model.layers[0].set_weights([kernel, np.zeros(1)])
        assert norms("fft", model, fft_size="dataset") == pytest.approx([2])


@pytest.mark.rest
@pytest.mark.parametrize("size", [1, 128])
@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: layers.Conv2D(3, 3, padding="same"), (6, 5, 2)),
        (lambda: layers.Conv2D(3, 3, 2), (7, 7, 2)),
        (lambda: layers.Conv2D(3, 3, 2, "same"), (6, 6, 2)),
        (lambda: layers.Conv2D(3, 2, dilation_rate=2), (6, 6, 2)),
        (lambda: layers.Conv2DTranspose(3, 3, 2, "same"), (4, 4, 2)),
        (lambda: layers.Conv2DTranspose(2, 2), (4, 4, 3)),
        (lambda: layers.Conv1D(3, 4, padding="causal"), (12, 2)),
        (lambda: layers.Conv1D(3, 4, 2), (12, 2)),
        (lambda: layers.Conv3D(2, 2), (4, 4, 4, 1)),
        (lambda: layers.DepthwiseConv2D(3, depth_multiplier=2), (6, 6, 2)),
        (lambda: layers.DepthwiseConv2D(3, 2, "same"), (6, 6, 2)),
    ],
    ids=[
        "same", "strides", "same with strides", "dilation", "transpose with strides", "transpose", "causal",
        "sequence", "volume", "depthwise", "depthwise with strides",
    ],
)  # fmt: skip
def test_layers_as_they_are(layer, shape, size, monkeypatch):
    monkeypatch.setattr(operator_norm, "SMALL", size)  # by iteration, or written out
    model = network(layer(), shape=shape)
    assert norms("op", model) == pytest.approx([np.linalg.norm(written_out(model), 2)], rel=1e-4)


@pytest.mark.parametrize("variant", NORMS)
def test_groups_do_not_mix(variant):
    grouped = network(layers.Conv2D(4, 3, padding="same", groups=2), shape=(6, 6, 4))
    kernel = grouped.get_weights()[0]
    apart = []
    for part in np.split(kernel, 2, axis=-1):
        model = network(layers.Conv2D(2, 3, padding="same", use_bias=False), shape=(6, 6, 2))
        model.layers[0].set_weights([part])
        apart += list(norms(variant, model))
    assert norms(variant, grouped) == pytest.approx([max(apart)], rel=1e-4)


@pytest.mark.parametrize("variant", NORMS)
def test_a_separable_convolution_is_two_layers_the_second_with_windows_of_one_pixel(variant):
    model = network(layers.SeparableConv2D(5, 3, strides=2, padding="same", depth_multiplier=2), shape=(6, 6, 2))
    depthwise, pointwise, *_ = model.get_weights()
    alone = network(layers.DepthwiseConv2D(3, 2, "same", depth_multiplier=2, use_bias=False), shape=(6, 6, 2))
    alone.layers[0].set_weights([depthwise])
    expected = [*norms(variant, alone), np.linalg.norm(pointwise[0, 0], 2)]
    assert norms(variant, model) == pytest.approx(expected, rel=1e-4)


def test_transposed_convolutions_with_periodic_borders():
    model = network(layers.Conv2DTranspose(3, 3, 2, "same"), shape=(3, 3, 2))
    kernel = model.get_weights()[0]  # (window, window, outputs, inputs): a convolution of the outputs
    assert norms("fft", model) == pytest.approx([np.linalg.norm(rolled(kernel, 6, 2), 2)])
    narrow = network(layers.Conv2DTranspose(3, 7, 2, "same"), shape=(3, 3, 2))  # 7 is not divided by 2
    assert norms("fft", narrow) == norms("op", narrow)


def test_singular_values_are_those_of_the_matrix():
    model = network(layers.Conv2D(4, 3), layers.DepthwiseConv2D(2), shape=(8, 8, 3))
    kernel, depthwise = (array for array in model.get_weights() if array.ndim == 4)
    found = [np.sort(values)[::-1] for values in singular_values(Subject(model, None))]
    assert found[0] == pytest.approx(np.linalg.svd(kernel.reshape(-1, 4), compute_uv=False), rel=1e-6)
    assert found[1] == pytest.approx(np.sort(np.linalg.norm(depthwise[..., 0], axis=(0, 1)))[::-1], rel=1e-6)


def test_bounded_memory_gives_the_same_norms_and_a_layer_of_zeros_has_none(monkeypatch):
    model = network(layers.Conv2D(4, 3, padding="same"), shape=(6, 6, 3))
    whole = norms("fft", model)
    monkeypatch.setattr("baselines.norm.operator_norm.BYTES", 1)
    assert norms("fft", model) == pytest.approx(whole)
    model.layers[0].set_weights([np.zeros((3, 3, 3, 4)), np.ones(4)])
    monkeypatch.setattr(operator_norm, "SMALL", 0)
    assert [norms(variant, model).item() for variant in NORMS] == [0, 0, 0]


@pytest.mark.parametrize("name", ["log_prod_of_spec", "fro_over_spec", "dist_spec_init"])
def test_variants_are_measures_of_their_own(name):
    model = network(layers.Conv2D(4, 3, padding="same"), shape=(6, 6, 3))
    model.initial_weights = [np.zeros_like(array) for array in model.get_weights()]
    assert len({baselines.load(name + suffix)(model, None) for suffix in ("", "_fft", "_op")}) == 3


def test_every_spectral_quantity_has_its_variants_and_their_pages_say_whose_norms_they_are():
    found = {name.removesuffix("_fft") for name in baselines.MEASURES if name.endswith("_fft")}
    assert found > {"log_prod_of_spec", "log_sum_of_spec", "fro_over_spec", "dist_spec_init", "log_spec_init_main"}
    for name, (suffix, borders) in itertools.product(found, [("_fft", "periodic"), ("_op", "their own")]):
        plain, variant = (baselines.MEASURES[name + end] for end in ("", suffix))
        assert plain.formula == variant.formula
        assert variant.meaning == f"{plain.meaning}; convolutions with {borders} borders"
        said = f"Spectral norms are those of convolutions with {borders} borders, Frobenius norms those of kernels."
        assert (said in variant.function.__doc__, said in plain.function.__doc__) == (True, False), name
