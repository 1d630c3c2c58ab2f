"""Tests of gradients by weights and inputs, and of measures that compare gradients of single examples."""

import math
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from small_networks import T1_DATA, T1_KERNELS, dataset, dense, layers, sequential, t1, value

import baselines
from baselines.core.fisher import fisher_diagonal
from baselines.core.subject import Subject
from baselines.gradient.information import slopes_of_change
from baselines.gradient.tangent_kernel import tangent_kernel
from baselines.gradient.weight_gradients import added, weight_gradients
from baselines.network import Network, per_example
from baselines.sharpness.normalized_sharpness import by_channels, moments_by_channels

VALUES = {
    "fisher_trace": 5.641700,
    "gradient_norm": 5.641700,  # of one example
    "gradient_noise_final": 0,
    "fisher_rao_norm": 0.537883,
    "input_jacobian_norm": math.sqrt(61),
    "geometric_complexity": 61,
    "log_jacobian_norm_normalized": math.log(2) / 2,
    "log_fisher_trace": math.log(5.641700),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_t1(name):
    assert value(name, t1(), dataset(*T1_DATA)) == pytest.approx(VALUES[name], rel=1e-5, abs=1e-5)


def test_gradients_of_other_units_are_added_in_the_memory_of_the_sum():
    total = added(np.zeros(1), 0.0, np.array([2, 4], np.float32), 1.0)
    found = added(total, 0.5, np.array([1, 8], np.float32), 1.0)
    assert found is total
    assert found.tolist() == [2, 10]
    assert added(found, 1.0, np.array([4, 2], np.float32), 0.25).tolist() == [3, 10.5]
    assert found.dtype == np.float64


def test_geometric_complexity_is_the_mean_of_the_squares_over_examples():
    """One unit is active for one of two examples: its Jacobian is (2, 0)' (1, -1) for this example, 0 for the other."""
    model, data = dense([[2.0], [0.0]], [[1.0, -1.0]]), dataset([[1.0, 3.0], [-1.0, 3.0]], [0, 1])
    assert value("geometric_complexity", model, data) == pytest.approx((8 + 0) / 2)
    assert value("input_jacobian_norm", model, data) == pytest.approx((math.sqrt(8) + 0) / 2)


def test_labels_of_the_model_are_other_labels():
    model, data = dense(np.zeros((2, 3))), dataset(np.ones((400, 2)), np.zeros(400))
    found = [value("fisher_trace", model, data, label="model"), value("gradient_norm", model, data)]
    assert found == pytest.approx([2 / 3 * 2] * 2, rel=1e-5)


def test_output_change_of_a_linear_network():
    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(6, 3))
    images = rng.normal(size=(4000, 6))
    model = dense(kernel)
    expected = (0.01 * images.std()) ** 2 * np.sum(kernel**2) / np.mean(np.sum((images @ kernel) ** 2, axis=1))
    found = value("sensitivity_output_change", model, dataset(images, np.zeros(4000)))
    assert found == pytest.approx(expected, rel=0.05)


information, logarithm = map(baselines.load, ("information_in_weights", "log_information_in_weights"))


def test_one_weight_of_a_logistic_network():
    """Logits (w x, 0), label 0: the derivative by w is -(1 - p) x, p = 1 / (1 + e^-w x)."""
    model, points = dense([[2.0, 0.0]]), np.array([[1.0], [0.5], [3.0]])
    model.initial_weights = [np.array([[0.5, 0.0]])]
    slopes = 1.5 * points / (1 + np.exp(2 * points))
    data = dataset(points, [0, 0, 0])
    assert information(model, data) == pytest.approx(3 * np.mean(slopes**2), rel=1e-5)
    assert logarithm(model, data) == pytest.approx(math.log(3 * np.mean(slopes**2)), rel=1e-5)


def moved_network():
    tf.keras.utils.set_random_seed(0)
    middle = [layers.Conv2D(4, 3, groups=2, activation="gelu"), layers.BatchNormalization(), layers.MaxPooling2D()]
    end = [layers.SeparableConv2D(3, 2, activation="tanh"), layers.Flatten(), layers.Dense(3)]
    model = sequential((6, 6, 2), *middle, *end)
    draw = np.random.default_rng(1)
    for _ in range(2):
        model.initial_weights = model.get_weights()
        model.set_weights([np.abs(w + draw.normal(0, 0.2, w.shape)) for w in model.get_weights()])
    return model


MOVED_DATA = dataset(np.random.default_rng(0).normal(size=(20, 6, 6, 2)), np.arange(20) % 3)


