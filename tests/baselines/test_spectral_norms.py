"""Tests of three ways to compute spectral norms of convolutions, against the convolutions' full matrices."""

import itertools
import math

import numpy as np
import pytest
from small_networks import gaussian, layers, sequential, t1

import baselines
from baselines.core.subject import Subject
from baselines.norm import operator_norm
from baselines.norm.spectral import singular_values, squared_fourier_norms, squared_matrix_norms, squared_operator_norms

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
    """Return the matrix of a model's first layer with the borders that Keras uses."""
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
def test_a_separable_convolution_is_two_layers(variant):
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


def test_a_kernel_of_ones():
    model = network(layers.Conv2D(1, 3, padding="same", use_bias=False), shape=(8, 8, 1))
    model.layers[0].set_weights([np.ones((3, 3, 1, 1))])
    found = {variant: norms(variant, model).item() for variant in NORMS}
    assert found == pytest.approx({"matrix": 3, "fft": 9, "op": (1 + 2 * math.cos(math.pi / 9)) ** 2})
    assert found["op"] == pytest.approx(8.290859, abs=1e-5)


@pytest.mark.parametrize("variant", NORMS)
def test_windows_of_one_pixel(variant):
    model = network(layers.Conv2D(4, 1), shape=(5, 5, 3))
    assert norms(variant, model) == pytest.approx([np.linalg.norm(model.get_weights()[0][0, 0], 2)])


@pytest.mark.parametrize("variant", NORMS)
def test_a_layer_of_zeros(variant, monkeypatch):
    monkeypatch.setattr(operator_norm, "SMALL", 0)
    model = network(layers.Conv2D(4, 3), shape=(5, 5, 3))
    model.layers[0].set_weights([np.zeros((3, 3, 3, 4)), np.ones(4)])
    assert norms(variant, model) == [0]


@pytest.mark.parametrize("seed", range(5))
def test_order_of_the_variants(seed):
    model = network(layers.Conv2D(4, 3, padding="same"), shape=(8, 8, 3), seed=seed)
    (matrix,), (periodic,), (layer,) = (norms(variant, model) for variant in NORMS)
    assert matrix <= periodic <= 3 * matrix
    wide = network(layers.Conv2D(4, 3, padding="same"), shape=(64, 64, 3), seed=seed)
    assert layer <= norms("fft", wide)[0] * 1.001  # nearly all frequencies


def test_singular_values_are_those_of_the_matrix():
    model = network(layers.Conv2D(4, 3), layers.DepthwiseConv2D(2), shape=(8, 8, 3))
    kernel, depthwise = (array for array in model.get_weights() if array.ndim == 4)
    found = [np.sort(values)[::-1] for values in singular_values(Subject(model, None))]
    assert found[0] == pytest.approx(np.linalg.svd(kernel.reshape(-1, 4), compute_uv=False), rel=1e-6)
    assert found[1] == pytest.approx(np.sort(np.linalg.norm(depthwise[..., 0], axis=(0, 1)))[::-1], rel=1e-6)


def test_bounded_memory_gives_the_same_norms(monkeypatch):
    model = network(layers.Conv2D(4, 3, padding="same"), shape=(6, 6, 3))
    whole = norms("fft", model)
    monkeypatch.setattr("baselines.norm.operator_norm.BYTES", 1)
    assert norms("fft", model) == pytest.approx(whole)


def test_every_spectral_quantity_has_its_variants():
    found = {name.removesuffix("_fft") for name in baselines.MEASURES if name.endswith("_fft")}
    assert found > {"log_prod_of_spec", "log_sum_of_spec", "fro_over_spec", "dist_spec_init", "log_spec_init_main"}
    assert all(f"{name}{suffix}" in baselines.MEASURES for name in found for suffix in ("", "_op"))


@pytest.mark.parametrize("name", ["log_prod_of_spec", "fro_over_spec", "dist_spec_init"])
def test_variants_are_measures_of_their_own(name):
    model = network(layers.Conv2D(4, 3, padding="same"), shape=(6, 6, 3))
    model.initial_weights = [np.zeros_like(array) for array in model.get_weights()]
    values = [baselines.load(name + suffix)(model, None) for suffix in ("", "_fft", "_op")]
    assert len(set(values)) == 3
    assert np.ptp([baselines.load(name + suffix)(t1(), None) for suffix in ("", "_fft", "_op")]) < 1e-9


@pytest.mark.parametrize(("suffix", "borders"), [("_fft", "periodic"), ("_op", "their own")])
def test_pages_say_whose_norms_they_are(suffix, borders):
    plain, variant = (baselines.MEASURES[f"fro_over_spec{end}"] for end in ("", suffix))
    formula = "sum_i F_i / S_i, squared Frobenius norms F_i, squared spectral norms S_i"
    assert plain.formula == variant.formula == formula
    assert variant.meaning == f"{plain.meaning}; convolutions with {borders} borders"
    said = f"Spectral norms are those of convolutions with {borders} borders, Frobenius norms those of kernels."
    assert said in variant.function.__doc__
    assert said not in plain.function.__doc__
