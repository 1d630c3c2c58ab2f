"""The results of a testbed, as an xarray dataset and as a NetCDF file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from harness.errors import writing
from harness.protocols.testbed.material import Classes
from harness.protocols.testbed.settings import ProbeSettings
from harness.task.model import Model
from scoring import class_spread, error_rates, one_vs_rest_kappas

#: Axes of arrays with a number per cell; arrays with a number per cell and class have one more axis.
CELL = ("model", "ssim", "unseen")
PER_CLASS = (*CELL, "class")

#: Arrays of statistics over classes: mean, standard deviation and 10th percentile of the error rate, and of 1 - kappa
#: (diversity). The array `objective` is their sum.
STATISTICS = tuple(f"{name}_{kind}" for name in ("error", "diversity") for kind in ("mean", "sd", "p10"))


def make_dataset(
    models: Sequence[Model],
    counts: Sequence[NDArray[np.int64]],
    classes: Classes,
    settings: ProbeSettings,
    attributes: dict[str, Any],
) -> xr.Dataset:
    """Return error rates, kappas and statistics of every cell (model, SSIM, unseen classes); models are sorted by size.

    `counts` has the confusion matrices of each model, shape (numbers of unseen classes, SSIM, classes, classes). In
    `attributes`, values that are neither texts nor numbers are replaced by JSON.
    """
    order = sorted(range(len(models)), key=lambda position: models[position].n_parameters)
    shape = (len(order), len(settings.ssim), len(classes.levels), len(classes.labels))
    rates, kappas = np.full(shape, np.nan), np.full(shape, np.nan)
    statistics = {name: np.empty(shape[:3]) for name in STATISTICS}
    for cell in np.ndindex(shape[:3]):
        model, ssim, level = cell
        present = classes.n_seen + classes.levels[level]
        confusion = counts[order[model]][level, ssim, :present, :present]
        rates[cell][:present] = error_rates(confusion)
        kappas[cell][:present] = one_vs_rest_kappas(confusion)
        for name, values in (("error", rates[cell][:present]), ("diversity", 1 - kappas[cell][:present])):
            spread = class_spread(values)
            statistics[f"{name}_mean"][cell] = spread.mean
            statistics[f"{name}_sd"][cell] = spread.deviation
            statistics[f"{name}_p10"][cell] = spread.percentile_10
    arrays: dict[str, Any] = {"error_rate": (PER_CLASS, rates), "kappa": (PER_CLASS, kappas)}
    arrays |= {name: (CELL, values) for name, values in statistics.items()}
    arrays["objective"] = (CELL, np.sum(list(statistics.values()), axis=0))
    coordinates = {
        "model": [models[position].id for position in order],
        "size": ("model", [models[position].n_parameters for position in order]),
        "ssim": list(settings.ssim),
        "unseen": list(classes.shares),
        "n_unseen": ("unseen", list(classes.levels)),
        "class": list(classes.labels),
        "is_seen": ("class", np.arange(len(classes.labels)) < classes.n_seen),
    }
    texts = {name: one if isinstance(one, str | int | float) else json.dumps(one) for name, one in attributes.items()}
    return xr.Dataset(arrays, coordinates, texts)


def write_dataset(dataset: xr.Dataset, file: Path) -> Path:
    """Write a dataset to `file` as NetCDF, and return `file`; raise `UserError` if it cannot be written."""
    with writing(file):
        dataset.to_netcdf(file, engine="scipy")
    return file
