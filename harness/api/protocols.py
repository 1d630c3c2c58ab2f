"""The functions `pgdl.overfit` and `invariance`: evaluation protocols that run the networks of a task."""

from collections.abc import Sequence
from pathlib import Path

from harness.api.progress import SILENT, Progress
from harness.names import as_names
from harness.protocols.invariance.evaluate import InvarianceSettings, PerturbedAccuracies, evaluate
from harness.protocols.invariance.perturbations import choose
from harness.protocols.overfit.report import OverfitResult
from harness.protocols.overfit.run import detect_overfitting
from harness.protocols.overfit.settings import Edges, Generator, OverfitSettings
from harness.protocols.subject import Split, read_subject
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold
from harness.task.selection import ModelSelection


def overfit(
    task_name: str,
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    models: ModelSelection = None,
    radii: Sequence[int] = (),
    split: Split = "test",
    generator: str = Generator.STRONGEST.value,
    edges: str = Edges.BLACK.value,
    withhold: str = Withhold.AUTO.value,
    progress: Progress = SILENT,
) -> OverfitResult:
    """Test whether models have been fitted to their task's test set: one by one, by architecture, and all together.

    Results of finished models are kept in the cache. A task whose results are withheld is refused.

    Args:
        radii: largest shifts in pixels (epsilon), ascending; empty: 1 to 5, as far as the images allow.
        split: the examples to test, `test` or `train`.
        generator: which shift of a correctly classified image to use if the model errs on several: the shift with the
            largest margin (`strongest`), or the smallest shift (`nearest`).
        edges: filling of the edge that a shift uncovers: `black`, or `wrap` for the pixels pushed out on the other
            side.

    Raises:
        UserError: no such task, model or data, a radius is too large, or no framework is installed.
    """
    settings = OverfitSettings(tuple(radii), split, Generator(generator), Edges(edges))
    subject = read_subject(Path(tasks_dir), task_name, models, Withhold(withhold))
    with progress.steps("models", len(subject.models)) as step:
        return detect_overfitting(subject, settings, step)


def invariance(
    task_name: str,
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    models: ModelSelection = None,
    perturbations: Sequence[str] = (),
    ranges: Sequence[str] = (),
    n_examples: int = 2048,
    given: Sequence[str] = (),
    least_accuracy: float = 0.8,
    sensitivity: bool = False,
    seed: int = 0,
    withhold: str = Withhold.AUTO.value,
    progress: Progress = SILENT,
) -> PerturbedAccuracies:
    """Measure the accuracy of a task's networks on training data that are perturbed more and more.

    Results of finished models are kept in the cache. A task whose results are withheld is refused.

    Args:
        perturbations: names of perturbations; empty: all perturbations of inputs, none of the first hidden layer.
        ranges: ranges of perturbations of images, as in `rotation=-90..90`; default: those of Schiff et al. (2021).
        n_examples: number of training examples behind each curve of accuracies.
        given: hyperparameters to condition on; empty: all that vary between models, except `augmentation_level`.
        least_accuracy: models with a lower training accuracy, from 0 to 1, are not compared.
        sensitivity: also compute the scores on random parts of the data.
        seed: seed of the draws of examples, of their partners in mixtures, and of magnitudes.

    Raises:
        UserError: no such task, model or perturbation, TensorFlow is missing, or the models cannot be compared.
    """
    chosen = choose(as_names(perturbations), as_names(ranges))
    settings = InvarianceSettings(chosen, n_examples, as_names(given), least_accuracy, sensitivity, seed)
    subject = read_subject(Path(tasks_dir), task_name, models, Withhold(withhold))
    with progress.steps("models", len(subject.models)) as step:
        return evaluate(subject, settings, step)
