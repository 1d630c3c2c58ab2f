"""Tests papers' claims on newly trained corpora: `make science` writes docs/science.md."""