def test_against_differences_of_losses():
    model = moved_network()
    subject = Subject(model, MOVED_DATA)
    found, sample = slopes_of_change(subject, 20, 0), subject.sample(20)
    ends = subject.network, Network(subject.nodes_at_start)
    arrays = [[v.numpy().astype(np.float64) for v in end.variables] for end in ends]
    step, losses = 1e-3, []
    for share in (step, -step):
        for variable, now, start in zip(subject.network.variables, *arrays, strict=True):
            variable.assign(now + share * (now - start))
        logits = subject.network.logits(sample.inputs)
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(sample.labels, logits).numpy())
    assert found == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=2e-2, abs=2e-3)
    assert information(model, MOVED_DATA) == pytest.approx(20 * np.mean(found**2))


def test_logarithms_and_what_has_learned_nothing():
    model = moved_network()
    for name in ("gradient_norm", "gradient_noise_final", "fisher_rao_norm"):
        plain = value(name, model, MOVED_DATA)
        assert plain > 1e-3
        assert value(f"log_{name}", model, MOVED_DATA) == pytest.approx(math.log(plain))
    model.initial_weights = model.get_weights()
    assert information(model, MOVED_DATA) == 0
    assert logarithm(model, MOVED_DATA) == math.log(1e-30)


jacobian_norm = baselines.load("jacobian_norm")


def with_softmax(*, apart=False):
    """Network T1 with a softmax, as the activation of its last layer or as a layer behind it."""
    end = [layers.Dense(2, use_bias=False), layers.Softmax()] if apart else [layers.Dense(2, "softmax", use_bias=False)]
    model = sequential((2,), layers.Dense(2, "relu", use_bias=False), *end)
    model.set_weights(T1_KERNELS)
    return model


@pytest.mark.parametrize(
    "make",
    [t1, lambda: dense(*T1_KERNELS, activation=None), with_softmax, lambda: with_softmax(apart=True)],
    ids=["relu", "linear", "softmax in the layer", "softmax layer"],
)
def test_jacobian_norm_of_t1(make):
    model = make()
    before = model(np.float32(T1_DATA[0])).numpy()
    assert jacobian_norm(model, dataset(*T1_DATA)) == pytest.approx((61 / 4 + 29 / 4) / 2)
    assert np.array_equal(model(np.float32(T1_DATA[0])), before)  # a softmax is back in its place


@pytest.mark.parametrize("per_batch", [8, 64])
def test_jacobian_norm_against_numpy(per_batch, monkeypatch):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(3, 5)), rng.normal(size=(5, 14))  # more logits than are differentiated at once
    bias = rng.normal(size=5)
    images = rng.normal(size=(20, 3))
    model = dense(first, second, biases=[bias, np.zeros(14)])

    is_active = images @ first + bias > 0
    jacobians = np.einsum("ih,nh,hk->nik", first, is_active, second)
    of_input = [np.mean(jacobians[:16] ** 2), np.mean(jacobians[16:] ** 2)]  # batches count alike
    expected = (np.mean(of_input) + np.mean(second**2)) / 2
    monkeypatch.setattr(Network, "batch_size_of", lambda *_: per_batch)  # of several sizes and numbers
    value = jacobian_norm(model, dataset(images, np.zeros(20)))
    assert value == pytest.approx(expected, rel=1e-5)


def test_jacobian_norm_reads_the_first_batches_only():
    images = np.linspace(-1, 1, 60).reshape(20, 3)
    model = dense(*(np.random.default_rng(2).normal(size=shape) for shape in [(3, 5), (5, 2)]))
    some = jacobian_norm(model, dataset(images, np.zeros(20)), n_batches=2, batch_size=4)
    assert some == pytest.approx(jacobian_norm(model, dataset(images[:8], np.zeros(8)), batch_size=4))
    assert some != pytest.approx(jacobian_norm(model, dataset(images, np.zeros(20)), batch_size=4))


gsnr, m_coherence, tic_trace, tic_diag = map(baselines.load, ("gsnr", "m_coherence", "tic_trace", "tic_diag"))
confusion, cosine, sign = map(baselines.load, ("gradient_confusion", "neg_stiffness_cosine", "neg_stiffness_sign"))


def coin(probability, right, number=200):
    """A network with the same probability of class 0 for every input; a share `right` of the examples is of class 0."""
    logit = math.log(probability / (1 - probability))
    return dense([[logit, 0.0]]), dataset(np.ones((number, 1)), np.arange(number) >= right * number)


# Gradients are +-(1 - p) or +-p, so all moments are those of a coin


