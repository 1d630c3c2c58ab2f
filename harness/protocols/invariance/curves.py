"""The program that runs a network on perturbed training examples, in a process of its own.

A question (a request to the program) has these keys: the directories `model` and `data`; `perturbations`, a list of
results of `ChosenMagnitudes.question`; the numbers `n_examples`, `seed` and `repetitions`; `timed`, the numbers of
examples for which a curve is computed once more and timed; and the file `target`, to which the results are written.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from timeit import timeit
from typing import Any

import numpy as np
from numpy.typing import NDArray

import baselines
from baselines.core.subject import Subject
from baselines.perturbation_response.invariance import invariance_responses
from baselines.perturbation_response.mixing import mixup_responses
from harness.processes.models import Answer, Question, faults_of_the_model, of_models
from harness.protocols.files import write_part
from harness.worker.runtimes import Runtime

TIMED = 10**6  #: added to the seed where only time is measured, so that no draw comes from the cache

Respond = Callable[[int, int], NDArray[np.bool_]]


@faults_of_the_model()  # of a measure, too: it may not suit the model
def answer(runtime: Runtime, question: Question) -> Answer:
    """Write the results of a model to the file `target`: three kinds of arrays, for each perturbation NAME.

    - NAME.R, for each repetition R: whether each example is classified correctly, bool (n_examples, n_magnitudes).
    - NAME.subset, not for mixtures: the error on part of the training images, each perturbed with a random magnitude.
    - NAME.seconds: the seconds to compute a curve, for each number of examples in `timed`.
    """
    model = runtime.load_model(Path(question["model"]))
    dataset = runtime.load_dataset(Path(question["data"]))
    subject = Subject(model, dataset)
    arrays: dict[str, Any] = {}
    for perturbation in question["perturbations"]:
        name, seed = perturbation["name"], question["seed"]
        respond = _response(subject, perturbation)
        is_mixture = perturbation["is_mixture"]
        for repetition in range(question["repetitions"] if is_mixture else 1):  # only mixtures are random
            arrays[f"{name}.{repetition}"] = respond(question["n_examples"], seed + repetition)
        if not is_mixture:
            error = baselines.load(f"augmented_subset_error_{name}")
            bounds = {bound: perturbation[bound] for bound in ("low", "high")}
            arrays[f"{name}.subset"] = error(model, dataset, seed=seed, **bounds)
        times = [timeit(partial(respond, n, seed + TIMED), number=1) for n in question["timed"]]
        arrays[f"{name}.seconds"] = np.array(times)
    write_part(Path(question["target"]), **arrays)
    return {}


def _response(subject: Subject, perturbation: dict[str, Any]) -> Respond:
    name, magnitudes = perturbation["name"], perturbation["magnitudes"]
    if perturbation["is_mixture"]:
        kind, layer = name.split("_l")
        return lambda n, seed: mixup_responses(subject, kind, int(layer), len(magnitudes), n, seed)[1]
    return lambda n, seed: invariance_responses(subject, name, tuple(magnitudes), n, seed)


prepare = of_models(answer)
