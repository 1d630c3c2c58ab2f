"""The claims, one file for each paper; importing them registers them."""

from tests.studies.science.claims import activation, competition, curves, overfitting, testbed
from tests.studies.science.finding import CLAIMS

__all__ = ["CLAIMS", "activation", "competition", "curves", "overfitting", "testbed"]
