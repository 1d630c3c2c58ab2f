"""Sum of the logarithms of the layers' squared Frobenius norms: a measure that reads the weights alone."""

import math


def complexity(model, dataset):
    """Larger weights, larger predicted gap.

    The product of the layers' norms bounds how much the network can amplify its input. It overflows in deep
    networks, so its logarithm is summed; a measure is only compared with itself, so nothing is lost.
    """
    total = 0.0
    for layer in model.layers:
        kernel = getattr(layer, "kernel", None)  # dense and convolutional layers have one; pooling has none
        if kernel is not None:
            # float64, and at least the smallest number: a layer of zeros must not make the measure infinite,
            # for a value that is not finite counts as a failed call.
            squared = float((kernel.numpy().astype("float64") ** 2).sum())
            total += math.log(max(squared, 1e-300))
    return total
