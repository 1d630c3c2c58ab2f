"""Tests of `pgdl.measure` and `pgdl.measures`, which call measures of the library on a user's own network."""

from typing import Any

import numpy as np
import pytest

import pgdl

X, Y = np.random.default_rng(0).random((20, 8, 8, 1), np.float32), np.arange(20) % 4


@pytest.fixture(scope="module")
def model() -> Any:
    import keras

    layers = keras.layers
    return keras.Sequential([keras.Input((8, 8, 1)), layers.Flatten(), layers.Dense(4)])


def test_arrays_and_datasets_give_the_same_value_and_a_name_is_a_list_of_one(model: Any) -> None:
    import tensorflow as tf

    measure = pgdl.measure("cross_entropy")
    one_hot = np.eye(4)[Y]
    datasets = [tf.data.Dataset.from_tensor_slices((X, labels)) for labels in (Y, Y[:, None], one_hot)]
    arrays = [(X, Y), [X, Y], (X, Y[:, None]), (X, one_hot)]
    assert len({measure(model, data) for data in (*datasets, *arrays)}) == 1
    assert pgdl.measures(model, (X, Y), "num_params") == pgdl.measures(model, (X, Y), ["num_params"])
    with pytest.raises(pgdl.UserError, match="no task 'digits'"):
        pgdl.compare("num_params", tasks_dir="task_data", task_names="digits")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, r"data: expected arrays \(x, y\), or a tf.data.Dataset of pairs \(input, label\), found NoneType"),
        (X, "data: expected arrays .* found ndarray"),
        ((X, Y, Y), "data: expected arrays .* found tuple"),
        (zip(X, Y, strict=True), "data: expected arrays .* found zip"),
        ((X, Y[:3]), r"with a label for each example, found shapes \(20, 8, 8, 1\) and \(3,\)"),
        ((X, np.full((20, 4), 0.25)), r"labels: expected integers, .* or one-hot rows, found float64, shape \(20, 4\)"),
        ((X[:, :7], Y), r"expected inputs of shape \(8, 8, 1\), as the model takes, found \(7, 8, 1\)"),
        ((X, Y + 1), "example 3: expected a label from 0 to 3, found 4"),
        ((X * np.nan, Y), "example 0: expected finite numbers"),
        ((X.astype(float) + 1e300, Y), "example 0: expected finite numbers"),
        ((X[:0], Y[:0]), r"expected non-empty arrays .*, found shapes \(0, 8, 8, 1\) and \(0,\)"),
        ((X + 1j, Y), "data: expected inputs that are real numbers, found complex"),
        ((X.astype(object), Y), "data: expected inputs that are real numbers, found object"),
        ((X, Y.astype(str)), r"labels: expected integers, .* found <U.*; numpy\.unique\(labels, return_inverse=True\)"),
        ((X, Y / 2), "labels: expected integers, .* found 0.5 of example 1; regression is not supported"),
        (([[1, 2], [3]], [0, 1]), "data: expected arrays of numbers"),
    ],
)
@pytest.mark.parametrize("name", ["num_params", "cross_entropy"])
def test_other_data_are_refused_in_one_line_by_every_measure(model: Any, name: str, data: object, problem: str) -> None:
    with pytest.raises(pgdl.UserError, match=problem):
        pgdl.measure(name)(model, data)
    with pytest.raises(pgdl.UserError, match=problem):
        pgdl.measures(model, data, [name])


def test_a_measure_with_random_draws_is_repeatable_and_leaves_the_generator_of_the_caller(model: Any) -> None:
    values = []
    for seed in (1, 2):
        np.random.seed(seed)
        values.append(pgdl.measure("random")(model, (X, Y)))
        values += [row["value"] for row in pgdl.measures(model, (X, Y), ["random", "num_params"])[:1]]
        drawn = np.random.random()
        np.random.seed(seed)
        assert drawn == np.random.random()
    assert len(set(values)) == 1


def test_datasets_that_no_measure_can_read(model: Any) -> None:
    import tensorflow as tf

    for data, problem in (
        (tf.data.Dataset.from_tensor_slices((X, Y)).repeat(), "data: expected a dataset that ends"),
        (tf.data.Dataset.from_tensor_slices((X, {"a": Y})), "data: expected labels that are real numbers"),
        (
            tf.data.Dataset.from_tensor_slices((X, Y)).batch(5),
            r"found \(None, 8, 8, 1\); data\.unbatch\(\) gives single",
        ),
        (tf.data.Dataset.from_tensor_slices((X, X)), "data: expected an integer or a one-hot row as each label, found"),
    ):
        with pytest.raises(pgdl.UserError, match=problem):
            pgdl.measure("num_params")(model, data)
    soft = tf.data.Dataset.from_tensor_slices((X, np.full((20, 4), 0.25)))
    with pytest.raises(pgdl.UserError, match="example 0: expected a whole number as its label, found nan"):
        pgdl.measure("cross_entropy")(model, soft)


def test_models_that_no_measure_can_read(model: Any) -> None:
    import keras

    diverged = keras.models.clone_model(model)
    diverged.set_weights([array * np.nan for array in diverged.get_weights()])
    inputs = [keras.Input((8, 8, 1)), keras.Input((8, 8, 1))]
    begun = keras.models.clone_model(model)
    begun.initial_weights = [np.zeros(3)]
    maps = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(3, 3)])
    two_inputs = keras.Model(inputs, keras.layers.add(inputs))
    two_outputs = keras.Model(model.inputs, [model.outputs[0], model.outputs[0]])
    for other, problem in (
        (keras.Sequential([keras.layers.Dense(4)]), "model: not built: found Sequential; begin it with keras.Input"),
        (two_inputs, "model: expected .* with one input and one output, found 2 inputs and 1 output"),
        (two_outputs, "model: expected .* with one input and one output, found 1 input and 2 outputs"),
        (maps, r"model: output: expected shape \(None, classes\), found \(None, 6, 6, 3\)"),
        (diverged, "model: expected finite weights, found NaN or infinity in layer dense"),
        (begun, r"model\.initial_weights: expected a list of arrays with the shapes of .* found arrays of shapes"),
    ):
        with pytest.raises(pgdl.UserError, match=problem):
            pgdl.measure("num_params")(other, (X, Y))


def test_a_problem_is_told_without_the_class_of_its_error(model: Any) -> None:
    (row,) = pgdl.measures(model, (X + 1, Y), ["augmentation_robustness_penalty"])
    assert row["problem"].startswith("dataset: example 0: expected pixels in [0, 1], found ")


@pytest.mark.parametrize("model", [None, "model.keras", {}])
def test_what_is_no_keras_model_is_refused(model: object) -> None:
    with pytest.raises(pgdl.UserError, match=r"model: expected a Keras model or a torch\.nn\.Module, found"):
        pgdl.measure("num_params")(model, (X, Y))
