"""Logits of a network on training examples, cached for all measures; losses and margins of logits."""

import numpy as np

from baselines.core.sample import Array, Sample
from baselines.core.subject import Subject, shared


def logits(subject: Subject, n_samples: int, seed: int) -> tuple[Sample, Array]:
    """Return a sample of n = min(n_samples, m) of the m training examples, and its logits (n, classes), float32."""
    return _logits(subject, min(n_samples, len(subject.examples)), seed)


@shared
def _logits(subject: Subject, n_samples: int, seed: int) -> tuple[Sample, Array]:
    sample = subject.sample(n_samples, seed)
    return sample, subject.network.outputs(sample.inputs)[0]


def folded_logits(subject: Subject, n_samples: int, seed: int) -> Array:
    """Return logits (n, classes), float32, of the network with normalization folded, for the sample of `logits`."""
    return _compiled_logits(subject, min(n_samples, len(subject.examples)), seed, folded=subject.is_changed_by_folding)


def trained_logits(subject: Subject, n_samples: int, seed: int) -> Array:
    """Return logits (n, classes), float32, of the network as trained, for the same sample as the function `logits`.

    The same compiled function computes logits with perturbed weights, so that both have the same rounding errors.
    """
    return _compiled_logits(subject, min(n_samples, len(subject.examples)), seed, folded=False)


@shared
def _compiled_logits(subject: Subject, n_samples: int, seed: int, *, folded: bool) -> Array:
    return subject.seen(folded=folded).outputs(subject.sample(n_samples, seed).inputs, often=True)[0]


def log_probabilities(answers: Array) -> Array:
    """Return the logarithms (n, classes), float64, of the softmax of logits (n, classes)."""
    from scipy.special import log_softmax  # here, so that listing the measures is fast

    found: Array = log_softmax(answers.astype(np.float64), axis=1)
    return found


def cross_entropies(answers: Array, labels: Array) -> Array:
    """Return cross-entropies (n,), float64, in nats, of logits (n, classes); even tiny values are accurate."""
    from scipy.special import logsumexp  # here, so that listing the measures is fast

    rows, others = np.arange(len(labels)), answers.astype(np.float64)
    others[rows, labels] = -np.inf
    found: Array = np.logaddexp(0, logsumexp(others, axis=1) - answers[rows, labels])
    return found


def loss(answers: Array, labels: Array) -> float:
    """Return the mean cross-entropy in nats of logits (n, classes)."""
    return float(cross_entropies(answers, labels).mean())


def margins(answers: Array, labels: Array) -> Array:
    """Return margins (n,), float64: the logit of the true class minus the largest other logit."""
    rows = np.arange(len(labels))
    others = answers.astype(np.float64)
    true = others[rows, labels]
    others[rows, labels] = -np.inf
    found: Array = true - others.max(axis=1)
    return found


def accuracy(answers: Array, labels: Array) -> float:
    """Return the fraction of examples whose true class has the largest of the logits `answers` (n, classes)."""
    return float(np.mean(answers.argmax(axis=1) == labels))
