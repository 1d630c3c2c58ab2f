"""Evaluates the submissions that a change of a repository touches, and reports it; trusts nothing of the change."""

#: Modules for other rooms.
MODULES = ("annotations", "boards", "change", "comment", "git", "reading", "report", "results", "rules")
