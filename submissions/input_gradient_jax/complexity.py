"""The measure of ../input_gradient, in JAX."""

import jax
import jax.numpy as jnp


def complexity(model, dataset):
    """Return the logarithm of the mean norm of the gradient of the loss with respect to the input.

    If the loss hardly changes around the training examples, the network should classify similar examples correctly,
    too.
    """

    def total_loss(inputs, labels):
        log_probabilities = jax.nn.log_softmax(model.logits(inputs))
        # With respect to one input, the gradient of the sum (not the mean) is the gradient of that example's loss.
        return -jnp.sum(jnp.take_along_axis(log_probabilities, labels[:, None], axis=1))

    @jax.jit  # compiled once for each size of a batch
    def norms(inputs, labels):
        gradients = jax.grad(total_loss)(inputs, labels)
        return jnp.linalg.norm(gradients.reshape(len(inputs), -1), axis=1)

    found = jnp.concatenate([norms(inputs, labels) for inputs, labels in dataset[:2048].batches(256)])
    # On a training set that is fitted well, gradients are tiny, and differ between models by orders of magnitude.
    return float(jnp.log(jnp.mean(found) + 1e-30))
