"""Complexity measures that are usable by name wherever a submission is.

`MEASURES` says what there is; `load("name:parameter=value")` returns a function of (model, dataset). Importing
this package imports no TensorFlow, so the command line can list the names.
"""

import importlib

from baselines.core.load import load
from baselines.core.measure import MEASURES, Complexity, Measure, MeasureUnavailable, Need
from baselines.core.subject import share, sharing

#: The families, in the order of the catalogue; each registers its measures when it is imported.
for _family in (
    "size", "norm", "path_norm", "margin", "spectral_bound", "output_statistics", "layer_margin", "winner_margin",
    "pacbayes", "sharpness",
    "starter_sharpness", "loss_sharpness", "hessian", "gradient", "jacobian",
    "label_variation", "davies_bouldin", "mixup", "augmentation_robustness",
    "perturbation_response", "invariance", "neural_activation", "noise_stability", "compression", "control",
):  # fmt: skip
    importlib.import_module(f"baselines.{_family}")

__all__ = ["MEASURES", "Complexity", "Measure", "MeasureUnavailable", "Need", "load", "share", "sharing"]
