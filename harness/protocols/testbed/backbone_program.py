"""The program that probes backbones.

A question names a backbone, `{"model": DIRECTORY}` in canonical form or `{"application": NAME, "weights": ...}` of
keras.applications, and the directory of the images, `{"images": DIRECTORY}` with train_inputs.npy. With `"check":
true` the answer is whether it can be probed, `{"size": N}`. Otherwise there are also train_labels.npy, test_labels.npy
and the numbers `"n_classes"`, `"tests"` are files of test images, and the counts are written to the file `"counts"`.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.hints import did_you_mean
from harness.processes import Answer, Question, batch_size, faults_of_the_model, of_models
from harness.protocols.testbed.probe import probe
from harness.worker.runtimes import Runtime

#: Images on which it is checked that features differ.
CHECKED = 64


class Extractor(NamedTuple):
    """The frozen part of a backbone."""

    model: Any  #: gives the input of the last layer with weights
    size: int  #: number of weights of the whole backbone
    prepare: Callable[[NDArray[np.float32]], Any]  #: turns images in [0, 1] into the model's input


def answer(runtime: Runtime, question: Question) -> Answer:
    """Check a backbone, or probe it."""
    with faults_of_the_model():
        extractor = _application(runtime, question) if "application" in question else _of_task(runtime, question)
    images = Path(question["images"])
    train = np.load(images / "train_inputs.npy", mmap_mode="r")
    if question.get("check"):
        _features(extractor, train[:CHECKED])
        return {"size": extractor.size}
    train_labels, test_labels = (np.load(images / f"{part}_labels.npy") for part in ("train", "test"))
    tests = [_features(extractor, np.load(file, mmap_mode="r")) for file in question["tests"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a probe that has not converged is reported as such
        counts, converged = probe(_features(extractor, train), train_labels, tests, test_labels, question["n_classes"])
    np.savez(question["counts"], counts=counts, converged=converged)
    return {}


def _of_task(runtime: Runtime, question: Question) -> Extractor:
    model = runtime.load_model(Path(question["model"]))
    return _without_last_layer(runtime, model, lambda images: images)


def _application(runtime: Runtime, question: Question) -> Extractor:
    """Build a network of keras.applications."""
    name, applications = question["application"], runtime.keras.applications
    build = getattr(applications, name, None)
    modules = [module for module in vars(applications).values() if hasattr(module, "preprocess_input")]
    home = next((module for module in modules if hasattr(module, name)), None)
    if build is None or home is None or not callable(build):
        known = {other for module in modules for other in vars(module) if other[0].isupper()}
        hint = did_you_mean(name, known)
        raise UserError(f"no such network in keras.applications{f'; {hint}' if hint else ''}")
    runtime.seed(0)  # random weights are the same every time
    try:
        model = build(weights=question["weights"])
    except Exception as error:  # Keras raises plain Exception for downloads
        reason = str(error).strip().split("\n")[0]
        raise UserError(f"its weights are neither in Keras' cache nor to be downloaded: {reason}") from error
    side = model.input_shape[1:3]

    def prepare(images: NDArray[np.float32]) -> Any:
        resized = runtime.keras.ops.image.resize(images, side, antialias=True)
        return home.preprocess_input(255 * np.asarray(runtime.keras.ops.convert_to_numpy(resized)))

    return _without_last_layer(runtime, model, prepare)


def _without_last_layer(runtime: Runtime, model: Any, prepare: Callable[[NDArray[np.float32]], Any]) -> Extractor:
    """Cut a model before its last layer with weights, which must be dense and take a vector."""
    last = [layer for layer in model.layers if layer.weights][-1]
    kind = type(last).__name__
    if kind != "Dense":
        raise UserError(f"its last layer with weights is {kind}, not a dense one on a vector of features")
    try:
        features = last.input
    except (AttributeError, ValueError) as error:
        raise UserError("its last layer with weights is called more than once") from error
    if isinstance(features, list) or len(features.shape) != 2:
        raise UserError("the input of its last layer with weights is not a vector")
    return Extractor(runtime.keras.Model(model.inputs, features), model.count_params(), prepare)


def _features(extractor: Extractor, images: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return features (n, n_features); raises `UserError` if they are useless."""
    with faults_of_the_model():
        features = np.concatenate(list(_batches(extractor, images))).astype(np.float64)
    if not np.isfinite(features).all():
        raise UserError("its features are not finite")
    if not np.ptp(features, axis=0).any():
        raise UserError("its features are the same for every image")
    return features


def _batches(extractor: Extractor, images: NDArray[np.float32]) -> Iterator[NDArray[Any]]:
    size = batch_size(tuple(extractor.model.input_shape[1:]))
    for start in range(0, len(images), size):
        batch = extractor.prepare(np.asarray(images[start : start + size]))
        yield np.asarray(extractor.model.predict_on_batch(batch))


prepare = of_models(answer)
