"""Evaluates the submissions that a change of a repository touches, and reports it; trusts nothing of the change."""
