"""Tests of the jackknife: its standard error is known for a mean, and its interval for roots of a normal score."""

import numpy as np
import pytest
from scipy.stats import norm

from scoring.jackknife import jackknife_deviations, jackknife_interval

VALUES = np.array([0.1, 0.4, 0.2, 0.9, 0.6])
WITHOUT = (VALUES.sum() - VALUES) / 4  #: the mean of all values but one


def test_the_standard_error_of_a_mean() -> None:
    """It is s / sqrt(n), as for every mean."""
    assert np.linalg.norm(jackknife_deviations(WITHOUT)) == pytest.approx(VALUES.std(ddof=1) / np.sqrt(5))


def test_an_interval_of_90_percent_that_is_symmetric_for_roots() -> None:
    score = VALUES.mean()
    half = norm.ppf(0.95) * np.linalg.norm(np.sqrt(score + jackknife_deviations(WITHOUT)) - np.sqrt(score))
    low, high = jackknife_interval(score, WITHOUT)
    assert (np.sqrt(low), np.sqrt(high)) == pytest.approx((np.sqrt(score) - half, np.sqrt(score) + half))
    assert jackknife_interval(0.0, np.array([0.0, 0.0, 0.9]))[0] == 0
    assert jackknife_interval(0.9, np.array([0.2, 0.9, 1.0]))[1] == 1
