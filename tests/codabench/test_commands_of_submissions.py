"""A submission with metadata in which the platform may find a command is not run."""

import os
import zipfile
from pathlib import Path

import pytest

from harness.api import Progress
from harness.codabench.ingestion import Places, ingest
from tests.test_plain_yaml import MERGES

ODD = "is not a file of plain YAML, of at most 65536 bytes"
COMMAND = "has a `command`, which runs outside of the sandbox"


@pytest.fixture
def places(bundled: Path, folder: Path) -> Places:
    """The directories of the ingestion program."""
    places = Places(*(folder / name for name in ("program", "input_data", "submission", "output")))
    for place in (places.submission, places.output):
        place.mkdir()
    with zipfile.ZipFile(bundled / "bundle.zip") as bundle, bundle.open("phase_0_ingestion_program.zip") as program:
        zipfile.ZipFile(program).extractall(places.program)
    return places


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("command: /bin/true", COMMAND),
        ("'command': /bin/true", COMMAND),
        ("? command\n: null", COMMAND),
        ("command: a\ncommand: null", ODD),
        ("a: &a {command: /bin/true}\n<<: *a", ODD),
        ("<<: {command: /bin/true}", ODD),
        ("!!str command: /bin/true", ODD),
        ("#" + "x" * 65_536 + "\ncommand: /bin/true", ODD),
        ("\n" * 65_536 + "command: /bin/true", ODD),
        (MERGES, ODD),
        ("[" * 1000, ODD),
        ("command: \xff\xfe", ODD),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("name", ["metadata.yaml", "metadata"])
def test_what_may_be_a_command_is_refused(places: Places, name: str, content: str, said: str) -> None:
    (places.submission / name).write_bytes(content.encode("latin-1"))
    assert ingest(places, Progress()).problem == f"refused: {name} {said}"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with names")
def test_a_pipe_is_not_waited_for_and_a_link_is_not_followed(places: Places) -> None:
    metadata = places.submission / "metadata"
    os.mkfifo(metadata)
    assert ingest(places, Progress()).problem == f"refused: metadata {ODD}"
    metadata.unlink()
    (places.submission / "there").write_text("name: x\n")
    metadata.symlink_to("there")
    assert ingest(places, Progress()).problem == f"refused: metadata {ODD}"
