"""Competitions on Codabench: the bundle, the two programs that the platform runs, and what comes back."""

#: The modules that other rooms use.
MODULES = ("bundle", "competition", "downloads", "ingestion", "organising", "scoring_program")
