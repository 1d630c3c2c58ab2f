"""The program that computes responses to perturbations.

A question names a model, its training data, perturbations with their magnitudes, and the
file for the answer's arrays, see `answer`. The library's measures do the work, and need TensorFlow.
"""

import time
from collections.abc import Callable
from pathlib import Path
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

#: Added to the seed of a measurement of time, so that no cached draw is reused.
TIMED = 10**6

Respond = Callable[[int, int], NDArray[np.bool_]]


@faults_of_the_model()  # also errors of measures, which do not suit every model
def answer(runtime: Runtime, question: Question) -> Answer:
    """Write the responses of a model to a file.

    Its arrays: for each perturbation and repetition NAME.R, whether the model is right, bool (n_examples,
    n_magnitudes); for changes of images NAME.subset, the error on randomly changed images of a part of the training
    set; and NAME.seconds, the time of a curve for each timed number of examples.
    """
    model = runtime.load_model(Path(question["model"]))
    dataset = runtime.load_dataset(Path(question["data"]))
    subject = Subject(model, dataset)
    arrays: dict[str, Any] = {}
    for perturbation in question["perturbations"]:
        name, seed = perturbation["name"], question["seed"]
        respond = _response(subject, perturbation)
        is_mixture = perturbation["is_mixture"]
        for repetition in range(question["repetitions"] if is_mixture else 1):  # only mixtures draw partners
            arrays[f"{name}.{repetition}"] = respond(question["n_examples"], seed + repetition)
        if not is_mixture:
            error = baselines.load(f"augmented_subset_error_{name}")
            bounds = {bound: perturbation[bound] for bound in ("low", "high")}
            arrays[f"{name}.subset"] = error(model, dataset, seed=seed, **bounds)
        arrays[f"{name}.seconds"] = np.array([_seconds(respond, n, seed + TIMED) for n in question["timed"]])
    write_part(Path(question["target"]), **arrays)
    return {}


def _response(subject: Subject, perturbation: dict[str, Any]) -> Respond:
    name, magnitudes = perturbation["name"], perturbation["magnitudes"]
    if perturbation["is_mixture"]:
        kind, layer = name.split("_l")
        return lambda n, seed: mixup_responses(subject, kind, int(layer), len(magnitudes), n, seed)[1]
    return lambda n, seed: invariance_responses(subject, name, tuple(magnitudes), n, seed)


def _seconds(respond: Respond, n_examples: int, seed: int) -> float:
    started = time.perf_counter()
    respond(n_examples, seed)
    return time.perf_counter() - started


prepare = of_models(answer)
