"""Competitions on Codabench: the bundle, the two programs that the platform runs, and the results that come back."""

#: Modules that other rooms may import.
MODULES = ("bundle", "competition", "downloads", "ingestion", "organising", "scoring_program")
