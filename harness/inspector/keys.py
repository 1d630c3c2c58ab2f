"""The names of the file `metadata`, and its known keys."""

FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")

#: Keys with free text as values.
TEXTS = ("name", "team", "description", "paper")

#: Keys with a choice of values.
CHOICES = {"runtime": ("tensorflow", "keras2", "jax", "torch"), "keras": ("2", "3"), "deterministic": ("true", "false")}

KEYS = (*TEXTS, *CHOICES)
