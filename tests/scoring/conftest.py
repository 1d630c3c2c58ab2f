"""Hypothesis without its deadline: the time of one example on a busy machine says nothing about the code."""

from hypothesis import settings

settings.register_profile("scoring", deadline=None)
settings.load_profile("scoring")
