"""A stand-in for a Docker engine: understands the harness' commands, and its "containers" are plain processes.

Installed as the program `docker`, it keeps one file per container beside itself: the process id, then the exit status.
"""

import csv
import ctypes
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

#: Options of `docker run` without a word of their own.
FLAGS = {"--interactive", "--init=false", "--read-only", "--rm"}

IMAGE = "pgdl-test:1"


def install(directory: Path) -> Path:
    """Put the program `docker` into a new directory; return the directory, for PATH."""
    directory.mkdir()
    program = directory / "docker"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {__file__} {directory} "$@"\n')
    program.chmod(0o755)
    return directory


def containers(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("pgdl-*"))


def parse_run(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Split the words after `docker run` into option -> values, and a list of the image and its command."""
    options: dict[str, list[str]] = {}
    rest = list(words)
    while rest[0].startswith("--"):
        name = rest.pop(0)
        options.setdefault(name, []).append("" if name in FLAGS else rest.pop(0))
    return options, rest


def run(place: Path, words: list[str]) -> int:
    options, (image, *command) = parse_run(words)
    if image != IMAGE:
        return fail(125, f"docker: Error response from daemon: No such image: {image}")
    if options.get("--runtime", ["runsc"]) != ["runsc"]:
        return fail(
            125, f"docker: Error response from daemon: unknown or invalid runtime name: {options['--runtime'][0]}"
        )
    mounts = dict(reversed(pair) for pair in map(source_and_target, options.get("--mount", [])))
    inside = [sys.executable if word == "python" else mounts.get(word, word) for word in command]

    def confine() -> None:
        os.setsid()
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # no new privileges

    process = subprocess.Popen([*options["--entrypoint"], *inside], preexec_fn=confine)
    state = place / options["--name"][0]
    state.write_text(f"{process.pid}")
    status = process.wait()
    status = 128 - status if status < 0 else status
    if "--rm" in options:
        state.unlink()
    elif state.exists():
        state.write_text(f"{process.pid} {status}")
    return status


def source_and_target(mount: str) -> list[str]:
    fields = dict(field.split("=", 1) for field in next(csv.reader([mount])) if "=" in field)
    return [fields["source"], fields["target"]]


def inspect(place: Path, words: list[str]) -> int:
    _, question, name = words
    if not (place / name).exists():
        return fail(1, f"Error: No such object: {name}")
    pid, _, status = (place / name).read_text().partition(" ")
    if "OOMKilled" in question:
        print(json.dumps(status == "137"))
    else:
        print(pid or 0, "/")  # its id: in the path of every process' cgroup
    return 0


def inspect_image(question: str, image: str) -> int:
    if image != IMAGE:
        return fail(1, f"Error response from daemon: No such image: {image}")
    print({"{{.Id}}": "sha256:0123456789ab", "{{json .Config.Volumes}}": "null"}[question])
    return 0


def remove(place: Path, words: list[str]) -> int:
    for name in words:
        if (place / name).exists():
            with suppress(ProcessLookupError):
                os.killpg(int((place / name).read_text().split()[0]), signal.SIGKILL)
            (place / name).unlink()
    return 0


def list_names(place: Path, words: list[str]) -> int:
    part = words[words.index("--filter") + 1].removeprefix("name=")
    print("\n".join(name for name in containers(place) if part in name))
    return 0


def fail(status: int, message: str) -> int:
    print(message, file=sys.stderr)
    return status


def main(place: Path, *words: str) -> int:
    match words:
        case ("run", *rest):
            return run(place, rest)
        case ("image", "inspect", "--format", question, image):
            return inspect_image(question, image)
        case ("inspect", *rest):
            return inspect(place, rest)
        case ("rm", "--force", "--volumes", *rest):
            return remove(place, rest)
        case ("ps", "--all", *rest):
            return list_names(place, rest)
    return fail(125, f"docker: '{words}' is not a docker command")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
