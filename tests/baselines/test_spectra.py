"""Tests of spectra of weights: laws in closed form, random matrices, and recorded values of WeightWatcher 0.7.7."""

import inspect
import math

import numpy as np
import pytest
import tensorflow as tf
from peer_networks import drawn, network
from scipy.stats import kstest, pareto
from small_networks import dense, layers, sequential, t1

import baselines
from baselines.core.subject import Subject
from baselines.norm import random_spectra
from baselines.norm.correlation import counted_layers
from baselines.norm.heavy_tail import fit_power_law, spectra

distance, soft_rank = map(baselines.load, ("rand_distance", "mp_soft_rank"))
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(600, 200), (100, 500), (400, 380)])
def test_random_matrices(shape):
    kernel = RNG.normal(size=shape)
    assert soft_rank(dense(kernel), None) == pytest.approx(1, abs=0.06)
    assert -0.02 < distance(dense(kernel), None) <= 0


def test_square_matrices_have_a_quarter_circle_whose_radius_stays_2():
    """WeightWatcher 0.7.7 gave the values. Only for sigma = 1 the density (4 - x^2)^(1/2) / (pi sigma^2) sums to 1."""
    assert soft_rank(dense(np.eye(24)), None) == pytest.approx(0.440035, abs=1e-5)
    assert soft_rank(dense(np.diag([3.0] + [0.0] * 19)), None) == pytest.approx(0.026661, abs=1e-5)


def test_a_spike_rises_above_the_bulk():
    kernel = RNG.normal(size=(300, 200))
    left, right = (np.linalg.qr(RNG.normal(size=(n, 1)))[0] for n in kernel.shape)
    spiked = kernel + 300 * left @ right.T
    largest = np.linalg.svd(spiked, compute_uv=False)[0] ** 2
    edge = (math.sqrt(300) + math.sqrt(200)) ** 2
    assert soft_rank(dense(spiked), None) == pytest.approx(edge / largest, rel=0.05)
    assert distance(dense(spiked), None) < distance(dense(kernel), None) - 0.1


@pytest.mark.parametrize("measure", [distance, soft_rank])
def test_scale_does_not_matter(measure):
    first, second = RNG.normal(size=(20, 15)) * np.arange(1, 16), RNG.normal(size=(15, 12))
    expected = measure(dense(first, second), None)
    assert measure(dense(7 * first, second / 3), None) == pytest.approx(expected, rel=1e-4)
    assert measure(dense(first, second), None) == expected


def test_equal_weights_in_any_order_are_the_same_matrix():
    constant = np.ones((12, 12))
    assert distance(dense(constant), None, min_eigenvalues=1) == pytest.approx(0, abs=1e-4)


def test_layers_of_one_channel_do_not_count_because_every_order_has_their_spectrum():
    """An example is the first convolution of grey images. Rounding once made the distance of such a layer NaN."""
    kernel = RNG.normal(size=(192, 12)) * np.exp(RNG.normal(size=12))
    grey = sequential((6, 6, 1), layers.Conv2D(12, 3, use_bias=False), layers.Flatten(), layers.Dense(12))
    grey.set_weights([RNG.normal(size=(3, 3, 1, 12)), kernel, np.zeros(12)])
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


alpha, weighted_alpha, log_alpha_norm = map(baselines.load, ("alpha", "weighted_alpha", "log_alpha_norm"))


def test_two_values():
    """Values 1 and e: alpha is 1 + (2 - 1) / ln e = 2. Below e, the law has the share 1 - 1/e, and the data 1/2."""
    fit = fit_power_law(np.array([math.e, 1.0]))
    assert fit == pytest.approx((2, 1, 1 / 2 - math.exp(-1)), rel=1e-9)


@pytest.mark.parametrize("exponent", [1.5, 2.5, 6])
def test_draws_from_a_pareto_law(exponent):
    draws = pareto(exponent - 1, scale=0.3).rvs(3000, random_state=1)
    fit = fit_power_law(draws)
    tail = draws[draws >= fit.x_min]
    assert fit.alpha == pytest.approx(1 + 1 / np.mean(np.log(tail / fit.x_min)), rel=1e-9)
    assert fit.alpha == pytest.approx(exponent, abs=4 * (exponent - 1) / math.sqrt(len(tail)))
    statistic = kstest(tail, pareto(fit.alpha - 1, scale=fit.x_min).cdf).statistic  # both sides of each step
    assert fit.distance == pytest.approx(statistic, abs=1.1 / len(tail))


