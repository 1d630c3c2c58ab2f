"""Competitions on Codabench: the bundle, the two programs that the platform runs, and the results that come back."""

#: Modules for other rooms.
MODULES = ("bundle", "competition", "downloads", "ingestion", "organising", "scoring_program")
