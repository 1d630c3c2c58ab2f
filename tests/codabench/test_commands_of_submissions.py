"""Tests of submissions that contain a command, which the platform runs outside of every sandbox."""

import shutil
import zipfile

import pytest
from organised import GOOD, pack

from harness.codabench.ingestion import ingest
from pgdl import Progress
from tests.containers import NEEDS_CONTAINERS

pytestmark = NEEDS_CONTAINERS

FEEDBACK = 0


@pytest.mark.parametrize(
    "metadata", ["command: /bin/true", "command: &a /bin/true", "command: !!str /bin/true", "command: a\ncommand: null"]
)
def test_what_may_be_a_command_is_refused(bundled, tmp_path, metadata):
    """The platform would run the command beside the ingestion program, outside of every sandbox."""
    program, submission, output = (tmp_path / name for name in ("program", "submission", "output"))
    for place in (submission, output):
        place.mkdir()
    (submission / "metadata").write_text(metadata)
    with zipfile.ZipFile(bundled / "bundle.zip") as bundle, bundle.open("phase_0_ingestion_program.zip") as packed:
        zipfile.ZipFile(packed).extractall(program)
    assert ingest(program, tmp_path, submission, output, Progress()).problem.startswith("refused: metadata ")


#: Hides the command, and leaves somebody else's result where the ingestion program cannot write.
THEFT = """
cd /app/program
rm metadata.yaml
for name in result.json records.db tiny.predict; do mkdir -p /app/output/.$name.new/held; done
cp stolen.db /app/output/records.db
cp stolen.json /app/output/result.json
"""


@pytest.mark.rest
def test_what_somebody_stole_is_found_when_results_are_collected(worker, bundled, tmp_path, pgdl):
    """On the platform, the copied result gets the score of the original, because nothing is checked there."""
    good = pack(tmp_path, "good", GOOD)
    honest = worker.run(FEEDBACK, good)
    with zipfile.ZipFile(honest.prediction) as archive:
        stolen = {"stolen__db": archive.read("records.db"), "stolen__json": archive.read("result.json")}
    script = {"metadata__yaml": "command: sh /app/program/theft.sh\n", "theft__sh": THEFT}
    thief = pack(tmp_path, "thief", "return 1.0", **script, **stolen)
    platform = worker.run(FEEDBACK, thief)
    assert platform.scores["score"] == honest.scores["score"], "the theft works there"
    exports = tmp_path / "exports"
    (exports / "results").mkdir(parents=True)
    for name, file, ended in (("ann", good, honest), ("eve", thief, platform)):
        shutil.copy(file, exports / f"{name}.zip")
        shutil.copy(ended.prediction, exports / "results" / f"{name}.zip")
    toml, database = bundled / "competition.toml", tmp_path / "results.db"
    ended = pgdl("codabench", "collect", toml, exports, "--phase", "Feedback", "--results", database)
    assert "Feedback: 1 submission, 8 new calls" in ended.out, ended.err
    assert "its records are not of its own files: found the files of ann" in ended.err
