import pytest
from measure_values import DEMO, read_dataset, read_model


@pytest.fixture
def demo_model():
    return read_model(DEMO / "model_21")


@pytest.fixture(scope="session")
def demo_data():
    return read_dataset(DEMO / "dataset_1" / "train")
