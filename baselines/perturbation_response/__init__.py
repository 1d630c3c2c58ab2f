"""The whole curve of the training accuracy against the strength of a perturbation, in one number.

Examples are mixed with others of the same or another class, at the input or behind the first hidden layer; or images
are rotated, shifted or changed in colour (Schiff et al. 2021, arXiv 2106.04765). A network whose accuracy falls late
is expected to generalize. The hidden layer ends behind its activation, since mixing behind linear layers is mixing
inputs. If fewer examples exist than mixtures were requested, each is mixed several times. Between two classes
there is no right answer near one half. Robustness to rotation or shift predicts the gap only where the task itself is
indifferent to them, which digits are not. The Pal-score is free of scale: a network that is equally wrong at every
strength scores like a perfect one. Ranges to both sides weigh the negative side more (`symmetric=True` does not).
"""
