"""Information in the weights (IIW): how far training moved the weights, relative to how precisely the data fix them.

Source: Wang et al. 2022, PAC-Bayes information bottleneck, arXiv 2109.14509. Weights: as trained.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network import Network
from baselines.network.losses import cross_entropies

#: Memory for derivatives along a direction, as a multiple of a forward pass's memory.
PASSES = 4


@shared
def slopes_of_change(subject: Subject, n_samples: int, seed: int) -> Array:
    """Return <w - w0, g_i> (n,): w the weights, initially w0, g_i the gradient of example i's cross-entropy."""
    network, start, sample = subject.network, subject.nodes_at_start.nodes, subject.sample(n_samples, seed)
    before = [array for place in network.trained_nodes for array in start[place].weights[: start[place].n_trained]]
    changes = [now.numpy() - np.float32(array) for now, array in zip(network.variables, before, strict=True)]
    run = functools.partial(_slopes, network, changes)
    arrays, size = [sample.inputs, sample.labels], network.batch_size_of(PASSES)
    parts = network.in_batches("slopes of the change", run, arrays, size=size)
    found: Array = np.concatenate(list(parts)).astype(np.float64)
    return found


def _slopes(network: Network, changes: Sequence[Array], images: Any, labels: Any) -> Any:
    variables = network.variables
    with tf.autodiff.ForwardAccumulator(variables, [tf.constant(change) for change in changes]) as forward:
        losses = cross_entropies(network.logits(images), labels)
    return forward.jvp(losses, unconnected_gradients="zero")


@measure(Need.LABELS, Need.GRADIENTS, Need.INITIAL_WEIGHTS, log=True)
def information_in_weights(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Information in the weights: squared change of the weights by training in the metric of the Fisher matrix.

    Formula: m E <w - w0, g_i>^2, w the weights, initially w0, g_i the gradient of example i's cross-entropy, m
    examples. Range: [0, inf).

    Approximate IIW: m (w - w0)' F (w - w0) with the empirical Fisher matrix F. This is twice the relative entropy
    between Gaussians around w and around w0, both with the covariance F^-1 / m. Weights trained on bootstrap samples
    have about this covariance. The authors' prior is trained on held-out data; here its mean is w0. For each array of
    weights, the authors' code squares a mean over batches, and this mean vanishes at a stationary point. The code
    leaves out biases and the factor m.

    Args:
        n_samples: training examples on which F is estimated; m is the size of the whole training set.
    """
    found = slopes_of_change(subject, n_samples, seed)
    return subject.examples.population * float(np.mean(found**2))
