"""A whole study of invariance: response curves, their agreement with the gaps, and the effect of fewer examples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.protocols.files import write_csv
from harness.protocols.invariance.perturbations import ChosenMagnitudes
from harness.protocols.invariance.plots import plot_curves, plot_pairs, plot_sensitivity
from harness.protocols.invariance.study import Study, run_study
from harness.protocols.invariance.table import (
    BATCH,
    REPETITIONS,
    Compared,
    InvarianceLine,
    Point,
    batch_numbers,
    compare,
    measure_sensitivity,
)
from harness.protocols.subject import StudiedTask
from scoring import GivenScore


@dataclass(frozen=True)
class Question:
    """The settings of a study."""

    perturbations: Sequence[ChosenMagnitudes]
    n_examples: int = 2048  #: number of training examples of a curve, at most all
    #: hyperparameters to condition on; empty for all that vary, except the level of augmentation
    given: Sequence[str] = ()
    least_accuracy: float = 0.8  #: models below this training accuracy are not compared
    sensitivity: bool = False  #: whether to also score random subsets of the examples
    seed: int = 0  #: draws examples, partners of mixtures and random magnitudes


@dataclass(frozen=True)
class PerturbedAccuracies:
    """The result of a study."""

    perturbations: Sequence[ChosenMagnitudes]
    study: Study  #: the curves of all models
    gaps: dict[str, float]  #: model id -> generalization gap; empty for a task without reference data
    compared: Compared | None  #: the compared models; None for a task without reference data
    lines: Sequence[InvarianceLine]  #: how well each statistic of a curve predicts the gap
    points: Sequence[Point]  #: scores of random subsets of the examples, if requested

    def write(self, directory: Path) -> list[Path]:
        """Write tables and plots into an existing directory, and return their paths. Raise `UserError` on failure."""
        written = [
            write_csv(directory / "curves.csv", CURVE, self._curve_rows()),
            write_csv(directory / "scores.csv", SCORE, self._score_rows()),
            *plot_curves(self.study, self.perturbations, self.gaps, directory / "curves"),
            *plot_pairs(self.study, self.perturbations, self.gaps, directory / "pairs"),
        ]
        if self.lines:
            written.append(write_csv(directory / "table.csv", LINE, map(_line_row, self.lines)))
        if self.points:
            written.append(write_csv(directory / "sensitivity.csv", POINT, map(_point_row, self.points)))
            written += plot_sensitivity(self.points, directory / "sensitivity")
        return written

    @property
    def content(self) -> dict[str, Any]:
        """The result as a JSON object: table -> rows, without the curves. None stands for a missing number."""
        tables = {
            "scores": (SCORE, self._score_rows()),
            "table": (LINE, map(_line_row, self.lines)),
            "sensitivity": (POINT, map(_point_row, self.points)),
        }
        return {
            name: [dict(zip(columns, (None if one == "" else one for one in row), strict=True)) for row in rows]
            for name, (columns, rows) in tables.items()
        } | {
            "given": None if self.compared is None else self.compared.given,
            "failures": {model: str(reason) for model, reason in self.study.failures.items()},
        }

    def _curve_rows(self) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = []
        for model, responses in self.study.responses.items():
            for chosen in self.perturbations:
                curve = responses.curve(chosen)
                places = zip(curve.magnitudes, *curve.cumulative, curve.accuracies, strict=True)
                rows += [(model, chosen.name, m, t, accuracy, total) for m, t, total, accuracy in places]
        return rows

    def _score_rows(self) -> list[tuple[object, ...]]:
        compared = set(self.compared.models) if self.compared else set()
        return [
            (
                model,
                chosen.name,
                *(scores.get(name, "") for name in SCORE[2:6]),
                self.gaps.get(model, ""),
                model in compared,
            )
            for model, responses in self.study.responses.items()
            for chosen in self.perturbations
            for scores in [responses.curve(chosen).scores]
        ]


CURVE = ("model", "perturbation", "magnitude", "t", "accuracy", "cumulative")
SCORE = ("model", "perturbation", "gi", "pal", "mean_error", "subset_error", "gap", "compared")
LINE = ("perturbation", "statistic", "n_models", "score", "low", "high", "kendall")
POINT = ("perturbation", "n_batches", "mean_score", "standard_deviation", "n_scores", "seconds")


def _line_row(line: InvarianceLine) -> tuple[object, ...]:
    found = line.score
    ends = (found.score, found.low, found.high) if isinstance(found, GivenScore) else ("", "", "")
    return line.perturbation, line.statistic, line.n_models, *ends, line.kendall


def _point_row(point: Point) -> tuple[object, ...]:
    return point.perturbation, point.n_batches, point.mean, point.deviation, len(point.scores), point.seconds


def evaluate(
    subject: StudiedTask, question: Question, finished: Callable[[], None] = lambda: None
) -> PerturbedAccuracies:
    """Compute the curves of the chosen models, and compare the curves with the gaps.

    `finished` is called after each model. Raise `UserError` if TensorFlow is missing, if the data do not suit a
    perturbation, or if the models cannot be compared.
    """
    reference = subject.task.reference
    names = [model.id for model in subject.models]
    if reference is not None:  # raises errors before the long work
        Compared.of(reference, names, question.given, question.least_accuracy)
    n_examples = min(question.n_examples, subject.task.data.n_samples)
    if question.sensitivity and n_examples < BATCH:
        raise UserError("--sensitivity", expected=f"at least {BATCH} training examples", found=n_examples)
    numbers = batch_numbers(n_examples) if question.sensitivity else []
    repetitions, timed = REPETITIONS if question.sensitivity else 1, [number * BATCH for number in numbers]
    study = run_study(subject, question.perturbations, n_examples, question.seed, repetitions, timed, finished)
    if reference is None or not study.responses:
        return PerturbedAccuracies(question.perturbations, study, {}, None, (), ())
    compared = Compared.of(reference, list(study.responses), question.given, question.least_accuracy)
    gaps = {model: reference.gaps[model] for model in study.responses}
    lines = compare(study, question.perturbations, compared)
    points = measure_sensitivity(study, question.perturbations, compared, numbers, question.seed)
    points = [point for point in points if len(point.scores) > 1]  # a deviation needs two scores
    return PerturbedAccuracies(question.perturbations, study, gaps, compared, lines, points)
