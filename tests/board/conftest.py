import pytest
from board_examples import Known, references


@pytest.fixture(scope="session")
def single(tmp_path_factory: pytest.TempPathFactory) -> Known:
    return references(tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """Reference data of two tasks, `second` and `toy`, with the same content."""
    return references(tmp_path_factory.mktemp("reference"), "second", "toy")
