"""Plots of the experiment, as the paper's Figures 5 and 6."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.plots import COLOUR, FAINT, INK, new_figure, write_pictures
from harness.protocols.overfit.synthetic.repetition import Setting
from harness.protocols.overfit.synthetic.report import BETWEEN, LEVEL, STRONG, central_range, p_value_range
from harness.protocols.overfit.synthetic.run import STEP_LENGTHS, Experiment
from scoring import RiskEstimates, bernstein_interval
from scoring.vectors import Vector

#: Line and marker of the numbers of models of a test.
LINES = {1: "-", 2: (0, (5, 1)), 10: "--", 25: "-.", 100: ":"}

#: Numbers of models whose p-values are many enough for a histogram, and how it is drawn.
HISTOGRAMS: dict[int, dict[str, Any]] = {
    1: {"color": FAINT, "alpha": 0.5},
    2: {"color": INK, "histtype": "step"},
    10: {"color": COLOUR, "histtype": "step", "linewidth": 1.8},
}


def write_plots(experiment: Experiment, directory: Path) -> list[Path]:
    """Write synthetic_steps and synthetic_histograms, each as .svg and .png, and return their paths."""
    written = []
    with new_figure(6.8, 8.4) as figure:
        _draw_steps(figure, experiment)
        written += write_pictures(figure, directory / "synthetic_steps")
    with new_figure(6.8, 2.8) as figure:
        _draw_histograms(figure, experiment)
        written += write_pictures(figure, directory / "synthetic_histograms")
    return written


def _draw_steps(figure: Figure, experiment: Experiment) -> None:
    """Draw four rows, with a column for each setting: p-values, error rates, densities, intervals of one training."""
    grid = figure.subplots(4, 2, sharex=True, sharey="row")
    for column, setting in enumerate(Setting):
        own = [grid[row][column] for row in range(4)]
        own[0].set_title(f"{setting} of the test set")
        _draw_p_values(own[0], experiment, setting)
        _draw_rates(own[1], experiment, setting)
        _draw_densities(own[2], experiment, setting)
        _draw_intervals(own[3], [at.first for at in experiment.outcomes[setting]])
        own[3].set_xlabel("epsilon: length of a step")
    for axes, name in zip(grid[:, 0], ("p-value", "rate", "density h", "rate, one training"), strict=True):
        axes.set_ylabel(name)
    for axes in grid[:, 1]:
        axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    grid[0][0].set_xscale("log")


def _draw_p_values(axes: Axes, experiment: Experiment, setting: Setting) -> None:
    outcomes = experiment.outcomes[setting]
    for number in outcomes[0].p_values:
        values = [at.p_values[number] for at in outcomes]
        colour = COLOUR if number == 1 else INK
        style: dict[str, Any] = {"color": colour, "linestyle": LINES[number], "linewidth": 1.8 if number == 1 else 1}
        axes.plot(STEP_LENGTHS, [one.mean() for one in values], label=f"N = {number}", **style)
        if number == 1:
            _band(axes, [p_value_range(one, number) for one in values])


def _draw_rates(axes: Axes, experiment: Experiment, setting: Setting) -> None:
    outcomes = experiment.outcomes[setting]
    curves: dict[str, tuple[list[Vector], dict[str, Any]]] = {
        "test error": ([at.error_rates for at in outcomes], {"color": INK}),
        "adversarial error": ([at.adversarial_error_rates for at in outcomes], {"color": FAINT, "linestyle": "--"}),
        "adversarial estimate": ([at.adversarial_estimates for at in outcomes], {"color": COLOUR, "linewidth": 1.8}),
    }
    for name, (values, style) in curves.items():
        axes.plot(STEP_LENGTHS, [one.mean() for one in values], label=name, **style)
    _band(axes, [central_range(at.adversarial_estimates) for at in outcomes])
    risk = float(np.mean([one.risk for one in experiment.repetitions[setting]]))
    axes.axhline(risk, color=INK, linewidth=0.8, linestyle=":", label="risk")
    axes.set_ylim(0, 1)


def _draw_densities(axes: Axes, experiment: Experiment, setting: Setting) -> None:
    errors, successes = zip(*(at.densities for at in experiment.outcomes[setting]), strict=True)
    axes.plot(STEP_LENGTHS, errors, color=INK, label="misclassified points")
    axes.plot(STEP_LENGTHS, successes, color=COLOUR, linestyle="--", label="adversarial examples")
    axes.set_ylim(0, 1.04)


def _draw_intervals(axes: Axes, estimates: Sequence[RiskEstimates]) -> None:
    """Draw the Bernstein intervals of the risk, on which the basic test rests."""
    for name, colour, attribute in (("test error", INK, "losses"), ("adversarial estimate", COLOUR, "weighted_losses")):
        values: list[Vector] = [getattr(one, attribute) for one in estimates]
        axes.plot(STEP_LENGTHS, [one.mean() for one in values], color=colour, label=name)
        _band(axes, [bernstein_interval(one, LEVEL) for one in values], colour)
    axes.set_ylim(0, 1)


def _band(axes: Axes, ranges: Sequence[tuple[float, float]], colour: str = COLOUR) -> None:
    low, high = zip(*ranges, strict=True)
    axes.fill_between(STEP_LENGTHS, low, high, color=colour, alpha=0.18, linewidth=0)


def _draw_histograms(figure: Figure, experiment: Experiment) -> None:
    """Draw the p-values of both settings, each at the step about which the paper has a histogram."""
    for axes, setting, step in zip(figure.subplots(1, 2), Setting, (STRONG[0], BETWEEN), strict=True):
        p_values = experiment.at(setting, step).p_values
        for number in (number for number in HISTOGRAMS if number in p_values):
            weights = np.full(len(p_values[number]), 1 / len(p_values[number]))
            style = HISTOGRAMS[number]
            axes.hist(p_values[number], bins=np.linspace(0, 1, 21), weights=weights, label=f"N = {number}", **style)
        axes.set_title(f"{setting}, epsilon {step:g}")
        axes.set_xlabel("p-value")
    figure.axes[0].set_ylabel("share of tests")
    figure.axes[1].legend(frameon=False)
