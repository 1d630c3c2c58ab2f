"""Competitions on the platform Codabench: the bundle to upload, the two programs that it runs, and the results."""

#: Modules that may be imported from outside this package.
MODULES = ("bundle", "competition", "downloads", "ingestion", "organising", "scoring_program")
