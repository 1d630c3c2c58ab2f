"""Shared by the families: registration of measures, training examples, outputs, margins, and caches of results."""
