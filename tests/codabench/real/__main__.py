"""`make codabench-real CODABENCH=DIR [IMAGE=FILE]`: tries a bundle on a real site of Codabench, and prints a table.

DIR is a checkout of Codabench, which stays unchanged. Everything runs on loopback, in a temporary directory and a new
namespace of processes. Machines without a registry need FILE, an archive of `docker save` with the image
pgdl-codabench:real or the Dockerfile's base image. The storage is moto, which accepts any signature. Exit code 1 means
an unexpected result, 2 that something is missing.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import requests
from organised import GOOD, TOML, organise, pack

WORKER, HIDDEN, TASK = Path("/codabench"), "quokka_7f3a", ("--tasks", "task_data", "--task")
PROGRAMS = ("initdb", "redis-server", "rabbitmq-server", "epmd", "dockerd", "docker", "docker-registry", "unshare")
PACKAGES = "postgresql redis-server rabbitmq-server docker.io docker-registry util-linux"
PATH = ":".join([*map(str, Path("/usr/lib/postgresql").glob("*/bin")), "/usr/lib/rabbitmq/bin", os.environ["PATH"]])
ENDED = {"Finished", "Failed", "Cancelled"}
PORTS = ("redis", "rabbit", "nodes", "names", "postgres", "storage", "registry", "site")
TEXTS = tomllib.loads((Path(__file__).parent / "services.toml").read_text())
PEOPLE = ("good", "folder", "mac", "fails", "none", "slow", "thief", "forger", "final", "organiser")
CHANGES = ["requests set submission_digest = ?", "evaluations set value = 2 * value + 1, submission_digest = ?"]


class Trial:
    """A competition on a new site; `right` says whether all results were as expected."""

    def __init__(self, checkout: Path, home: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as one:
            self.port = {name: number for number, name in enumerate(PORTS, start=one.getsockname()[1])}
        self.checkout, self.home, self.python, self.right = checkout, home, f"{home}/environment/bin/python", True
        self.engine = home / "docker.sock"
        self.known = {"home": home, "checkout": checkout, "python": self.python, **self.port}
        own = dict(word.split("=", 1) for word in TEXTS["settings"].format(**self.known).split())
        self.variables, self.url = os.environ | {"PATH": PATH} | own, f"http://127.0.0.1:{self.port['site']}"

    def bring_up(self, archive: str) -> None:
        files = [self.checkout / "pyproject.toml", self.checkout / "compute_worker" / "pyproject.toml"]
        needs = {need for file in files for need in tomllib.loads(file.read_text())["project"]["dependencies"]}
        self.run(sys.executable, "-m", "venv", self.home / "environment")
        self.run(self.python, "-m", "pip", "install", "--quiet", "moto[server]", *sorted(needs))
        (self.home / "registry.yml").write_text("{version: 0.1, storage: {filesystem: {}}, http: {}}")
        self.follow(TEXTS["stores"])
        for bucket in ("public", "private"):
            requests.put(f"http://127.0.0.1:{self.port['storage']}/{bucket}", timeout=600).raise_for_status()
        if "codabench" not in (self.run("docker", "load", "--input", archive) if archive else ""):
            self.run("docker", "build", "--network=host", "--target=codabench", "--tag=pgdl-codabench:real", Path.cwd())
        self.follow(TEXTS["site"])
        self.tokens = dict(re.findall("user (.*) (.*)", self.django("shell", "-c", TEXTS["accounts"].format(PEOPLE))))

    def run(self, *command: object) -> str:
        words = [*map(str, command)]
        ended = subprocess.run(words, cwd=self.home, env=self.variables, capture_output=True, text=True)
        if ended.returncode:
            sys.exit(f"{' '.join(words)[:200]}: {(ended.stdout + ended.stderr)[-2000:]}")
        return ended.stdout

    def django(self, *arguments: str) -> str:
        return self.run(self.python, self.checkout / "manage.py", *arguments)

    def follow(self, steps: str) -> None:
        for verb, name, *words in map(str.split, steps.format(**self.known).strip().splitlines()):
            if verb == "run":
                self.run(name, *words)
                continue
            log, end = self.home / f"{name}.log", time.monotonic() + 600
            with log.open("wb") as out:
                ran = subprocess.Popen(words, env=self.variables, cwd=self.home, stdin=out, stdout=out, stderr=out)
            while not (listens(self.port[name]) if name in self.port else name != "engine" or self.engine.exists()):
                if ran.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{name} does not start: {log.read_text()[-2000:]}")
                time.sleep(0.5)

    def saw(self, tried: str, expected: object, seen: object) -> None:
        """Print a row of the table, which ends with `ok` if the seen text contains the expected text."""
        right = str(expected) in str(seen)
        self.right = self.right and right
        print(tried, expected, " ".join(str(seen).split())[:400], "ok" if right else "NOT OK", sep=" | ", flush=True)

    def ask(self, who: str, path: str, method: str = "GET", body: object = None) -> Any:
        """Return the site's answer to a user, or to a visitor if `who` is empty; None if the site refuses."""
        headers = {"Authorization": f"Token {self.tokens[who]}"} if who else {}
        answer = requests.request(method, f"{self.url}/api/{path}", json=body, headers=headers, timeout=600)
        return answer.json() if answer.ok else None

    def upload(self, who: str, file: Path, kind: str = "submission") -> Any:
        made = self.ask(who, "datasets/", "POST", {"type": kind, "request_sassy_file_name": file.name, "file_size": 1})
        requests.put(made["sassy_url"], file.read_bytes(), headers={"Content-Type": "application/zip"}, timeout=600)
        return made | self.ask(who, f"datasets/completed/{made['key']}/", "PUT")

    def submit(self, phase: str, **files: Path) -> dict[str, Any]:
        """Hand in submissions and wait for them; return owner -> submission of the phase, with scores and report."""
        for who, file in files.items():
            self.ask(who, "submissions/", "POST", {"data": self.upload(who, file)["key"], "phase": self.phases[phase]})
        path = f"submissions/?phase={self.phases[phase]}"
        until("submissions", lambda: all(one["status"] in ENDED for one in self.ask("organiser", path)), 3600)
        found = {one["owner"]: one for one in self.ask("organiser", path)}
        for one in found.values():
            page = requests.get(self.ask("", f"submissions/{one['id']}/get_detail_result/"), timeout=600).text
            text = " ".join(re.sub(r"<(style|script|svg).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL).split())
            one["score"] = {score["column_key"]: score["score"] for score in one["scores"]}
            one["seen"] = f"{one['score'].get('complete')} % {one['score'].get('score')} {text}"
        return found

    def pgdl(self, *words: object) -> Any:
        """Run `pgdl`; return its JSON output if requested, otherwise its lines."""
        variables = os.environ | {"CODABENCH_TOKEN": self.tokens["organiser"], "COLUMNS": "300"}
        command = [str(Path(sys.executable).with_name("pgdl")), *map(str, words)]
        ended = subprocess.run(command, cwd=self.home, env=variables, capture_output=True, text=True)
        print("$ pgdl", *words, "->", ended.returncode, "\n", ended.stderr[-3000:], file=sys.stderr, flush=True)
        if words[0] == "board":
            return {row["submission"]: row["score"] for row in json.loads(ended.stdout)["rows"]}
        return [*(ended.stdout + ended.stderr).splitlines(), f"exit code {ended.returncode}"]

    def organise(self) -> None:
        image = f"127.0.0.1:{self.port['registry']}/pgdl-codabench:real"
        toml = TOML.replace("example.org/pgdl-codabench:0.1.0", image).replace('"secret"', f'"{HIDDEN}"')
        organise(self.home, toml.replace("\n\n", "\nregistration_auto_approve = true\n\n", 1))
        for part in (self.home / "task_data").iterdir():
            (part / "secret").rename(part / HIDDEN)
        said = self.pgdl("codabench", "bundle", "competition.toml", "--output", "bundle.zip")
        self.saw("bundle", "Written: bundle.zip", said)
        number = self.upload("organiser", self.home / "bundle.zip", "competition_bundle")["status_id"]
        path = f"competitions/{number}/creation_status/"
        until("the bundle", lambda: self.ask("organiser", path)["status"] in ENDED)
        created = self.ask("organiser", path)
        self.saw("upload", "Finished", created)
        self.page = f"competitions/{created['resulting_competition']}/"
        self.ask("organiser", f"{self.page}toggle_publish/", "POST")
        self.phases = {one["name"]: one["id"] for one in self.ask("", self.page)["phases"]}
        for name in PEOPLE:
            self.ask(name, f"{self.page}register/", "POST")
        self.django("shell", "-c", TEXTS["dates"].format(1))

    def feedback(self) -> None:
        bodies = {"good": GOOD, "fails": "raise ValueError('no')", "slow": "import time\ntime.sleep(60)\nreturn 1.0"}
        files = {name: pack(self.home, name, body) for name, body in bodies.items()}
        for name in ("folder", "mac", "none"):
            files[name] = self.home / f"{name}.zip"
            with zipfile.ZipFile(files[name], "w") as archive:
                for member, data in members_of(files["good"].read_bytes()):
                    archive.writestr(f"{member}.txt" if name == "none" else f"good/{member}", data)
                if name == "mac":
                    archive.writestr("__MACOSX/good/._complexity.py", b"\0\5\26\7")
        found = self.submit("Feedback", **files)
        self.pgdl("run", "good.zip", *TASK, "tiny", "--results", "local.db", "--time-limit", 5)
        rows = self.pgdl("board", *TASK, "tiny", "--results", "local.db", "--format", "json")
        score = f"100.0000000000 % {rows['good']:.10f}"
        said = {"fails": "0.0000000000 % None", "slow": "TIMEOUT", "none": "complexity.py"}
        for name in files:
            self.saw(name, said.get(name, score), found[name]["seen"])

    def thefts(self) -> None:
        address = self.ask("", f"submissions/{self.submit('Feedback')['good']['id']}/get_details/")["prediction_result"]
        stolen, files = requests.get(address, timeout=600).content, {}
        for name, changes in (("thief", []), ("forger", CHANGES)):
            theft = TEXTS["theft"].format(changes=changes)
            own = {"metadata__yaml": "command: python theft.py\n", "theft__py": theft}
            files[name] = pack(self.home, name, f"return len('{name}') + 0.5", stolen__zip=stolen, **own)
        found = self.submit("Feedback", **files)
        self.saw("thief: has good's score there", found["good"]["score"]["score"], found["thief"]["score"])
        self.django("shell", "-c", TEXTS["dates"].format(0))
        about = ("--phase", "Feedback", "--results", "feedback.db", "--html", "site")
        said = self.pgdl("codabench", "collect", "competition.toml", f"{self.url}/{self.page}", *about)
        for name, why in (("thief", "good"), ("forger", "not confirm")):
            self.saw(f"{name}: left out by collect", why, [line for line in said if f"{name}: left out" in line])
        rows = self.pgdl("board", *TASK, "tiny", "--results", "feedback.db", "--format", "json")
        self.saw("collect", ["fails", "folder", "good", "mac", "slow"], (sorted(rows), said[-3:]))

    def final(self) -> None:
        files = {"final": pack(self.home, "final", GOOD), "fails": pack(self.home, "fails", "raise OSError")}
        one, page = self.submit("Final", **files)["final"], (f"{self.url}/{self.page}", "--phase", "Final")
        self.saw("hidden phase", "Received", one["seen"])
        self.pgdl("codabench", "submissions", "competition.toml", *page, "--output", "final")
        here = sorted(file.name for file in (self.home / "final").iterdir())
        self.saw("submissions", ["fails.zip", "final.zip", "submissions.csv"], here)
        about = (*TASK, HIDDEN, "--results", "final.db")
        self.pgdl("run", "final/final.zip", "final/fails.zip", "--as-files", *about, "--time-limit", 5)
        score = self.pgdl("board", *about, "--format", "json", "--html", "final.site")["final"]
        self.pgdl("codabench", "publish", *page, "final", *about)
        board = self.ask("", f"phases/{self.phases['Final']}/get_leaderboard/")["submissions"]
        shown = {one["owner"]: [cell["score"] for cell in one["scores"]] for one in board}
        self.saw("publish", repr(str(score)), shown["final"])
        for who in ("", "thief"):
            answer = self.ask(who, f"submission_scores/{one['scores'][0]['id']}/", "PUT", {"score": "99"})
            self.saw(f"{who or 'visitor'} changes a score", None, answer)

    def visit(self) -> None:
        """Request every address of the site without an account, and follow every address and key in the answers."""
        listed = self.django("show_urls", "--format", "json")
        urls = [one["url"] for one in json.loads(listed[listed.index("[") :])]
        urls = [url for url in urls if "format" not in url and not url.startswith("/admin/")]
        files = [file for file in (self.home / "task_data").rglob("*") if file.is_file()]
        public = {file.read_bytes() for file in files if HIDDEN not in file.parts}
        secret = {file.read_bytes() for file in files if HIDDEN in file.parts} - public
        words = [one.encode() for one in (HIDDEN, *self.tokens.values())]
        waiting = {self.url + re.sub("<[^>]*>", str(number), url) for url in urls for number in range(1, 40)}
        asked, answered, reached, found = set[str](), 0, set[bytes](), list[str]()
        while waiting:
            url = waiting.pop()
            answer = requests.get(url, timeout=600)
            asked.add(url.split("?")[0])
            answered += answer.ok
            for name, data in [("", answer.content), *members_of(answer.content)]:
                reached |= {data} & public
                if data in secret or any(word in data + name.encode() for word in words):
                    found.append(f"{url} {name}")
            keys = re.findall(r"\b\w{8}(?:-\w{4}){3}-\w{12}\b", answer.text)
            more = [f"{self.url}/datasets/download/{key}/" for key in keys]
            more += re.findall(r'"(http://127[^"]*)"', answer.text)
            waiting |= {url for url in more if url.split("?")[0] not in asked}
        counts = f"{len(urls)} patterns, {len(asked)} addresses asked, {answered} answered"
        self.saw("visitor finds of the hidden phase", [], (found, counts))
        self.saw(f"visitor finds files of the public task: {len(reached)}", True, bool(reached))


def members_of(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files in an archive, and in archives within it; yield nothing for another file."""
    if zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
                yield from members_of(archive.read(name))


def until(what: str, true: Callable[[], object], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.5)


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def main(codabench: str = "", archive: str = "", within: str = "") -> int:
    checkout = Path(codabench).resolve()
    if within:  # in a namespace of its own
        trial = Trial(checkout, Path(within))
        trial.bring_up(archive)
        for part in (trial.organise, trial.feedback, trial.thefts, trial.final, trial.visit):
            part()
        return 0 if trial.right else 1
    lacking = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if lacking or os.getuid() or WORKER.exists() or not (checkout / "compute_worker" / "compute_worker.py").exists():
        print(f"needs root, a checkout (found {checkout}), no {WORKER}, and {PACKAGES} (lacking: {', '.join(lacking)})")
        return 2
    with tempfile.TemporaryDirectory(prefix="codabench-") as home:
        Path(home).chmod(0o755)
        WORKER.mkdir()
        apart = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        own = (sys.executable, __file__, checkout, archive and Path(archive).resolve(), home)
        bridge = Path("/sys/class/net/docker0").exists()
        try:
            return subprocess.run([*apart, *own]).returncode
        finally:
            shutil.rmtree(WORKER)
            if not bridge:
                subprocess.run(["ip", "link", "delete", "docker0"], stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
