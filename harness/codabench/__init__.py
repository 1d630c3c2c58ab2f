"""Competitions on the platform Codabench: the bundle to upload, the two programs that it runs, and the results."""

#: Modules of this package that other packages may import.
MODULES = ("bundle", "competition", "downloads", "ingestion", "organising", "scoring_program")
