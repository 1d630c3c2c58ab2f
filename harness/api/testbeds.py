"""The function `pgdl.testbed`: trains classifiers on features of frozen networks, and compares errors with measures."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.api.calls import Run, begin_run, open_records, record_calls
from harness.api.chosen_measures import choose_measures
from harness.api.execution import USUAL, Execution
from harness.api.progress import SILENT, Progress
from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.names import ALL
from harness.plots import new_figure, write_pictures
from harness.protocols.files import write_csv
from harness.protocols.subject import read_subject
from harness.protocols.testbed import plots
from harness.protocols.testbed.results import STATISTICS, write_dataset
from harness.protocols.testbed.run import evaluate_task
from harness.protocols.testbed.settings import SSIM, ProbeSettings
from harness.protocols.testbed.summary import Consistency, Dimension, check_consistency, summarize
from harness.summarized import Summarized
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold
from harness.task.selection import ModelSelection
from scoring import TradeOff

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class TestbedResult(Summarized):
    """Error rates of models by size, noise and unseen classes, and the agreement of measures with these rates."""

    dataset: "xr.Dataset"  #: error rates and Cohen's kappas by model, noise, unseen classes and class
    point: TradeOff  #: the trade-off point
    dimensions: Mapping[str, Dimension]  #: means by `size`, `ssim` and `unseen`, and divergences
    consistency: Sequence[Consistency]  #: agreement of each measure with a value on every probed model, best first
    failed_calls: int  #: number of calls of measures that returned no value
    is_sandboxed: bool  #: whether the calls were isolated

    @property
    def failed(self) -> dict[str, str]:
        """Model -> the reason why it could not be probed."""
        failed: dict[str, str] = json.loads(self.dataset.attrs["failed"])
        return failed

    @property
    def summary(self) -> list[str]:
        """The trade-off point, the error and the diversity there, and the models that could not be probed."""
        point = self.point
        return [
            f"trade-off point: SSIM {point.ssim:.3f}, {100 * point.unseen:.1f} % unseen classes, "
            f"{point.size:,.0f} weights",
            f"there: mean error M_g {point.values['error_mean']:.3f} (generalization bound), "
            f"mean 1-kappa M_k {point.values['diversity_mean']:.3f} (diversity bound), objective {point.objective:.3f}",
            *(f"{model}: {reason}" for model, reason in self.failed.items()),
        ]

    @property
    def content(self) -> dict[str, Any]:
        """A JSON object: `point` (the trade-off point), the tables `marginals` and `consistency`, and `failed`."""
        marginals = [
            {"dimension": name, "value": value}
            | {one: dimension.marginals[one][at] for one in STATISTICS}
            | {"divergence": dimension.divergences[at]}
            for name, dimension in self.dimensions.items()
            for at, value in enumerate(dimension.values)
        ]
        consistency = [
            {"measure": one.measure}
            | {f"{part}: {statistic}": error for (part, statistic), error in one.errors.items()}
            | {"mean": one.mean}
            for one in self.consistency
        ]
        point = asdict(self.point)
        return {"point": point, "marginals": marginals, "consistency": consistency, "failed": self.failed}

    def write(self, directory: Path) -> list[Path]:
        """Write the dataset, tables and plots to an existing directory, and return their paths."""
        content = self.content
        tables = {name: content[name] for name in ("marginals", "consistency") if content[name]}
        written = [write_csv(directory / f"{name}.csv", rows) for name, rows in tables.items()]
        return [write_dataset(self.dataset, directory / "testbed.nc"), *written, *self._plot(directory)]

    def _plot(self, directory: Path) -> Iterator[Path]:
        with new_figure(8.0, 4.6) as figure:
            plots.draw_marginals(figure, self.dimensions, self.point)
            yield from write_pictures(figure, directory / "marginals")
        with new_figure(8.0, 2.6) as figure:
            plots.draw_divergences(figure, self.dimensions)
            yield from write_pictures(figure, directory / "divergences")


def testbed(
    task_name: str,
    data: str,
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    models: ModelSelection = None,
    ssim: Sequence[float] = SSIM,
    unseen: Sequence[int] | None = None,
    weight: float = 1.0,
    measures: Sequence[str] = (ALL,),
    results: Address | Path | str = RESULTS,
    execution: Execution = USUAL,
    progress: Progress = SILENT,
) -> TestbedResult:
    """Use the models of a task as frozen backbones of a linear probe, and test how well measures predict the errors.

    Finished backbones and calls are not computed again. The noise is drawn with the seed of `execution`.

    Args:
        data: images of seen and unseen classes: a dataset of recipes, an .npz file, or a directory.
        ssim: structural similarities of the noisy test images to the clean images, including 1.
        unseen: numbers of unseen classes, including 0; None: at most six equal steps up to all unseen classes.
        weight: weight, at least 0, of the penalty in the objective of the trade-off point (`pgdl help testbed`).
        measures: as in `compare`; empty: no measure is called.

    Raises:
        UserError: the task or the data cannot be used, or no model can be probed.
    """
    if not 0 <= weight < math.inf:
        raise UserError("weight", expected="a finite number, at least 0", found=weight)
    settings = ProbeSettings(tuple(ssim), None if unseen is None else tuple(unseen), execution.seed)
    chosen = [one.submission for one in choose_measures(measures)]
    # `begin_run` refuses impossible calls before the backbones are probed, which takes long.
    tasks = Path(tasks_dir)
    begun = begin_run(chosen, tasks, [task_name], execution, progress, scored=False) if chosen else nullcontext()
    with begun as run:
        subject = read_subject(tasks, task_name, models, Withhold(execution.withhold))
        dataset = evaluate_task(subject, data, settings, progress)
        point, dimensions = summarize(dataset, weight=weight)
        if run is None:
            return TestbedResult(dataset, point, dimensions, (), 0, is_sandboxed=True)
        consistency, failed = _check(run, dataset, results, progress)
    return TestbedResult(dataset, point, dimensions, consistency, failed, run.executor.is_sandboxed)


def _check(
    run: Run, dataset: "xr.Dataset", results: Address | Path | str, progress: Progress
) -> tuple[list[Consistency], int]:
    probed = dataset["model"].values.tolist()
    if len(probed) < 2:
        progress.warn("consistency of measures: expected at least 2 models, found 1")
        return [], 0
    (task,) = run.tasks
    run = replace(run, tasks=[replace(task, models=tuple(model for model in task.models if model.id in probed))])
    with open_records(run, results) as records:
        plan, _ = record_calls(run, records, progress)
        values: dict[str, dict[str, float]] = {submission.name: {} for submission in run.submissions}
        for row in records.newest([call.key for call in plan.calls]):
            if row.value is not None:
                values[row.submission][row.model] = row.value
    failed = {name: len(probed) - len(of) for name, of in values.items() if len(of) < len(probed)}
    for name, number in failed.items():
        missing = f"no value on {number} of {len(probed)} models"
        progress.warn(f"{name} is left out: {missing}; pgdl results lists the reasons")
    complete = {name: of for name, of in values.items() if name not in failed}
    return check_consistency(dataset, complete), sum(failed.values())
