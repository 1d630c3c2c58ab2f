"""The claims, a file for each paper, which registers them on import."""

from tests.studies.science.claims import activation, competition, curves, overfitting, testbed
from tests.studies.science.finding import CLAIMS

__all__ = ["CLAIMS", "activation", "competition", "curves", "overfitting", "testbed"]
