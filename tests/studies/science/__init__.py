"""What holds of the papers' claims, tried on corpora that are trained anew: `make science` writes docs/science.md."""
