"""The functions `pgdl.measure` and `measures`: compute measures of the library on the caller's own network."""

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

import baselines
from baselines import Complexity
from harness.api.chosen_measures import choose_measures
from harness.api.torch_measures import is_module, measures_of_module
from harness.errors import UserError
from harness.extras import extras_named
from harness.hints import did_you_mean
from harness.names import ALL
from harness.submission import find_baseline

#: Pattern of a `ValueError` by which the library refuses data or parameters. Others are bugs, or from TensorFlow.
REFUSAL = re.compile(r"\w+: .*\bexpected ")


def measure(name: str) -> Complexity:
    """Return a measure as a function of a model and data. Raise `UserError` for an unknown measure or parameter.

    The name may have parameters, as in `vc_dim:image_side=28`. Data for a Keras model are arrays `(x, y)`, or a
    `tf.data.Dataset` of single examples (input, label); for a `torch.nn.Module`, arrays or tensors `(x, y)`, a
    `Dataset` or a `DataLoader`. The function raises `MeasureUnavailable` if the measure cannot be computed, and
    `UserError` for other models or data.
    """
    if (found := find_baseline(name)) is None:
        remedy = did_you_mean(name, baselines.MEASURES) or "pgdl.MEASURES has their names"
        raise UserError(f"no measure {name!r}", remedy=remedy)
    return functools.partial(_call, found.name)


def measures(model: Any, data: Any, names: Sequence[str] | str = (ALL,)) -> list[dict[str, Any]]:
    """Compute measures, which share forward passes, and return a table, for instance for a `pandas.DataFrame`.

    Args:
        model: a trained Keras model or `torch.nn.Module`. Its attribute `initial_weights`, which may be absent, has the
            weights before training: the list of arrays of a Keras model, the `state_dict` of a module.
        data: as for `measure`.
        names: measures, families, costs, `all` or `cheap`, as in `pgdl compare --measures`.

    Returns:
        A row for each measure: `measure`, `family`, `value` (None if the measure could not be computed) and `problem`
        (the reason, otherwise None).

    Raises:
        UserError: there is no such measure, family or cost, or the model or data are not of these kinds.
    """
    chosen = choose_measures(names)
    if is_module(model):
        return measures_of_module(model, data, [one.submission.name for one in chosen])
    dataset = _dataset(model, data)
    with baselines.sharing():
        return [
            {"measure": one.submission.name, "family": one.family} | _value(one.submission.name, model, dataset)
            for one in chosen
        ]


def _call(name: str, model: Any, data: Any) -> float:
    if is_module(model):
        (row,) = measures_of_module(model, data, [name])
        if row["value"] is None:
            raise baselines.MeasureUnavailable(row["problem"])
        return float(row["value"])
    function = baselines.load(name)
    dataset = _dataset(model, data)
    try:
        return float(function(model, dataset))
    except ValueError as error:
        if REFUSAL.match(str(error)):
            raise UserError(str(error)) from error
        raise


def _value(name: str, model: Any, dataset: Any) -> dict[str, Any]:
    try:
        return {"value": float(baselines.load(name)(model, dataset)), "problem": None}
    except baselines.MeasureUnavailable as error:
        return {"value": None, "problem": str(error)}
    except Exception as error:  # as in a run, the error of a measure does not stop other measures
        return {"value": None, "problem": f"{type(error).__name__}: {error}"}


def _dataset(model: Any, data: Any) -> Any:
    """Return the data as a `tf.data.Dataset` of single examples. Raise `UserError` for another kind of model or data.

    TensorFlow is imported only for Keras models: importing torchvision after TensorFlow ends in a segmentation fault.
    """
    if not hasattr(model, "layers") or not hasattr(model, "input_shape"):
        raise UserError("model", expected="a Keras model or a torch.nn.Module", found=type(model).__name__)
    with extras_named():
        import tensorflow as tf

    if isinstance(data, tuple | list) and len(data) == 2:
        x, y = map(np.asarray, data)
        if not x.ndim or x.shape[:1] != y.shape:
            expected = "arrays (x, y) with a label for each example"
            raise UserError("data", expected=expected, found=f"shapes {x.shape} and {y.shape}")
        data = tf.data.Dataset.from_tensor_slices((x, y))
    spec = getattr(data, "element_spec", None)
    if not isinstance(spec, tuple) or len(spec) != 2:
        found = type(data).__name__ if spec is None else f"a dataset of {spec}"
        raise UserError("data", expected="arrays (x, y), or a tf.data.Dataset of pairs (input, label)", found=found)
    shape, inputs = tuple(model.input_shape[1:]), getattr(spec[0], "shape", None)
    if inputs is None or not inputs.is_compatible_with(shape):
        expected = f"inputs of shape {shape}, as the model takes"
        raise UserError("data", expected=expected, found=inputs if inputs is not None else spec[0])
    return data
