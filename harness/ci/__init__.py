"""Evaluates the submissions that a change of a repository touches, and reports it; trusts nothing of the change."""

#: Modules that other rooms may import.
MODULES = ("annotations", "boards", "change", "comment", "git", "reading", "report", "results", "rules")