@pytest.mark.parametrize(("probability", "right"), [(0.5, 0.7), (0.9, 0.6), (0.2, 0.5), (0.7, 0.7)])
def test_closed_forms_of_a_coin(probability, right):
    model, data = coin(probability, right)
    mean, square = probability - right, right * (1 - probability) ** 2 + (1 - right) * probability**2
    variance, curvature = right * (1 - right), probability * (1 - probability)
    assert square == pytest.approx(mean**2 + variance)
    assert gsnr(model, data) == pytest.approx(-(mean**2) / variance, rel=1e-3, abs=1e-6)
    assert m_coherence(model, data) == pytest.approx(-200 * mean**2 / square, rel=1e-4, abs=1e-4)
    assert tic_trace(model, data) == pytest.approx(square / curvature / 200, rel=1e-4)
    assert tic_diag(model, data) == pytest.approx(2 * square / curvature / 200, rel=1e-4)


@pytest.mark.parametrize("margin", [1.4, 45.0, 200.0])
@pytest.mark.parametrize("n_right", [2, 4, 8])
def test_pairs_of_a_coin_agree_or_are_opposed_beyond_doubt_too(n_right, margin):
    model, data = dense([[margin, 0.0]]), dataset(np.ones((8, 1)), np.arange(8) >= n_right)
    opposed = n_right * (8 - n_right) / (8 * 7 / 2)
    for measure in (cosine, sign):
        assert measure(model, data) == pytest.approx(2 * opposed - 1)
    if not opposed:
        assert [confusion(model, data), m_coherence(model, data)] == pytest.approx([-1, -8])
    elif margin < 2:
        assert confusion(model, data) == pytest.approx(1)


