"""The names of a submission's file of metadata, and the keys that the harness knows."""

#: Names of the file; the first file that exists counts.
FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")

#: Keys with free text as values.
TEXTS = ("name", "team", "description", "paper")

#: Keys with a choice of values -> the values.
CHOICES = {"runtime": ("tensorflow", "keras2", "jax", "torch"), "keras": ("2", "3"), "deterministic": ("true", "false")}

KEYS = (*TEXTS, *CHOICES)