def test_few_eigenvalues_are_enough_if_asked_for():
    assert alpha(t1(), None, min_eigenvalues=2) > 1


def test_layers_without_a_power_law_do_not_count():
    """Such layers have equal eigenvalues (up to rounding), a single eigenvalue, or no eigenvalue above 1e-5."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    single, tiny = np.diag([3.0] + [0.0] * 19), 1e-4 * rng.normal(size=(20, 20))
    kernel = rng.normal(size=(20, 20))
    for without in (np.eye(20), rotation, single, tiny):
        assert alpha(dense(without, kernel), None) == pytest.approx(alpha(dense(kernel), None), rel=1e-4)


# WeightWatcher's values were recorded with torch 2.13, by `WeightWatcher(model).analyze(mp_fit=True, randomize=True)`
# and `get_summary()`, otherwise with defaults, for a sequence of `torch.nn.Linear` and `Conv2d` with the kernels of
# these networks. For the networks in Keras 3.15, normalization included, WeightWatcher gave the same values to 1e-14.

#: By network and layer its alpha, log_norm, log_spectral_norm, stable_rank and mp_softrank. It leaves out the last
#: layer of the MLP, which has 5 eigenvalues.
OF_LAYERS = {
    "mlp": [
        (2.37975, 2.34860, 1.52679, 6.63451, 0.34892),
        (1.78348, 1.99930, 0.99080, 10.19773, 0.87705),
        (2.92496, 1.59270, 0.98819, 4.02264, 0.35288),
        (1.74481, 1.19593, 0.82375, 2.35601, 0.36395),
    ],
    "vgg": [
        (2.08601, 1.07637, 0.63226, 2.78043, 0.42415),
        (3.73287, 1.39935, 0.23121, 14.72782, 0.40203),
        (3.74869, 0.99891, -0.22044, 16.5708, 0.49929),
        (2.01523, 1.91423, 1.01012, 8.01878, 0.65137),
        (1.74147, 1.53444, 1.13130, 2.53013, 0.36296),
    ],
    "vgg_bn": [
        (2.93960, 1.17758, 0.46903, 5.11154, 0.26456),
        (1.58915, 1.56158, 0.41595, 13.98383, 0.24985),
        (2.04336, 1.64789, 0.56111, 12.21192, 0.17140),
        (1.69955, 1.89964, 0.94907, 8.92423, 0.44098),
        (1.31186, 1.53214, 1.03875, 3.11450, 0.18777),
    ],
    "nin": [
        (2.55705, 1.30299, 0.47107, 6.79085, 0.12503),
        (1.94821, 1.66428, 1.14321, 3.31944, 0.46771),
        (1.59504, 1.20273, 0.73409, 2.94199, 0.41080),
        (2.41666, 1.41531, 0.04586, 23.4122, 0.38892),
        (1.45152, 1.03128, 0.44500, 3.85721, 0.65610),
        (1.31594, 1.06516, 0.61592, 2.81347, 0.84789),
    ],
    "resnet": [
        (2.42035, 1.14277, 0.58093, 3.64619, 0.21405),
        (3.91804, 0.78329, -0.31326, 12.48957, 0.71292),
        (2.88698, 1.11418, 0.07187, 11.02311, 0.62483),
        (4.43949, 1.39457, 0.27214, 13.25655, 0.35803),
        (1.91924, 1.35856, -0.06541, 26.54457, 0.61603),
        (1.84899, 1.46633, 0.89783, 3.70247, 1.04527),
        (1.53976, 1.69052, 1.44937, 1.74239, 0.20576),
    ],
}

#: Its summary: alpha, alpha_weighted, log_alpha_norm and mp_softrank; and its mean rand_distance of 100 permutations,
#: with the standard error, where the layer of one channel, 0 or NaN, is left out.
OF_NETWORKS = {
    "mlp": ((2.208248, 2.432033, 2.789465, 0.485699), 0.10508, 0.00070),
    "vgg": ((2.664855, 1.072278, 1.456940, 0.467960), 0.08406, 0.00067),
    "vgg_bn": ((1.916705, 1.232400, 1.811532, 0.262913), 0.10385, 0.00051),
    "nin": ((1.880736, 1.028324, 1.420940, 0.482741), 0.08063, 0.00061),
    "resnet": ((2.710407, 0.765797, 1.197202, 0.539556), 0.06428, 0.00041),
}
SUMMARY = [baselines.load(name) for name in ("alpha", "weighted_alpha", "log_alpha_norm", "mp_soft_rank")]


def exponent_by_the_page(kernel):
    """Return a layer's exponent and largest eigenvalue, computed only from the formulas on the page of `alpha`."""
    places = kernel.reshape(-1, *kernel.shape[-2:]).astype(float) / (2**0.5 if kernel.ndim == 4 else 1)
    eigenvalues = np.sort([one**2 for place in places for one in np.linalg.svd(place, compute_uv=False)])
    x = eigenvalues[eigenvalues > 1e-5]
    fits = []
    for s in range(len(x) - 1):
        tail, n = x[s:], len(x) - s
        if len(x) < 20 and n < 8 and s > 0:
            break
        alpha = 1 + (n - (len(x) < 20)) / np.log(tail / tail[0]).sum()
        fits.append((np.abs(1 - (tail / tail[0]) ** (1 - alpha) - np.arange(n) / n).max(), alpha))
    return min(fits)[1], eigenvalues


