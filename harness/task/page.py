"""Writes an HTML page about tasks, with plots of their generalization gaps."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from numpy.typing import NDArray

from harness.histogram import bar_range
from harness.plots import COLOUR, INK, Figure, dark_rules, styled, svg_element, ticker, use_log_scale
from harness.task.summary import GAP_COLUMNS, gap_rows, gaps_by_value, spread
from harness.task.task import Task
from harness.task.task_notes import notes_of_resolution
from harness.text import on_page


def write_page(tasks: Sequence[Task], path: Path) -> None:
    """Write a self-contained HTML page with a section for each task."""
    template = jinja2.Environment(autoescape=True, finalize=on_page).from_string(
        files("harness.task").joinpath("page.html").read_text("utf-8")
    )
    sections = [_section(task) for task in tasks]
    path.write_bytes(template.render(sections=sections, columns=GAP_COLUMNS, dark_rules=dark_rules()).encode())


def _section(task: Task) -> dict[str, Any]:
    sizes = [model.n_parameters for model in task.models]
    layers = sorted({len(model.architecture.canonical["layers"]) for model in task.models})
    samples = f"{task.data.n_samples} of shape {task.data.input_shape}, {task.models[0].n_outputs} classes"
    facts = {
        "models": str(len(task.models)),
        "training samples": samples,
        "parameters": f"{min(sizes):,} to {max(sizes):,}",
        "layers": f"{layers[0]} to {layers[-1]}" if len(layers) > 1 else str(layers[0]),
        "architectures": str(len({model.architecture.digest for model in task.models})),
    }
    if task.reference is None:
        return {"name": task.name, "facts": facts}
    gaps = np.array(list(task.reference.gaps.values()))
    facts["generalization gap"] = f"{gaps.min():.4f} to {gaps.max():.4f}, median {np.median(gaps):.4f}"
    if told := notes_of_resolution(task.reference):
        facts["resolution"] = told[0]
    plots = _plots(task, gaps, np.array(sizes))
    by_value = [asdict(one) for one in gaps_by_value(task.reference)]
    rows = gap_rows(asdict(spread(gaps.tolist())), by_value)
    return {"name": task.name, "facts": facts, "rows": rows, "plots": plots}


def _plots(task: Task, gaps: NDArray[Any], sizes: NDArray[Any]) -> dict[str, str]:
    assert task.reference is not None
    reference, grid = task.reference, task.reference.grid
    train, test = (
        [accuracies[model] for model in reference.models]
        for accuracies in (reference.train_accuracy, reference.test_accuracy)
    )

    def histogram(axes: Any) -> None:
        axes.hist(gaps, bins=min(len(gaps), 20), range=bar_range(gaps), color=COLOUR)
        axes.set(xlabel="generalization gap", ylabel="models")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5))

    def accuracies(axes: Any) -> None:
        axes.scatter(train, test, s=14, color=COLOUR)
        axes.set(xlabel="train accuracy", ylabel="test accuracy")
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5))

    def parameters(axes: Any) -> None:
        axes.scatter(sizes, gaps, s=14, color=COLOUR)
        axes.set(xlabel="parameters", ylabel="generalization gap")
        use_log_scale(axes.xaxis, ticker.EngFormatter(sep=""))

    def by_value(column: int, name: str) -> Callable[[Any], None]:
        def draw(axes: Any) -> None:
            codes = grid.codes[:, column]
            axes.scatter(codes + np.linspace(-0.15, 0.15, len(codes)), gaps, s=10, color=COLOUR, alpha=0.6)
            used, values = np.unique(codes), grid.values[name]  # some possible values may have no model
            axes.plot(used, [gaps[codes == code].mean() for code in used], "_", markersize=30, color=INK)
            axes.set(xlabel=name, ylabel="generalization gap", xlim=(-0.5, len(values) - 0.5))
            axes.set_xticks(range(len(values)), [str(value) for value in values])

        return draw

    plots: dict[str, Callable[[Any], None]] = {
        "gaps": histogram,
        "train and test accuracy": accuracies,
        "gap by number of parameters": parameters,
    }
    plots |= {f"gap by {name} (line: mean)": by_value(column, name) for column, name in enumerate(grid.names)}
    return {title: _svg(draw) for title, draw in plots.items()}


def _svg(draw: Callable[[Any], None]) -> str:
    with styled(9):
        figure = Figure(figsize=(3.6, 2.6), layout="constrained")
        draw(figure.subplots())
        return svg_element(figure)