def require_moments(model, data, gradients):
    """Assert that measures of signal and direction have the values that these gradients (examples, weights) give."""
    number, mean, power = len(gradients), gradients.mean(axis=0), (gradients**2).mean(axis=0)
    varies = power - mean**2 > 1e-5 * power
    ratio = np.mean(mean[varies] ** 2 / (power - mean**2)[varies])
    assert gsnr(model, data) == pytest.approx(-ratio, rel=1e-3)
    assert m_coherence(model, data) == pytest.approx(-number * np.sum(mean**2) / power.sum(), rel=1e-3)
    directions = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    cosines = (directions @ directions.T)[np.triu_indices(number, 1)]
    assert cosine(model, data) == pytest.approx(-cosines.mean(), rel=1e-3, abs=1e-5)
    assert sign(model, data) == -np.sign(cosines).mean()
    assert confusion(model, data) == pytest.approx(-cosines.min(), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("factor", [1.0, 8.0, 30.0])
def test_against_double_precision_where_answers_are_beyond_doubt(factor):
    """The factors make the smallest margins 0.1, 1 and 4 nats, and the mean margins 6, 50 and 190 nats."""
    rng = np.random.default_rng(5)
    images, first, second = rng.normal(size=(40, 6)), rng.normal(size=(6, 8)), factor * rng.normal(size=(8, 3))
    images, first, second = (array.astype(np.float32).astype(np.float64) for array in (images, first, second))
    hidden = np.maximum(images @ first, 0)
    logits = hidden @ second
    labels, rows = logits.argmax(axis=1), np.arange(40)
    of_logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    of_logits /= of_logits.sum(axis=1, keepdims=True)
    of_logits[rows, labels] = 0
    of_logits[rows, labels] = -of_logits.sum(axis=1)
    of_hidden = of_logits @ second.T * (hidden > 0)
    parts = [np.einsum("ni,nj->nij", *pair).reshape(40, -1) for pair in ((images, of_hidden), (hidden, of_logits))]
    gradients = np.concatenate(parts, axis=1)

    require_moments(dense(first, second), dataset(images, labels), gradients)


@pytest.mark.parametrize("measure", [tic_trace, tic_diag])
def test_a_network_that_is_right_beyond_doubt_has_a_tiny_criterion(measure):
    assert measure(dense([[100.0, -100.0]]), dataset(np.ones((4, 1)), np.zeros(4))) == pytest.approx(0, abs=1e-30)


def convolutional(*middle, shape=(8, 8, 2)):
    tf.keras.utils.set_random_seed(1)
    model = sequential(shape, *middle, layers.Flatten(), layers.Dense(3))
    draw = np.random.default_rng(1)
    for layer in model.layers:  # scales, shifts and averages are not 1 and 0
        if not getattr(layer, "kernel_size", None) and not isinstance(layer, layers.Dense):
            layer.set_weights([draw.uniform(0.5, 1.5, array.shape) for array in layer.get_weights()])
    return model


NETWORKS = {
    "wide positions": lambda: convolutional(layers.Conv2D(3, 3, padding="same", activation="relu")),
    "few positions": lambda: convolutional(layers.Conv2D(16, 3, 3, "same"), layers.Conv2D(8, 2)),
    "dilated": lambda: convolutional(layers.Conv2D(3, 3, dilation_rate=2, use_bias=False)),
    "depthwise": lambda: convolutional(layers.DepthwiseConv2D(3, depth_multiplier=2), layers.ReLU()),
    "batch norm": lambda: convolutional(layers.Conv2D(3, 3), layers.BatchNormalization(), layers.ReLU()),
    "batch norm, rows apart": lambda: convolutional(layers.Conv2D(3, 3), layers.BatchNormalization(axis=1)),
    "no scale": lambda: convolutional(layers.Conv2D(3, 3), layers.BatchNormalization(scale=False), layers.ReLU()),
    "no shift": lambda: convolutional(layers.Conv2D(3, 3), layers.BatchNormalization(center=False), layers.ReLU()),
    "layer norm": lambda: convolutional(layers.Conv2D(3, 3), layers.LayerNormalization(), layers.ReLU()),
    "layer norm of places": lambda: convolutional(layers.Conv2D(3, 3), layers.LayerNormalization(axis=[1, 2, 3])),
    "group norm": lambda: convolutional(layers.Conv2D(6, 3), layers.GroupNormalization(2), layers.ReLU()),
    "instance norm": lambda: convolutional(
        layers.Conv2D(3, 3, use_bias=False), layers.GroupNormalization(-1), layers.ReLU()
    ),
    "root mean square": lambda: convolutional(layers.Conv2D(3, 3), layers.RMSNormalization(), layers.ReLU()),
    "slopes": lambda: convolutional(layers.Conv2D(3, 3), layers.PReLU(shared_axes=[1, 2]), layers.PReLU()),
    "groups": lambda: convolutional(layers.Conv2D(4, 3, groups=2, activation="relu"), layers.Conv2D(4, 3, groups=4)),
    "separable": lambda: convolutional(layers.SeparableConv2D(4, 3, 2, padding="same", depth_multiplier=2)),
    "volume": lambda: convolutional(layers.Conv3D(3, 2, 2, activation="relu"), shape=(4, 4, 4, 2)),
    "causal": lambda: convolutional(layers.Conv1D(4, 3, padding="causal", dilation_rate=2), shape=(12, 2)),
    "sequence": lambda: convolutional(layers.Conv1D(4, 3, 2), layers.Dense(5, "relu"), shape=(12, 2)),
}


def of_each_logit(network, image):
    """Return the logits of an image, and for each logit a list of its gradients by all weights."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(network.variables)
        logits = network.logits(np.float32(image)[None])[0]
        parts = tf.unstack(logits)
    return logits, [[row.numpy() for row in tape.gradient(part, network.variables)] for part in parts]


def gradients_of_logits(network, images):
    """Return the gradients (images, logits, weights) of each image's logits by all weights."""
    of_images = [of_each_logit(network, image)[1] for image in images]
    return np.array([[np.concatenate([part.ravel() for part in row]) for row in rows] for rows in of_images], float)


def examples(shape, number=20):
    rng = np.random.default_rng(0)
    return rng.normal(size=(number, *shape)), rng.integers(0, 3, number)


@pytest.mark.rest
@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_gradients_and_curvatures_against_one_backward_pass_for_each_logit(make, monkeypatch):
    model = make()
    data = dataset(*examples(model.input_shape[1:], 8))
    subject = Subject(model, data)
    network, sample = subject.network, subject.sample(8)
    of_logits = gradients_of_logits(network, sample.inputs)
    p = tf.nn.softmax(network.logits(sample.inputs)).numpy().astype(np.float64)
    of_loss = np.einsum("nk,nkw->nw", p - np.eye(3)[sample.labels], of_logits)
    weights = np.concatenate([variable.numpy().ravel() for variable in network.variables])
    squares, products, mean_square = weight_gradients(subject, 8, 0)
    assert squares == pytest.approx(np.square(of_loss).sum(axis=1), rel=1e-3)
    assert products == pytest.approx(of_loss @ weights, rel=1e-3, abs=1e-4)
    assert mean_square == pytest.approx(np.square(np.mean(of_loss, axis=0)).sum(), rel=1e-3)
    noise = (of_loss**2).mean(axis=0)
    fisher = (np.einsum("nk,nkw->nw", p, of_logits**2) - np.einsum("nk,nkw->nw", p, of_logits) ** 2).mean(axis=0)
    with baselines.sharing():
        require_moments(model, data, of_loss)
        assert tic_trace(model, data) == pytest.approx(noise.sum() / fisher.sum() / 8, rel=1e-3)
        assert tic_diag(model, data, epsilon=1e-4) == pytest.approx(np.sum(noise / (fisher + 1e-4)) / 8, rel=2e-3)

    ends = np.cumsum([math.prod(variable.shape) for variable in network.variables])
    of_weight_layers = sum(len(network.trained(place)) for place in network.weight_nodes)
    parts = list(zip(np.split(fisher, ends[:-1]), network.variables, strict=True))[:of_weight_layers]
    of_kernels = [part.reshape(variable.shape) for part, variable in parts if len(variable.shape) > 1]
    for stacked in (0, per_example.STACKED):
        monkeypatch.setattr(per_example, "STACKED", stacked)
        subject = Subject(model, data)
        found = moments_by_channels(subject.network, fisher_diagonal(subject, 8, 10, 0))
        for moments, kernel, array in zip(found, subject.network.kernels, of_kernels, strict=True):
            expected = by_channels(subject.network, replace(kernel, array=array))
            np.testing.assert_allclose(moments, expected, rtol=2e-3, atol=1e-6)


def test_random_directions_have_the_fisher_matrix_as_their_mean():
    model = NETWORKS["few positions"]()
    images, labels = examples((8, 8, 2), 200)
    subject = Subject(model, dataset(images, labels))
    exact, drawn = fisher_diagonal(subject, 200, 3, 0), fisher_diagonal(subject, 200, 2, 0)
    assert drawn.sum() != exact.sum()
    assert drawn.sum() == pytest.approx(exact.sum(), rel=0.1)


alignment, complexity = map(baselines.load, ("ntk_alignment", "ntk_complexity"))

RNG = np.random.default_rng(0)
POINTS, LABELS = RNG.normal(size=(12, 5)).astype(np.float32), np.arange(12) % 3


def test_orthogonal_examples_of_a_linear_network_share_nothing():
    """The kernel is half the identity, so the complexity without ridge is sqrt(2 * 2), and the alignment 1/sqrt(5)."""
    data = dataset(np.eye(6), [0, 0, 0, 1, 1, 1])
    assert complexity(dense(RNG.normal(size=(6, 2))), data, ridge=0.0) == pytest.approx(2, rel=1e-5)
    assert complexity(dense(RNG.normal(size=(6, 2))), data, ridge=1.0) == pytest.approx(math.sqrt(2), rel=1e-5)
    assert alignment(dense(RNG.normal(size=(6, 2))), data) == pytest.approx(-1 / math.sqrt(5), rel=1e-5)


def network(n_classes=3):
    tf.keras.utils.set_random_seed(1)
    hidden = [layers.Reshape((5, 1)), layers.Conv1D(3, 2, activation="tanh"), layers.Flatten(), layers.Dense(4, "elu")]
    return sequential((5,), *hidden, layers.Dense(n_classes))


def test_against_jacobians_one_by_one():
    model, data = network(), dataset(POINTS, LABELS)
    subject = Subject(model, data)
    kernel, corners = tangent_kernel(subject, 12, 10, 0)
    order = [int(np.flatnonzero((one == POINTS).all(axis=1))[0]) for one in subject.sample(12).inputs]
    gradients = gradients_of_logits(subject.network, POINTS[order])
    gradients = gradients - gradients.mean(axis=1, keepdims=True)  # of the centred logits
    assert kernel == pytest.approx(np.einsum("icw,jcw->ij", gradients, gradients) / 3, rel=1e-3, abs=1e-5)
    assert np.linalg.norm(corners, axis=1) == pytest.approx(1)
    targets = np.eye(3)[LABELS[order]] - 1 / 3
    center = np.eye(12) - 1 / 12
    expected = np.sum((center @ kernel @ center) * (targets @ targets.T))
    scale = np.linalg.norm(center @ kernel @ center) * np.linalg.norm(center @ targets @ targets.T @ center)
    assert alignment(model, data) == pytest.approx(-expected / scale, rel=1e-4)
    inverse = np.linalg.inv(kernel / kernel.trace() * 6 + 5e-4 * np.eye(12))
    assert complexity(model, data) == pytest.approx(np.sqrt(2 * np.trace(targets.T @ inverse @ targets) * 1.5 / 12))


def test_random_combinations_have_the_kernel_as_their_mean():
    subject = Subject(network(12), dataset(POINTS, np.arange(12)))
    exact, _ = tangent_kernel(subject, 12, 12, 0)
    drawn, _ = tangent_kernel(subject, 12, 11, 0)
    assert drawn.shape == exact.shape
    assert not np.allclose(drawn, exact)
    assert drawn.trace() == pytest.approx(exact.trace(), rel=0.3)
