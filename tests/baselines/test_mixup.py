"""Tests of the error on averages of two examples of a class, and of the winner's product of an index with it."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import davies_bouldin_score
from small_networks import dataset, dense, gaussian, layers

import baselines
from baselines import MeasureUnavailable
from baselines.consistency.mixup import _drawn
from baselines.core.subject import Subject

mixup_error, manifold_mixup_error, dbi_mixup, davies_bouldin_index = map(
    baselines.load, ("mixup_error", "manifold_mixup_error", "dbi_mixup", "davies_bouldin_index")
)


def blobs(n=120):
    draw = np.random.default_rng(0)
    labels = draw.permutation(np.arange(n) % 3)
    return draw.normal(size=(n, 4)).astype(np.float32) + np.eye(4, dtype=np.float32)[labels], labels


def network():
    draw = np.random.default_rng(1)
    kernels = [draw.normal(size=shape) for shape in ((4, 9), (9, 3))]
    return dense(*kernels, biases=[draw.normal(size=9), draw.normal(size=3)])


def by_hand(sample, batches, classify):
    """Compute with loops: 1 minus the mean, over classes, of the accuracy on pairs of examples of a batch."""
    right = {}
    for batch in batches:
        x, y = sample.inputs[batch], sample.labels[batch]
        for label in set(y.tolist()):
            pairs = itertools.combinations(x[y == label], 2)
            right.setdefault(label, []).extend(classify(a, b) == label for a, b in pairs)
    return 1 - np.mean([np.mean(found) for found in right.values()])


def forward(model, *, shares_at):
    """Return a function that averages two examples, at the input or in the hidden layer, and predicts the class."""
    first, bias, second, shift = model.get_weights()

    def relu(numbers):
        return np.maximum(numbers, 0)

    hidden = {
        "input": lambda a, b: relu((a + b) / 2 @ first + bias),
        "preactivation": lambda a, b: relu((a @ first + b @ first) / 2 + bias),
        "output": lambda a, b: (relu(a @ first + bias) + relu(b @ first + bias)) / 2,
    }[shares_at]
    return lambda a, b: (hidden(a, b) @ second + shift).argmax()


@pytest.mark.parametrize("options", [{}, {"per_class": 3, "n_batches": 2}, {"n_batches": 1, "seed": 1}])
def test_mixup_error_by_hand(options):
    given = {"per_class": 10, "n_batches": 40, "seed": 0} | options
    require_by_hand(mixup_error, options, 3 * given["per_class"], given, "input")


@pytest.mark.parametrize("place", ["output", "preactivation"])
@pytest.mark.parametrize("options", [{}, {"seed": 3, "n_batches": 4}, {"batch": 7, "n_batches": 3}])
def test_manifold_mixup_error_by_hand(options, place):
    given = {"batch": 50, "n_batches": 120, "seed": 0} | options
    options = options | {"preactivation": place == "preactivation"}
    require_by_hand(manifold_mixup_error, options, given["batch"], given, place)


def require_by_hand(measure, options, size, given, place):
    model, data = network(), dataset(*blobs())
    drawn = _drawn(Subject(model, data), size, given["n_batches"], given["seed"])
    expected = by_hand(*drawn, forward(model, shares_at=place))
    assert 0 < expected < 1
    assert measure(model, data, **options) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "size", "n_batches"), [(100, 30, 10), (90, 30, 3), (95, 30, 2), (20, 30, 10)])
def test_batches_are_full_and_every_pass_has_another_order(n, size, n_batches):
    images, labels = blobs(n=n)
    sample, batches = _drawn(Subject(None, dataset(images, labels)), size, n_batches, 0)
    if n < size:
        assert batches.tolist() == [list(range(n))]
        return
    assert batches.shape == (n_batches, size)
    assert all(len(set(batch)) == size for batch in batches.tolist())
    in_a_pass = n // size
    passes = [batches[i : i + in_a_pass].ravel().tolist() for i in range(0, n_batches, in_a_pass)]
    assert all(len(set(one)) == len(one) for one in passes)
    assert len({tuple(one) for one in passes}) == len(passes)
    assert np.unique(sample.inputs, axis=0).shape == (min(n, size * n_batches), 4)


def test_the_first_examples_without_shuffling():
    model, data = network(), dataset(*blobs(n=90))
    whole, first = Subject(model, data).examples, np.arange(90).reshape(3, 30)
    classify = forward(model, shares_at="input")
    for n_batches, batches in ((2, first[:2]), (4, first[[0, 1, 2, 0]])):
        expected = by_hand(whole, batches, classify)
        for seed in (0, 5):
            found = mixup_error(model, data, n_batches=n_batches, parity_unshuffled=True, seed=seed)
            assert found == pytest.approx(expected)


#: Five values of a feature of which so many pairs have a mean below 0.
WITH_ERRORS = {1: [-2.0, 1.0, 3.0, 3.0, 3.0], 2: [-2.0, 1.0, 1.0, 3.0, 3.0], 4: [-4.0, 1.0, 1.0, 3.0, 3.0]}


def test_equal_counts_give_equal_values_whatever_their_order():
    """Three classes of 10 pairs have 1, 2 and 4 wrong predictions, in any order."""
    model, values = dense(np.eye(3), np.eye(3), biases=[np.ones(3), np.zeros(3)]), set()
    for numbers in itertools.permutations(WITH_ERRORS):  # one feature per class, wrong where it is below 0
        images = np.kron(np.eye(3), np.ones((5, 1))) * np.concatenate([WITH_ERRORS[n] for n in numbers])[:, None]
        values.add(mixup_error(model, dataset(images, np.repeat([0, 1, 2], 5)), per_class=5))
    assert len(values) == 1


def test_winner_is_a_product():
    model, data = network(), dataset(*blobs())
    for seed in (0, 3):
        expected = davies_bouldin_index(model, data, seed=seed) * mixup_error(model, data, seed=seed)
        assert dbi_mixup(model, data, seed=seed) == expected > 0


@pytest.mark.parametrize(("measure", "options"), [(mixup_error, {"per_class": 21}), (manifold_mixup_error, {})])
def test_classes_weigh_alike_also_of_always_wrong_and_dead_networks_but_need_two_examples(measure, options):
    """The 40 examples of class 0 are classified rightly, the 2 of class 1 wrongly."""
    model, data = dense(np.eye(2), [[1.0, 0.0], [1.0, 0.0]]), dataset(np.ones((42, 2)), [0] * 40 + [1] * 2)
    assert measure(model, data, n_batches=1, **options) == 0.5
    images, labels = blobs()
    wrong = dense(np.zeros((4, 2)), np.zeros((2, 4)), biases=[np.zeros(2), np.array([0, 0, 0, 1.0])])
    assert measure(wrong, dataset(images, labels)) == 1
    dead = dense(np.zeros((4, 2)), np.zeros((2, 3)))  # ties go to class 0
    assert measure(dead, dataset(images, labels)) == pytest.approx(2 / 3)
    images = images[:5]
    of_one = measure(network(), dataset(images[[0, 1, 3]], [0, 0, 0]))
    assert measure(network(), dataset(images, [0, 0, 1, 0, 2])) == of_one
    assert 0 <= of_one <= 1


# The winner's submission, against another implementation with the draws of the published file

winner = baselines.load("dbi_mixup_winner")


def labelled_images(n, classes=3):
    draw = np.random.default_rng(0)
    labels = draw.integers(0, classes, n)
    places = np.eye(8, dtype=np.float32)[labels]
    return draw.random((n, 8, 8, 1), np.float32) + 0.3 * places[:, :, None, None], labels


def convolutional(classes=3):
    front = [tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.Flatten()]
    return gaussian(tf.keras.Sequential([*front, layers.Dense(classes)]), 1)


def as_published(model, x, y):
    """The measure as the published file computes it, batch by batch and class by class, with the file's seeds."""
    tf.random.set_seed(0)
    data = dataset(x, y).repeat(-1).shuffle(5000, seed=1)
    clusters = []
    for some, labels in data.batch(120).take(10):
        found = tf.nn.max_pool2d(model.layers[0](some), 4, 4, "VALID")
        clusters.append(davies_bouldin_score(found.numpy().reshape(120, -1), labels))
    first = next(iter(data.batch(50)))[1].numpy()
    size = 10 * (1 + first.max())
    batches = list(dataset(x, y).repeat(-1).batch(size).take(10))
    accuracies = []
    for label in range(1 + first.max()):
        parts = [some.numpy()[labels.numpy() == label] for some, labels in batches]
        if min(map(len, parts)) > 0:
            pairs = [np.array([(a + b) / 2 for a, b in itertools.combinations(part, 2)]) for part in parts]
            accuracies.append(np.mean([np.mean(model(some).numpy().argmax(axis=1) == label) for some in pairs]))
    return np.mean(clusters) * (1 - np.mean(accuracies))


@pytest.mark.parametrize("n", [70, 400])
def test_the_draws_of_the_published_file_whatever_the_seed(n):
    model, (x, y) = convolutional(), labelled_images(n)
    expected = as_published(model, x, y)
    assert expected > 0
    for seed in (0, 9):
        tf.random.set_seed(seed)
        assert winner(model, dataset(x, y)) == pytest.approx(expected, rel=1e-5)


def test_classes_count_that_are_among_the_first_and_in_every_batch():
    x, y = labelled_images(3000)
    y[2999] = 3  # among the first fifty that are shuffled, in none of the first batches
    model = convolutional(4)
    shuffled = as_published(model, x, y)
    assert winner(model, dataset(x, y)) == pytest.approx(shuffled, rel=1e-5)
    x, _ = labelled_images(2000)
    with pytest.raises(MeasureUnavailable, match="needs a class with examples in every batch"):
        winner(convolutional(), dataset(x, np.arange(2000) < 100))
    with pytest.raises(MeasureUnavailable, match="needs examples of two classes"):
        winner(convolutional(), dataset(x, np.zeros(2000)))
