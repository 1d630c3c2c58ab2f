"""Runs GitHub workflows and actions from their files: steps in order, with their conditions and expressions.

Actions of others are imitated: a checkout, the cache, artifacts and Pages are folders. Programs that would change the
machine only log their calls.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from repository import ROOT

from tests.ci.repositories import Repo

SERVER = "https://github.com"
EVENTS = True  # the key `on`, as YAML reads it

#: Functions in a condition that replace "all steps so far have succeeded".
STATUS = re.compile(r"\b(always|cancelled|failure)\(")


class Runner:
    """A repository on an imitated GitHub, with its cache, artifacts and pages, and a machine for its jobs.

    `harness` is the name under which workflows refer to this repository.
    """

    def __init__(self, directory: Path, origin: Repo, harness: str = "", **variables: str) -> None:
        self.directory, self.origin, self.harness, self.variables = directory, origin, harness, variables
        origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.cache: dict[str, Path] = {}
        self.artifacts: dict[str, Path] = {}
        self.pages: Path | None = None
        self.environment: dict[str, str] = {}
        self._runs, self._programs, self._log = 0, directory / "bin", directory / "log"
        self._programs.mkdir()
        logs = {name: f'echo "{name} $*" >> {self._log}' for name in ("sudo", "python")}
        for name, script in {**logs, "pgdl": f'exec {sys.executable} -m pgdl "$@"'}.items():
            (self._programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (self._programs / name).chmod(0o755)

    @property
    def log(self) -> list[str]:
        return self._log.read_text().splitlines()

    def run(self, workflow: Mapping[Any, Any], event_name: str, **github: Any) -> dict[str, "Job"]:
        """Run the jobs of a workflow for an event; return the jobs that were not skipped."""
        assert event_name in workflow[EVENTS]
        self._runs += 1
        jobs: dict[str, Job] = {}
        for name, content in workflow["jobs"].items():
            job = Job(self, self.directory / f"run-{self._runs}-{name}", {"event_name": event_name} | github)
            before = [jobs[one] for one in [content["needs"]] if one in jobs] if "needs" in content else []
            job.failed = any(one.failed for one in before)
            if job.holds(content.get("if", "")):
                job.failed = False
                job.run_steps(content["steps"], {})
                jobs[name] = job
        return jobs

    def keep(self, place: dict[str, Path], name: str, source: Path) -> Path:
        """Copy a file or directory, store the copy's path in `place` under `name`, and return the path."""
        target = self.directory / f"kept-{len(self.cache) + len(self.artifacts)}-{source.name}"
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        place[name] = target
        return target


