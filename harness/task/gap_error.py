"""How far the gaps of a task may be off because a test set has finitely many examples."""

import math
import statistics
from dataclasses import dataclass

from harness.format.reference import Reference


@dataclass(frozen=True)
class GapError:
    """The error of the gaps that comes from the choice of test examples; train accuracies are of all training examples.

    Attributes:
        n_test: examples of the test set.
        standard_error: of a model's gap, root mean square over models.
        share: part of the variance of the gaps that it makes up, 0 to 1; None if all gaps are one number.
    """

    n_test: int
    standard_error: float
    share: float | None


def gap_error(n_test: int, reference: Reference) -> GapError:
    """Return the error of a task's gaps, from the binomial distribution of accuracies on `n_test` examples."""
    variance = statistics.mean(accuracy * (1 - accuracy) / n_test for accuracy in reference.test_accuracy.values())
    of_gaps = statistics.pvariance(reference.gaps.values())
    return GapError(n_test, math.sqrt(variance), min(variance / of_gaps, 1.0) if of_gaps else None)
