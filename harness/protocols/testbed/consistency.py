"""Do complexity measures order backbones as the testbed does? Sign-errors against two slices of the cells."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scoring import inconsistency

#: Statistics that a measure is compared with.
COMPARED = ("error_mean", "error_p10")

#: Slices of the cells: without unseen classes (over SSIM), and without noise (over shares of unseen classes).
SLICES = ("unseen 0 %", "SSIM 1")


@dataclass(frozen=True)
class Consistency:
    """Sign-errors of a measure, from 0 (the same order of backbones) to 1 (the opposite one)."""

    measure: str  #: name of the measure
    errors: Mapping[tuple[str, str], float]  #: (slice, statistic) -> sign-error

    @property
    def mean(self) -> float:
        """Mean over slices and statistics, by which measures are ranked."""
        return float(np.mean(list(self.errors.values())))


def check_consistency(dataset: xr.Dataset, values: Mapping[str, Mapping[str, float]]) -> list[Consistency]:
    """Return the sign-errors of measures, the most consistent first.

    Args:
        dataset: as `evaluate_task` returns it.
        values: measure -> model -> value, for every model of the dataset.

    Raises:
        ScoreUndefined: fewer than two models.
    """
    models = dataset["model"].values.tolist()
    marginals = {(part, name): _marginal(dataset, part, name) for part in SLICES for name in COMPARED}
    found = [
        Consistency(
            measure,
            {which: inconsistency([of[model] for model in models], one) for which, one in marginals.items()},
        )
        for measure, of in values.items()
    ]
    return sorted(found, key=lambda one: (one.mean, one.measure))


def _marginal(dataset: xr.Dataset, part: str, statistic: str) -> NDArray[np.float64]:
    """Return the mean of a statistic of each model over a slice."""
    cells = dataset[statistic]
    of_slice = cells.sel(unseen=0).mean("ssim") if part == SLICES[0] else cells.sel(ssim=1).mean("unseen")
    return np.asarray(of_slice.values, np.float64)
