"""The linear probe: logistic regression on the features of a frozen backbone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float64]
Labels = NDArray[np.int32]

#: Most iterations of the solver; features are standardised, so that few suffice.
ITERATIONS = 2000


def probe(
    train: Features, train_labels: Labels, tests: Sequence[Features], test_labels: Labels, n_classes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Fit a probe for each number of classes on clean training images, and count its decisions on test images.

    The probe is multinomial logistic regression with an L2 penalty (scikit-learn's, C = 1) on standardised features;
    it converges to the one minimum, so it needs no seed.

    Args:
        train: features of the training images, (n_train, n_features).
        train_labels: their classes, from 0.
        tests: features of the test images, (n_test, n_features), for each SSIM.
        test_labels: their classes.
        n_classes: numbers of classes, ascending; each probe knows the first ones.

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
        with threadpool_limits(1):  # the order of sums, too, is always the same; small products gain nothing by threads
            classifier.fit(scaler.transform(train[fitted]), train_labels[fitted])
        converged[level] = classifier.n_iter_.max() < ITERATIONS
        for position, features in enumerate(tests):
            decisions = classifier.predict(scaler.transform(features[tested]))
            counts[level, position, :number, :number] = confusion_matrix(
                test_labels[tested], decisions, labels=np.arange(number)
            )
    return counts, converged
