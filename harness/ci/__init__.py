"""Evaluates the submissions that a change of a repository touches, and reports it; trusts nothing of the change."""

#: The modules that other rooms use.
MODULES = ("annotations", "boards", "change", "comment", "git", "reading", "report", "results", "rules")
