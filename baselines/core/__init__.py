"""Code that all families of measures share: registration, training examples, outputs, margins, a cache of results."""
