"""The claims: each paper has a file, which registers its claims when it is imported."""

from tests.studies.science.claims import activation, competition, curves, overfitting, testbed
from tests.studies.science.finding import CLAIMS

__all__ = ["CLAIMS", "activation", "competition", "curves", "overfitting", "testbed"]
