"""Evaluates the submissions that a change of a git repository touches, and reports the results. Trusts no change."""

#: Modules that other packages of `harness` may import.
MODULES = ("annotations", "boards", "change", "comment", "git", "reading", "report", "results", "rules")