class Job:
    """A job on an imitated machine with a workspace and a temporary folder."""

    def __init__(self, runner: Runner, directory: Path, github: Mapping[str, Any]) -> None:
        self.runner, self.failed, self.output = runner, False, ""
        self.workspace, self.temporary = directory / "workspace", directory / "temporary"
        for folder in (self.workspace, self.temporary):
            folder.mkdir(parents=True)
        self.contexts = {
            "github": {"server_url": SERVER, "token": "t", "run_attempt": 1, "run_id": 77} | github,
            "runner": {"temp": str(self.temporary), "os": "Linux"}, "vars": runner.variables, "inputs": {}, "steps": {},
        }  # fmt: skip

    def run_steps(self, steps: list[dict[str, Any]], inputs: Mapping[str, Any], action: str = "") -> None:
        """Run steps in order. After a failure, only steps whose condition allows this run."""
        outer, self.contexts = self.contexts, self.contexts | {"inputs": inputs, "steps": {}}
        self.contexts["github"] = outer["github"] | {"action_path": action}
        for step in steps:
            if self.holds(step.get("if", "")):
                self.step(step)
        self.contexts = outer

    def step(self, step: Mapping[str, Any]) -> None:
        if "run" in step:
            self._script(step)
            return
        name, given = step["uses"].partition("@")[0], {}
        for key, text in step.get("with", {}).items():
            given[key] = self.text(str(text).lower() if isinstance(text, bool) else str(text))
        if name.startswith(("./", f"{self.runner.harness}/")):
            folder = ROOT / name.removeprefix(f"{self.runner.harness}/")
            action = yaml.safe_load((folder / "action.yml").read_text())
            defaults = {key: self.text(str(one.get("default", ""))) for key, one in action["inputs"].items()}
            assert set(given) <= set(defaults)
            self.run_steps(action["runs"]["steps"], defaults | given, str(folder))
            return
        played = getattr(self, "_" + re.sub(r"\W", "_", name.partition("/")[2]))
        played(**{key.replace("-", "_"): value for key, value in given.items()})

    def _script(self, step: Mapping[str, Any]) -> None:
        files = {name: self.temporary / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        github = self.contexts["github"]
        environment = {
            "PATH": f"{self.runner._programs}:{os.environ['PATH']}", "HOME": str(self.temporary),
            "PYTHONPATH": str(ROOT), "RUNNER_TEMP": str(self.temporary), "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": github.get("repository", ""), "GITHUB_SERVER_URL": SERVER,
            "TF_NUM_INTRAOP_THREADS": "1",
        } | {name: str(path) for name, path in files.items()} | self.runner.environment  # fmt: skip
        environment |= {name: self.text(str(text)) for name, text in step.get("env", {}).items()}
        shell = [shutil.which(step.get("shell", "bash")), "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            shell, cwd=self.workspace, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=500,
        )  # fmt: skip
        self.output += done.stdout
        self.failed |= done.returncode != 0
        written = files["GITHUB_OUTPUT"].read_text().splitlines() if files["GITHUB_OUTPUT"].exists() else []
        self.contexts["steps"][step.get("id")] = {"outputs": dict(line.split("=", 1) for line in written)}

    def _checkout(self, ref: str = "", repository: str = "", persist_credentials: str = "", **_: str) -> None:
        assert persist_credentials == "false"
        if repository == self.runner.harness != "":
            self.workspace = ROOT
            return
        origin = f"file://{self.runner.origin.directory}"
        self.runner.origin.git("clone", "--quiet", "--no-local", "--no-checkout", origin, str(self.workspace))
        commit = ref or self.contexts["github"]["sha"]
        self.runner.origin.git("-C", str(self.workspace), "checkout", "--quiet", "--detach", commit)

    def _setup_python(self, python_version: str) -> None:
        pass

    def _cache_restore(self, path: str, key: str, restore_keys: str = "") -> None:
        prefixes = restore_keys.split()
        for known, folder in reversed(self.runner.cache.items()):
            if known == key or any(map(known.startswith, prefixes)):
                shutil.copytree(folder, self.workspace / path, dirs_exist_ok=True)
                return

    _cache = _cache_restore

    def _cache_save(self, path: str, key: str) -> None:
        self.runner.keep(self.runner.cache, key, Path(path))

    def _upload_artifact(self, name: str, path: str, if_no_files_found: str = "") -> None:
        if Path(path).exists():
            self.runner.keep(self.runner.artifacts, name, Path(path))

    def _download_artifact(self, name: str, path: str) -> None:
        shutil.copytree(self.runner.artifacts[name], self.workspace / path)

    def _upload_pages_artifact(self, path: str) -> None:
        self._upload_artifact("github-pages", str(self.workspace / path))

    def _deploy_pages(self) -> None:
        self.runner.pages = self.runner.artifacts["github-pages"]

    def holds(self, condition: str) -> bool:
        wanted = bool(self.value(condition)) if condition else True
        return wanted and (not self.failed or bool(STATUS.search(condition)))

    def text(self, text: str) -> str:
        """Return a text with its expressions replaced by their values."""
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: str(self.value(found[1])), text)

    def value(self, expression: str) -> Any:
        """Return the value of an expression, which Python evaluates after a few changes of its spelling."""
        parts = re.split(r"('[^']*')", expression)
        for number in range(0, len(parts), 2):
            spelled = parts[number].replace("&&", " and ").replace("||", " or ")
            spelled = re.sub(r"!(?!=)", " not ", spelled)
            parts[number] = re.sub(r"[a-z]+(?:\.[\w-]+)+", lambda found: f"look_up({found[0]!r})", spelled)
        known = {
            "look_up": self._look_up, "format": str.format, "always": lambda: True, "cancelled": lambda: False,
        }  # fmt: skip
        return eval("".join(parts).strip(), {"__builtins__": {}}, known)

    def _look_up(self, name: str) -> Any:
        value: Any = self.contexts
        for part in name.split("."):
            value = value.get(part, "") if isinstance(value, Mapping) else ""
        return value
