"""Complexity measures that are usable by name wherever a submission is.

`MEASURES` says what there is; `load(name)` returns the function. Importing this package imports no
TensorFlow, so the command line can list the names.
"""

from baselines.measure import Complexity, Measure, MeasureUnavailable

__all__ = ["MEASURES", "Complexity", "Measure", "MeasureUnavailable", "load"]

_STARTING_KIT = "PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)"

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            name="vc_dim",
            meaning="bound on the VC dimension, from depth and number of weights",
            family="size",
            module="baselines.size",
            source=_STARTING_KIT,
            cost="cheap",
        ),
        Measure(
            name="num_params",
            meaning="number of weights in kernels",
            family="size",
            module="baselines.size",
            source="Jiang et al. 2019, arXiv 1912.02178, eq. 20",
            cost="cheap",
        ),
        Measure(
            name="distance_from_init",
            meaning="squared Euclidean distance of all weights from their initial values",
            family="norm",
            module="baselines.norm",
            source=_STARTING_KIT,
            cost="cheap",
            needs_initial_weights=True,
        ),
        Measure(
            name="jacobian_norm",
            meaning="mean square of the logits' derivatives with respect to every layer's input",
            family="gradient",
            module="baselines.jacobian",
            source=_STARTING_KIT,
            cost="cheap",
            needs_gradients=True,
        ),
        Measure(
            name="sharpness",
            meaning="minus the relative size of the smallest change of the weights that costs 10 % accuracy",
            family="sharpness",
            module="baselines.sharpness",
            source=_STARTING_KIT + ", with ascent where its code descends",
            cost="slow",
            needs_labels=True,
            needs_gradients=True,
        ),
        Measure(
            name="random",
            meaning="a random number: what a measure scores that knows nothing",
            family="control",
            module="baselines.control",
            source="control",
            cost="cheap",
        ),
    )
}


def load(name: str) -> Complexity:
    """Return the measure `name` as a function `measure(model, dataset, **parameters) -> float`.

    Raises:
        KeyError: there is no such measure.
    """
    return MEASURES[name].load()
