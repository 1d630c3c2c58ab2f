"""The program that evaluates a backbone: it fits linear classifiers (probes) on the features of a trained network.

A question (a request to the program) has the directory `model` of the network, and the directory `images` with
train_inputs.npy, train_labels.npy and test_labels.npy. With `"check": true`, the program only tries the network on a
few images. Otherwise the question also has `tests`, the files of test images; `n_classes`, the numbers of classes for
which a probe is fitted; `target`, the file to write; and `described`, arrays that the program adds to this file.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UserError
from harness.processes.models import Answer, Question, batch_size, faults_of_the_model, of_models
from harness.protocols.files import write_part
from harness.worker.runtimes import Runtime

CHECKED = 64  #: number of images on which a network is tried

Features = NDArray[np.float64]
Labels = NDArray[np.int32]

ITERATIONS = 2000  #: maximum number of iterations of the solver


def answer(runtime: Runtime, question: Question) -> Answer:
    """Try or evaluate a network as a backbone; raise `UserError` if its features cannot be used."""
    with faults_of_the_model():
        extractor = _without_last_layer(runtime, runtime.load_model(Path(question["model"])))
    images = Path(question["images"])
    train = np.load(images / "train_inputs.npy", mmap_mode="r")
    if question.get("check"):
        _features(extractor, train[:CHECKED])
        return {}
    train_labels, test_labels = (np.load(images / f"{part}_labels.npy") for part in ("train", "test"))
    tests = [_features(extractor, np.load(file, mmap_mode="r")) for file in question["tests"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the results say which probes have not converged
        counts, converged = probe(_features(extractor, train), train_labels, tests, test_labels, question["n_classes"])
    write_part(Path(question["target"]), counts=counts, converged=converged, **question["described"])
    return {}


def _without_last_layer(runtime: Runtime, model: Any) -> Any:
    """Return a model that computes the features: the input of the last layer with weights."""
    last = [layer for layer in model.layers if layer.weights][-1]
    kind = type(last).__name__
    if kind != "Dense":
        raise UserError(f"its last layer with weights is {kind}, not a dense layer on a vector of features")
    try:
        features = last.input
    except (AttributeError, ValueError) as error:
        raise UserError("its last layer with weights is called more than once") from error
    if isinstance(features, list) or len(features.shape) != 2:
        raise UserError("the input of its last layer with weights is not a vector")
    return runtime.keras.Model(model.inputs, features)


def _features(extractor: Any, images: NDArray[np.float32]) -> Features:
    """Return the features (n, n_features) of images; raise `UserError` if features are not finite, or all constant."""
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
    """Fit a probe for each number of classes on clean training images, and count its predictions on test images.

    A probe is multinomial logistic regression with an L2 penalty (scikit-learn, C = 1) on standardised features. It
    needs no seed, since its minimum is unique. For each K in `n_classes`, a probe is fitted and tested on classes 0 to
    K - 1.

    Features have the shape (n_images, n_features), labels (n_images,); `tests` has the features for each noise level.
    Return confusion matrices, whose rows are true classes, shape (numbers of classes, noise levels, classes, classes);
    and whether each probe has converged, shape (numbers of classes,).
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
        with threadpool_limits(1):  # a single thread sums in a fixed order, and more would not be faster
            classifier.fit(scaler.transform(train[fitted]), train_labels[fitted])
        converged[level] = classifier.n_iter_.max() < ITERATIONS
        for position, features in enumerate(tests):
            decisions = classifier.predict(scaler.transform(features[tested]))
            counts[level, position, :number, :number] = confusion_matrix(
                test_labels[tested], decisions, labels=np.arange(number)
            )
    return counts, converged


prepare = of_models(answer)
