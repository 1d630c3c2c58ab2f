"""Reads a competition task from disk and checks everything about it before anything runs."""
