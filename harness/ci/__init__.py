"""Evaluates the submissions that a change of a git repository touches, and reports the results. Trusts no change."""

#: Modules for other rooms.
MODULES = ("annotations", "boards", "change", "comment", "git", "reading", "report", "results", "rules")
