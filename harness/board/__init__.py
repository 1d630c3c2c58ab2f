"""Turns records and reference data into scores and boards; all computation is in `scoring`."""
