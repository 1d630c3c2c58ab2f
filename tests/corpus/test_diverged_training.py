"""A network whose loss or weights are no numbers any more is not trained, whatever hides that."""

import numpy as np
import pytest

from harness.corpus.families import vgg
from harness.corpus.network import training_network
from harness.corpus.recipe import Stop, Training
from harness.corpus.training import DivergedError, train


@pytest.mark.filterwarnings("ignore:.*shuffle=True:UserWarning")
def test_weights_that_are_no_numbers_are_seen_though_pooling_hides_them() -> None:
    settings = Training(learning_rate=0.1, batch_size=5, max_epochs=1, stop=Stop(cross_entropy=0.1), seed=1)
    model = training_network(vgg(2, n_blocks=1, n_filters=4), (8, 8, 1), 0.0, "glorot_uniform")
    for weights in model.layers[1].weights:  # those of the first convolution
        weights.assign(np.full(weights.shape, np.nan))
    inputs, labels = np.ones((10, 8, 8, 1), np.float32), np.arange(10, dtype=np.int32) % 2
    seen: list[object] = []
    with pytest.raises(DivergedError, match="weights are NaN or infinite after epoch 1"):
        train(model, inputs, labels, settings, None, seen.append)
    assert seen == []
