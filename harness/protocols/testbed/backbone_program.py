"""The program that probes backbones.

A question names a backbone, `{"model": DIRECTORY}` in canonical form, and the directory of the images, `{"images":
DIRECTORY}` with train_inputs.npy. With `"check": true` the answer is whether it can be probed, `{"size": N}`. Otherwise
there are also train_labels.npy, test_labels.npy and the numbers `"n_classes"`, `"tests"` are files of test images, and
the counts are written to the file `"counts"`.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.processes.models import Answer, Question, batch_size, faults_of_the_model, of_models
from harness.worker.runtimes import Runtime

#: Number of images for the check that features differ.
CHECKED = 64

Features = NDArray[np.float64]
Labels = NDArray[np.int32]

#: Maximum number of iterations of the solver; features are standardised, so that few suffice.
ITERATIONS = 2000


def answer(runtime: Runtime, question: Question) -> Answer:
    """Check a backbone, or probe it."""
    with faults_of_the_model():
        backbone = runtime.load_model(Path(question["model"]))
        size, extractor = backbone.count_params(), _without_last_layer(runtime, backbone)
    images = Path(question["images"])
    train = np.load(images / "train_inputs.npy", mmap_mode="r")
    if question.get("check"):
        _features(extractor, train[:CHECKED])
        return {"size": size}
    train_labels, test_labels = (np.load(images / f"{part}_labels.npy") for part in ("train", "test"))
    tests = [_features(extractor, np.load(file, mmap_mode="r")) for file in question["tests"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report names a probe that has not converged
        counts, converged = probe(_features(extractor, train), train_labels, tests, test_labels, question["n_classes"])
    np.savez(question["counts"], counts=counts, converged=converged)
    return {}


def _without_last_layer(runtime: Runtime, model: Any) -> Any:
    """Return a model whose output is the input of the last layer with weights, which must be dense, on a vector."""
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
    return runtime.keras.Model(model.inputs, features)


def _features(extractor: Any, images: NDArray[np.float32]) -> Features:
    """Return features (n, n_features); raises `UserError` if they are useless."""
    size = batch_size(tuple(extractor.input_shape[1:]))
    batches = (np.asarray(images[start : start + size]) for start in range(0, len(images), size))
    with faults_of_the_model():
        features = np.concatenate([np.asarray(extractor.predict_on_batch(one)) for one in batches]).astype(np.float64)
    if not np.isfinite(features).all():
        raise UserError("its features are not finite")
    if not np.ptp(features, axis=0).any():
        raise UserError("its features are the same for every image")
    return features


def probe(
    train: Features, train_labels: Labels, tests: Sequence[Features], test_labels: Labels, n_classes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Fit a probe for each number of classes on clean training images, and count its decisions on test images.

    The probe is multinomial logistic regression with an L2 penalty (scikit-learn's, C = 1) on standardised features;
    it converges to the unique minimum, so it needs no seed.

    Args:
        train: features of the training images, (n_train, n_features).
        train_labels: their classes, from 0.
        tests: features of the test images, (n_test, n_features), for each SSIM.
        test_labels: their classes.
        n_classes: numbers of classes, ascending; each probe knows the first classes.

    Returns:
        Counts of true class and decision, (numbers of classes, SSIM, classes, classes), and whether each probe has
        converged.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import confusion_matrix
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    most = n_classes[-1]
    counts = np.zeros((len(n_classes), len(tests), most, most), np.int64)
    converged = np.zeros(len(n_classes), np.bool_)
    for level, number in enumerate(n_classes):
        fitted, tested = train_labels < number, test_labels < number
        scaler = StandardScaler().fit(train[fitted])
        classifier = LogisticRegression(max_iter=ITERATIONS)
        with threadpool_limits(1):  # for a fixed order of sums; small products gain nothing by threads
            classifier.fit(scaler.transform(train[fitted]), train_labels[fitted])
        converged[level] = classifier.n_iter_.max() < ITERATIONS
        for position, features in enumerate(tests):
            decisions = classifier.predict(scaler.transform(features[tested]))
            counts[level, position, :number, :number] = confusion_matrix(
                test_labels[tested], decisions, labels=np.arange(number)
            )
    return counts, converged


prepare = of_models(answer)
