"""Measures of the library on a network of the caller's: `pgdl.measure` and `pgdl.measures`."""

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


def test_arrays_and_datasets_give_the_same_value(model: Any) -> None:
    import tensorflow as tf

    measure = pgdl.measure("jacobian_norm")
    dataset = tf.data.Dataset.from_tensor_slices((X, Y))
    assert measure(model, (X, Y)) == measure(model, [X, Y]) == measure(model, dataset) > 0


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, r"data: expected arrays \(x, y\), or a tf.data.Dataset of pairs \(input, label\), found NoneType"),
        (X, "data: expected arrays .* found ndarray"),
        ((X, Y, Y), "data: expected arrays .* found tuple"),
        (zip(X, Y, strict=True), "data: expected arrays .* found zip"),
        ((X, Y[:3]), r"with a label for each example, found shapes \(20, 8, 8, 1\) and \(3,\)"),
        ((X, np.eye(4)[Y]), r"with a label for each example, found shapes .* and \(20, 4\)"),
        ((X[:, :7], Y), r"expected inputs of shape \(8, 8, 1\), as the model takes, found \(7, 8, 1\)"),
        ((X, Y + 1), "example 3: expected a label from 0 to 3, found 4"),
        ((X * np.nan, Y), "example 0: expected finite numbers"),
    ],
)
def test_other_data_are_refused_in_one_line(model: Any, data: object, problem: str) -> None:
    with pytest.raises(pgdl.UserError, match=problem):
        pgdl.measure("cross_entropy")(model, data)


@pytest.mark.parametrize("model", [None, "model.keras", {}])
def test_what_is_no_keras_model_is_refused(model: object) -> None:
    with pytest.raises(pgdl.UserError, match=r"model: expected a Keras model or a torch\.nn\.Module, found"):
        pgdl.measure("num_params")(model, (X, Y))


def test_a_single_name_is_a_list_of_one(model: Any) -> None:
    assert pgdl.measures(model, (X, Y), "num_params") == pgdl.measures(model, (X, Y), ["num_params"])
    with pytest.raises(pgdl.UserError, match="no task 'digits'"):
        pgdl.compare("num_params", tasks_dir="task_data", task_names="digits")
