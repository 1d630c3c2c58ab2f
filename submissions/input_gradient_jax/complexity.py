"""The measure of ../input_gradient, in JAX."""

import jax
import jax.numpy as jnp


def complexity(model, dataset):
    """Return the logarithm of the mean norm of the loss' gradient with respect to the input.

    If the loss hardly changes around the training examples, the network is expected to fit similar examples as well.
    """

    def total_loss(inputs, labels):
        log_probabilities = jax.nn.log_softmax(model.logits(inputs))
        # The gradient of the sum, not the mean, with respect to an input is the gradient of this example's loss.
        return -jnp.sum(jnp.take_along_axis(log_probabilities, labels[:, None], axis=1))

    @jax.jit  # compiled once for each size of a batch
    def norms(inputs, labels):
        gradients = jax.grad(total_loss)(inputs, labels)
        return jnp.linalg.norm(gradients.reshape(len(inputs), -1), axis=1)

    found = jnp.concatenate([norms(inputs, labels) for inputs, labels in dataset[:2048].batches(256)])
    # If the training set is fitted well, gradients are tiny and differ between models by orders of magnitude.
    return float(jnp.log(jnp.mean(found) + 1e-30))
