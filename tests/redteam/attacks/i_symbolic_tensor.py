"""Returns the model's symbolic output, which has no value."""

EXPECT = ("BAD_VALUE", "EXCEPTION")


def complexity(model, dataset):
    return model.outputs[0]
