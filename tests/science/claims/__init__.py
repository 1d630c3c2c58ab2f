"""The claims, one file for each paper; importing them registers them."""

from tests.science.claims import activation, competition, curves, overfitting, testbed

__all__ = ["activation", "competition", "curves", "overfitting", "testbed"]
