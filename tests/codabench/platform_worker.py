"""A stand-in of Codabench's compute worker: its folders, commands and containers.

It follows `compute_worker/compute_worker.py` of revision c7dbc756; comments name its lines, for example of mounts
(1036) and of dropped capabilities (963).
"""

import shutil
import subprocess
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.containers import start


@dataclass
class Ended:
    """The platform's results of a submission.

    Tests may use `log` in messages only: the platform often loses the logs of steps.
    """

    status: str
    output: Path  #: of the scoring step
    log: str
    prediction: Path  #: the archive that can be downloaded
    scores: dict[str, Any] = field(default_factory=dict)

    @property
    def report(self) -> str:
        """The HTML page that the platform shows in a frame."""
        return (self.output / "detailed_results.html").read_text()


class Worker:
    """Runs submissions on the phases of a bundle; it writes into `directory`.

    As on the platform, time limits fail: a container that prints nothing blocks the loop that checks the time (732).
    """

    def __init__(self, bundle: Path, directory: Path) -> None:
        self._bundle, self._directory, self._data = directory / "bundle", directory, directory / "data"
        self._data.mkdir(exist_ok=True)
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(self._bundle)
        self._content = yaml.safe_load((self._bundle / "competition.yaml").read_text())

    def run(self, phase: int, submission: Path, killed_after_s: float | None = None) -> Ended:
        """Run a submission's zip archive through both steps; `killed_after_s` kills the ingestion program."""
        (index,) = self._content["phases"][phase]["tasks"]
        task = next(one for one in self._content["tasks"] if one["index"] == index)
        root = Path(tempfile.mkdtemp(dir=self._directory))
        log = self._predict(task, submission, root / "prediction", killed_after_s)
        archive = Path(shutil.make_archive(str(root / "prediction_result"), "zip", root / "prediction/output"))
        return self._score(task, archive, root / "scoring", log)

    def _predict(self, task: dict[str, Any], submission: Path, root: Path, killed_after_s: float | None) -> str:
        for part, place in (("ingestion_program", "ingestion_program"), ("input_data", "input_data")):
            self._unpack(self._bundle / task[part], root / place)
        self._unpack(submission, root / "program")
        metadata = next((root / "program" / name for name in ("metadata.yaml", "metadata")
                         if (root / "program" / name).exists()), None)  # fmt: skip
        if metadata is None:  # (859) its files are copied into the output
            shutil.copytree(root / "program", root / "output")
        (root / "output").mkdir(exist_ok=True)
        shared = {root / "output": "/app/output", root / "input_data": "/app/input_data"}
        if own := command_of(metadata) if metadata is not None else None:
            # (889) A submission's own command, which may end before the ingestion program starts (732).
            start(own, shared | {root / "program": "/app/program"}, root / "own.txt", data=self._data).end()
        volumes = shared | {root / "ingestion_program": "/app/program", root / "program": "/app/ingested_program"}
        command = command_of(root / "ingestion_program/metadata.yaml")
        assert command is not None
        container = start(command, volumes, root / "log.txt", data=self._data)
        with suppress(subprocess.TimeoutExpired):
            container.process.wait(killed_after_s)
        container.process.kill()
        container.end()
        assert not (root / "output/metadata").exists(), "(1359) the submission would fail"
        (root / "output/metadata").write_text(yaml.safe_dump({"exitCode": container.end()}))  # and goes on
        return (root / "log.txt").read_text()

    def _score(self, task: dict[str, Any], prediction: Path, root: Path, log: str) -> Ended:
        for part, place in (("scoring_program", "program"), ("reference_data", "input/ref")):
            self._unpack(self._bundle / task[part], root / place)
        self._unpack(prediction, root / "input/res")
        for name in ("output", "shared"):
            (root / name).mkdir()
        volumes = {root / "program": "/app/program", root / "output": "/app/output", root / "shared": "/app/shared",
                   root / "input": "/app/input"}  # fmt: skip
        command = command_of(root / "program/metadata.yaml")
        assert command is not None
        container = start(command, volumes, root / "log.txt", data=self._data)
        failed = container.end() != 0
        log += (root / "log.txt").read_text()
        scores = root / "output/scores.json"
        if failed or not scores.exists():  # (1296, 1328)
            return Ended("Failed", root / "output", log, prediction)
        found = yaml.safe_load(scores.read_text())
        keys = {column["key"] for column in self._content["leaderboards"][0]["columns"]}
        assert found.keys() <= keys, "(api/views/submissions.py:581) others are ignored"
        return Ended("Finished", root / "output", log, prediction, found)

    @staticmethod
    def _unpack(archive: Path, place: Path) -> None:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(place)


def command_of(metadata: Path) -> str | None:
    """Return the command in a program's metadata (867), or None if there is no command."""
    try:
        content = yaml.load(metadata.read_text(), Loader=yaml.FullLoader)
    except yaml.YAMLError:
        return None
    return content.get("command") if isinstance(content, dict) else None
