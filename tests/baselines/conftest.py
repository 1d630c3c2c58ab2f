import pytest
from measure_values import DEMO, read_dataset, read_model


@pytest.fixture(scope="session")
def demo_data():
    return read_dataset(DEMO / "dataset_1" / "train")


@pytest.fixture(scope="module")
def subject(demo_data):
    """A trained network, and its training images."""
    return read_model(DEMO / "model_21"), demo_data
