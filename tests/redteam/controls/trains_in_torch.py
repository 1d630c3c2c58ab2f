"""A step of training by Keras itself in PyTorch, on a copy of the model."""

import keras
from torch.utils.data import DataLoader

RUNTIME = "torch"
EXPECT = ("OK",)
VALUE = 1.0


def complexity(model, dataset):
    copy = keras.models.clone_model(model)
    copy.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = copy.fit(DataLoader(dataset, batch_size=8), epochs=1, verbose=0)
    return float(history.history["loss"][0] > 0)
