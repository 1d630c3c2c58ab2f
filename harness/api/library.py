"""The functions `pgdl.measure` and `measures`: compute measures of the library on the user's own network."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

import baselines
from baselines import Complexity
from harness.api.chosen_measures import choose_measures
from harness.api.keras_data import dataset_of, refusals
from harness.api.torch_measures import is_module, measures_of_module
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import ALL
from harness.submission import find_baseline


def measure(name: str) -> Complexity:
    """Return a measure as a function of a model and data. Raise `UserError` for an unknown measure or parameter.

    The name may have parameters, as in `vc_dim:image_side=28`. Data for a Keras model are arrays `(x, y)`, or a
    `tf.data.Dataset` of single examples (input, label); for a `torch.nn.Module`, arrays or tensors `(x, y)`, a
    `Dataset` or a `DataLoader`. The returned function raises `MeasureUnavailable` if the measure cannot be computed,
    and `UserError` for models or data of other types.

    On a GPU, TensorFlow rounds products of matrices to TF32, unless the process starts with NVIDIA_TF32_OVERRIDE=0, as
    the processes of `pgdl run` do.
    """
    if (found := find_baseline(name)) is None:
        remedy = did_you_mean(name, baselines.MEASURES) or "pgdl.MEASURES has their names"
        raise UserError(f"no measure {name!r}", remedy=remedy)
    return functools.partial(_call, found.name)


def measures(model: Any, data: Any, names: Sequence[str] | str = (ALL,)) -> list[dict[str, Any]]:
    """Compute measures, which share forward passes, and return a table, for instance for a `pandas.DataFrame`.

    Args:
        model: a trained Keras model or `torch.nn.Module`. It may have an attribute `initial_weights` with the weights
            before training: the list of arrays of a Keras model, the `state_dict` of a module.
        data: as for `measure`.
        names: measures, families, costs, `all` or `cheap`, as in `pgdl compare --measures`.

    Returns:
        A row for each measure: `measure`, `family`, `value` (None if the measure could not be computed) and `problem`
        (the reason, otherwise None).

    Raises:
        UserError: there is no such measure, family or cost, or the model or the data have another type.
    """
    chosen = choose_measures(names)
    if is_module(model):
        return measures_of_module(model, data, [one.submission.name for one in chosen])
    dataset = dataset_of(model, data)
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
    return _compute(name, model, dataset_of(model, data))


def _value(name: str, model: Any, dataset: Any) -> dict[str, Any]:
    try:
        return {"value": _compute(name, model, dataset), "problem": None}
    except (baselines.MeasureUnavailable, UserError) as error:
        return {"value": None, "problem": str(error)}
    except Exception as error:  # as in a run, the error of a measure does not stop other measures
        return {"value": None, "problem": f"{type(error).__name__}: {error}"}


def _compute(name: str, model: Any, dataset: Any) -> float:
    function = baselines.load(name)
    before = np.random.get_state()
    np.random.seed(0)  # `random` depends on it: values must be repeatable, as in a run, which seeds each call
    try:
        with refusals():
            return float(function(model, dataset))
    finally:
        np.random.set_state(before)
