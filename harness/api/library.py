"""Measures of the library on a network of the caller's, in the caller's own process."""

import functools
from collections.abc import Sequence
from typing import Any

import baselines
from baselines import Complexity
from harness.api.comparisons import choose_measures
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import ALL
from harness.submission import find_baseline


def measure(name: str) -> Complexity:
    """Return a measure as a function of a Keras model and data.

    Args:
        name: of the measure, which may have parameters, as in `vc_dim:image_side=28`.

    Returns:
        A function of a model and of either arrays `(x, y)` or a `tf.data.Dataset` of single examples (input, label).
        It raises `MeasureUnavailable` where the measure cannot be computed.

    Raises:
        UserError: there is no such measure or parameter.
    """
    if (found := find_baseline(name)) is None:
        remedy = did_you_mean(name, baselines.MEASURES) or "pgdl.MEASURES has their names"
        raise UserError(f"no measure {name!r}", remedy=remedy)
    return functools.partial(_call, baselines.load(found.name))


def measures(model: Any, data: Any, names: Sequence[str] | str = (ALL,)) -> list[dict[str, Any]]:
    """Return a table of measures, one row each, for instance for a `pandas.DataFrame`. They share forward passes.

    Args:
        model: a trained Keras model; its attribute `initial_weights` may have the weights before training.
        data: arrays `(x, y)`, or a `tf.data.Dataset` of single examples.
        names: measures, families, costs, `all` or `cheap`, as in `pgdl compare --measures`.

    Returns:
        `measure`, `family`, `value` (None where it could not be computed) and `problem` (the reason, otherwise None).

    Raises:
        UserError: there is no such measure, family or cost.
    """
    dataset = _dataset(data)
    chosen = choose_measures([names] if isinstance(names, str) else names)
    with baselines.sharing():
        return [
            {"measure": one.submission.name, "family": one.family} | _value(one.submission.name, model, dataset)
            for one in chosen
        ]


def _call(function: Complexity, model: Any, data: Any) -> float:
    return float(function(model, _dataset(data)))


def _value(name: str, model: Any, dataset: Any) -> dict[str, Any]:
    try:
        return {"value": float(baselines.load(name)(model, dataset)), "problem": None}
    except baselines.MeasureUnavailable as error:
        return {"value": None, "problem": str(error)}
    except Exception as error:  # as in a run: the other measures go on
        return {"value": None, "problem": f"{type(error).__name__}: {error}"}


def _dataset(data: Any) -> Any:
    if not isinstance(data, tuple | list):
        return data
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices(tuple(data))