def test_values_by_the_page_of_alpha(name, model):
    kernels = [array for array in model.get_weights() if array.ndim > 1]
    counted = [k for k in kernels if k[..., 0, 0].size * min(k.shape[-2:]) >= 8]
    found = [exponent_by_the_page(kernel) for kernel in counted]
    expected = [
        np.mean([alpha for alpha, _ in found]),
        np.mean([alpha * np.log10(x[-1]) for alpha, x in found]),
        np.mean([np.log10(np.sum(x**alpha)) for alpha, x in found]),
    ]
    assert [measure(model, None) for measure in SUMMARY[:3]] == pytest.approx(expected, rel=1e-6)
    page = inspect.getdoc(baselines.MEASURES["alpha"].function)
    assert "with n - 1 in place of n for N < 20" in page
    assert "the least distance" in page


@pytest.fixture(scope="module", params=OF_LAYERS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def model(name):
    return network(name)


def test_values_of_networks(name, model):
    expected, _, _ = OF_NETWORKS[name]
    assert [measure(model, None) for measure in SUMMARY] == pytest.approx(expected, abs=1e-4)


def test_values_of_layers(name, model):
    subject = Subject(model, None)
    found = [
        (spectrum.alpha, np.log10(values.sum()), np.log10(values.max()), values.sum() / values.max(),
         random_spectra.soft_rank(values, layer.sides))
        for layer, spectrum in zip(counted_layers(subject, 8), spectra(subject, 8), strict=True)
        for values in [layer.eigenvalues]
    ]  # fmt: skip
    assert np.array(sorted(found)) == pytest.approx(np.array(sorted(OF_LAYERS[name])), abs=1e-4)


def test_distances_from_random_ones(name, model):
    _, expected, error = OF_NETWORKS[name]
    found = baselines.load("rand_distance")(model, None, n_draws=100)
    assert found == pytest.approx(-expected, abs=4 * np.sqrt(2) * error)


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
    kernel = drawn(np.random.default_rng(0), 16, 12)
    model = sequential((5,), layers.Embedding(50_001, 16), layers.Flatten(), layers.Dense(16), layers.Dense(12))
    table, first, *biases = (model.get_weights()[number] for number in (0, 1, 2, 4))
    model.set_weights([table, 0 * first, biases[0], kernel, biases[1]])
    assert_same(model, dense(kernel))


def assert_same(model, other):
    assert [measure(model, None) for measure in SUMMARY] == pytest.approx([m(other, None) for m in SUMMARY], rel=1e-4)
