"""Gradients of the loss of each example by the input, compiled and vectorized by JAX."""

import jax

RUNTIME = "jax"
EXPECT = ("OK",)
VALUE = 1.0


def complexity(model, dataset):
    def loss(sample, label):
        return -jax.nn.log_softmax(model(sample[None])[0])[label]

    gradients = jax.jit(jax.vmap(jax.grad(loss)))(*next(dataset.batches(8)))
    return float(gradients.shape == dataset[:8].inputs.shape)
