"""Plots of a study of invariance, after figures 1 to 3 of Schiff et al. 2021."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from harness.plots import COLOUR, FAINT, INK, mpl, new_figure, use_log_scale, write_pictures
from harness.protocols.invariance.study import Curve, Study
from harness.protocols.invariance.table import Point

WIDTH, HEIGHT = 3.4, 2.3  #: width and height of a panel in inches
N_COLOURS = 40  #: number of colours for gaps: with more, SVG files would hold the colour bar as a picture
ALIKE = 0.02  #: curves end alike if their last accuracies differ by at most this number

#: Perturbation -> label of the axis of magnitudes.
AXES = {
    "rotation": "rotation in degrees, counter-clockwise",
    "translate_x": "shift to the right, share of the width",
    "translate_y": "shift down, share of the height",
    "color_jitter": "amount of colour jitter",
    "intra_l0": "share of another input of the same class",
    "inter_l0": "share of an input of another class",
    "intra_l1": "share of another example in the first hidden layer, same class",
    "inter_l1": "share of another example in the first hidden layer, another class",
}


def plot_curves(study: Study, gaps: Mapping[str, float], stem: Path) -> list[Path]:
    """Plot the accuracy curves and cumulative curves of all models, coloured by gap, for each perturbation (figure 1).

    The shaded area belongs to the model with the largest Gi-score. This score is the shaded area divided by the area
    below the dotted line. `gaps` is model id -> gap; models without a gap all have the same colour. Return the paths of
    the pictures.
    """
    number = len(study.perturbations)
    with new_figure(2 * WIDTH, HEIGHT * number) as figure:
        panels = figure.subplots(number, 2, squeeze=False)
        colours = mpl.colormaps["viridis"].resampled(N_COLOURS)
        ends = mpl.colors.Normalize(min(gaps.values(), default=0.0), max(gaps.values(), default=0.0))
        scale = mpl.cm.ScalarMappable(ends, colours)
        for (response, cumulative), chosen in zip(panels, study.perturbations, strict=True):
            curves = study.curves(chosen)
            for model, curve in curves.items():
                colour = scale.to_rgba(np.array(gaps[model])) if model in gaps else COLOUR
                style = {"color": colour, "linewidth": 0.8, "alpha": 0.8}
                response.plot(curve.magnitudes, curve.accuracies, **style)
                cumulative.plot(*curve.cumulative, **style)
            _shade(cumulative, max(curves.values(), key=lambda curve: curve.scores["gi"]))
            response.set(xlabel=AXES[chosen.name], ylabel="accuracy", ylim=(0, 1.02))
            cumulative.set(xlabel="magnitude, from 0 to 1", ylabel="cumulative accuracy", xlim=(0, 1), ylim=(0, 1))
        if gaps:
            figure.colorbar(scale, ax=panels, label="generalization gap", shrink=0.6, aspect=40)
        return write_pictures(figure, stem)


def plot_pairs(study: Study, gaps: Mapping[str, float], stem: Path) -> list[Path]:
    """For each mixture, plot two models with different gaps whose curves end at similar accuracies (figure 2).

    Of all such pairs, the pair whose gaps differ most is plotted. Return the pictures' paths; [] without such pairs.
    """
    pairs = {}
    for chosen in (one for one in study.perturbations if one.is_mixture and gaps):
        curves = study.curves(chosen)
        pair = _pair(curves, gaps)
        if pair is not None:
            pairs[chosen.name] = {model: curves[model] for model in pair}
    if not pairs:
        return []
    with new_figure(WIDTH * len(pairs), HEIGHT + 0.4) as figure:
        (panels,) = figure.subplots(1, len(pairs), squeeze=False, sharey=True)
        for axes, (name, curves) in zip(panels, pairs.items(), strict=True):
            for (model, curve), colour in zip(curves.items(), (COLOUR, FAINT), strict=True):
                label = f"{model}: gap {gaps[model]:.3f}, Gi-score {curve.scores['gi']:.3f}"
                axes.plot(curve.magnitudes, curve.accuracies, color=colour, marker="o", markersize=2.5, label=label)
            axes.set(xlabel=AXES[name])
            axes.legend(frameon=False, loc="best")
        panels[0].set_ylabel("accuracy")
        return write_pictures(figure, stem)


def plot_sensitivity(points: Sequence[Point], stem: Path) -> list[Path]:
    """Plot time and mean score against the number of batches of examples (figure 3). Return the pictures' paths."""
    names = list(dict.fromkeys(point.perturbation for point in points))
    with new_figure(2 * WIDTH, HEIGHT + 0.5) as figure:
        times, scores = figure.subplots(1, 2)
        for number, name in enumerate(names):
            own = [point for point in points if point.perturbation == name and point.scores]
            colour = mpl.colormaps["viridis"](number / max(len(names) - 1, 1) * 0.9)
            numbers = [point.n_batches for point in own]
            times.plot(numbers, [point.seconds for point in own], color=colour, marker="o", markersize=3, label=name)
            means, deviations = [100 * point.mean for point in own], [100 * point.deviation for point in own]
            scores.errorbar(numbers, means, deviations, color=colour, marker="o", markersize=3, capsize=2)
        for axes, label in ((times, "seconds for a curve of a model"), (scores, "information of Gi about the gap")):
            axes.set(xlabel="batches of 128 examples", ylabel=label)
            axes.set_ylim(bottom=0)
            use_log_scale(axes.xaxis)
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
        return write_pictures(figure, stem)


def _shade(axes: Any, curve: Curve) -> None:
    places, cumulative = curve.cumulative
    axes.plot([0, 1], [0, 1], color=INK, linestyle="dotted", linewidth=0.9)
    axes.fill_between(places, cumulative, places, color=FAINT, alpha=0.25, linewidth=0)
    axes.annotate(f"largest Gi-score {curve.scores['gi']:.3f}", (0.04, 0.93), xycoords="axes fraction", va="top")


def _pair(curves: Mapping[str, Curve], gaps: Mapping[str, float]) -> tuple[str, str] | None:
    alike = [
        pair
        for pair in combinations(curves, 2)
        if abs(curves[pair[0]].accuracies[-1] - curves[pair[1]].accuracies[-1]) <= ALIKE
    ]
    if not alike:
        return None
    first, second = max(alike, key=lambda pair: abs(gaps[pair[0]] - gaps[pair[1]]))
    return (first, second) if gaps[first] >= gaps[second] else (second, first)
