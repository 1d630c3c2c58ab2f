"""A study of invariance: accuracy by magnitude of a perturbation, and how well it predicts generalization gaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError, UserErrors
from harness.protocols.files import write_csv
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.invariance.plots import plot_curves, plot_pairs, plot_sensitivity
from harness.protocols.invariance.study import Study, run_study
from harness.protocols.invariance.table import (
    BATCH,
    REPETITIONS,
    TITLES,
    Compared,
    InvarianceLine,
    Point,
    batch_numbers,
    compare,
    measure_sensitivity,
)
from harness.protocols.subject import StudiedTask
from harness.summarized import Summarized


@dataclass(frozen=True)
class InvarianceSettings:
    """The settings of a study of invariance; invalid values raise `UserError`."""

    perturbations: Sequence[ChosenMagnitudes]
    n_examples: int = 2048  #: training examples of each curve; if there are fewer, all
    #: hyperparameters to condition on; if empty, all that vary, except the level of augmentation
    given: Sequence[str] = ()
    least_accuracy: float = 0.8  #: models with a lower training accuracy are left out
    sensitivity: bool = False  #: whether scores are also computed from random subsets of the examples
    seed: int = 0  #: seed of the choice of examples, of mixtures and of random magnitudes

    def __post_init__(self) -> None:
        if self.n_examples < 2:
            raise UserError("n_examples", expected="2 or more", found=self.n_examples)
        if not 0 <= self.seed < 2**63:
            raise UserError("seed", expected="0 to 2**63 - 1", found=self.seed)


@dataclass(frozen=True, repr=False)
class PerturbedAccuracies(Summarized):
    """The result of a study of invariance."""

    study: Study  #: the curves of all models
    gaps: dict[str, float]  #: model id -> generalization gap; empty for a task without reference data
    compared: Compared | None  #: the compared models; None for a task without reference data
    lines: Sequence[InvarianceLine]  #: how well each statistic of a curve predicts the gap
    points: Sequence[Point]  #: scores from random subsets of the examples; empty if not requested

    @property
    def summary(self) -> list[str]:
        """A line for each statistic of a perturbation, then the failures."""
        n_models = len(self.study.responses)
        found = [
            f"{line.perturbation}, {TITLES[line.statistic]}: Kendall {line.kendall:.3f} over {line.n_models} models"
            for line in self.lines
        ] or [f"{chosen.name}: curves of {n_models} models" for chosen in self.study.perturbations if n_models]
        return [*found, *(f"{model}: {reason}" for model, reason in self.study.failures.items())]

    def write(self, directory: Path) -> list[Path]:
        """Write tables and plots into an existing directory; return their paths. Raise `UserError` if that fails."""
        tables = {name: rows for name, rows in self._tables().items() if rows}
        written = [write_csv(directory / f"{name}.csv", rows) for name, rows in tables.items()]
        written += plot_curves(self.study, self.gaps, directory / "curves")
        written += plot_pairs(self.study, self.gaps, directory / "pairs")
        if self.points:
            written += plot_sensitivity(self.points, directory / "sensitivity")
        return written

    @property
    def content(self) -> dict[str, Any]:
        """The result as a dictionary for JSON, without the curves; missing numbers are None."""
        return {name: rows for name, rows in self._tables().items() if name != "curves"} | {
            "given": None if self.compared is None else self.compared.given,
            "failures": dict(self.study.failures),
        }

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        curves, scores, compared = [], [], self.compared.models if self.compared else ()
        for model, responses in self.study.responses.items():
            for chosen in self.study.perturbations:
                curve, key = responses.curve(chosen), {"model": model, "perturbation": chosen.name}
                columns = zip(curve.magnitudes, *curve.cumulative, curve.accuracies, strict=True)
                curves += [
                    key | {"magnitude": magnitude, "t": t, "accuracy": accuracy, "cumulative": cumulative}
                    for magnitude, t, cumulative, accuracy in columns
                ]
                found = {name: curve.scores.get(name) for name in ("gi", "minus_pal", "mean_error", "subset_error")}
                scores.append(key | found | {"gap": self.gaps.get(model), "compared": model in compared})
        table = [
            {"perturbation": line.perturbation, "statistic": line.statistic, "n_models": line.n_models}
            | {name: getattr(line.score, name, None) for name in ("score", "low", "high")}  # None if there is no score
            | {"kendall": line.kendall}
            for line in self.lines
        ]
        sensitivity = [
            {
                "perturbation": point.perturbation, "n_batches": point.n_batches, "mean_score": point.mean,
                "standard_deviation": point.deviation, "n_scores": len(point.scores), "seconds": point.seconds,
            }
            for point in self.points
        ]  # fmt: skip
        return {"curves": curves, "scores": scores, "table": table, "sensitivity": sensitivity}


def evaluate(
    subject: StudiedTask, settings: InvarianceSettings, finished: Callable[[], None] = lambda: None
) -> PerturbedAccuracies:
    """Compute the curves of the chosen models, and compare them with the gaps. Call `finished` after each model.

    Raise `UserError` if TensorFlow is missing, the data do not suit a perturbation, or the models cannot be compared.
    """
    reference = subject.task.reference
    names = [model.id for model in subject.models]
    if reference is not None:  # now: errors must come before the long work
        Compared.of(reference, names, settings.given, settings.least_accuracy)
    n_examples = min(settings.n_examples, subject.task.data.n_samples)
    if settings.sensitivity and n_examples < BATCH:
        raise UserError("--sensitivity", expected=f"at least {BATCH} training examples", found=n_examples)
    numbers = batch_numbers(n_examples) if settings.sensitivity else []
    asked = {
        "n_examples": n_examples, "seed": settings.seed, "repetitions": REPETITIONS if settings.sensitivity else 1,
        "timed": [number * BATCH for number in numbers],
    }  # fmt: skip
    study = run_study(subject, settings.perturbations, asked, finished)
    if reference is None or not study.responses:
        return PerturbedAccuracies(study, {}, None, (), ())
    try:
        compared = Compared.of(reference, list(study.responses), settings.given, settings.least_accuracy)
    except UserError as error:  # too few models could be run
        raise UserErrors(error, *(f"{model}: {reason}" for model, reason in study.failures.items())) from error
    gaps = {model: reference.gaps[model] for model in study.responses}
    lines, points = compare(study, compared), measure_sensitivity(study, compared, numbers, settings.seed)
    points = [point for point in points if len(point.scores) > 1]  # a deviation needs two scores
    return PerturbedAccuracies(study, gaps, compared, lines, points)
