"""A throw-away PostgreSQL server on a local socket, if PostgreSQL is installed."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

#: Where Debian installs a server's programs: in no directory of PATH, one directory for each version.
VERSIONS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), *map(str, reversed(VERSIONS))])

#: Program -> its path.
PROGRAMS = {name: shutil.which(name, path=PATH) for name in ("initdb", "pg_ctl")}

#: Why there is no server here, if so.
MISSING = ", ".join(name for name, path in PROGRAMS.items() if path is None)


class Server:
    """A PostgreSQL server with its data in `directory`; `url` is the address of its database."""

    def __init__(self, directory: Path, *, fsync: bool = False) -> None:
        self.directory = directory  # short: the path of a socket has at most 107 characters
        self.url = f"postgresql+psycopg://postgres@/postgres?host={quote(str(directory))}"
        self._fsync = "on" if fsync else "off"
        if os.getuid() == 0:
            shutil.chown(directory, "postgres", "postgres")
        self._run("initdb", "-D", str(directory / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        options = f"-k {self.directory} -h '' -c fsync={self._fsync} -c max_connections=60"
        self._run("pg_ctl", "start", "-w", "-D", str(self.directory / "data"), "-o", options, "-l", "/dev/null")

    def stop(self) -> None:
        """Stop at once, as in a power failure."""
        self._run("pg_ctl", "stop", "-w", "-D", str(self.directory / "data"), "-m", "immediate")

    def signal(self, number: int) -> None:
        first = int((self.directory / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for process in (first, *map(int, children)):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(process, number)

    def new_database(self, name: str) -> str:
        self.query(f'CREATE DATABASE "{name}"')
        return self.url.replace("/postgres?", f"/{name}?")

    def query(self, statement: str, url: str | None = None) -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect((url or self.url).replace("+psycopg", ""), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(PROGRAMS[program]), *arguments]
        if os.getuid() == 0:  # the programs refuse to run as root
            command = ["su", "postgres", "-s", "/bin/sh", "-c", shlex.join(command)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd="/")


@contextmanager
def serving(*, fsync: bool = False) -> Iterator[Server]:
    """Start a server in a temporary directory, and yield it; skip the test if PostgreSQL is not installed."""
    if MISSING:
        pytest.skip(f"PostgreSQL is not installed: {MISSING} not found; make test-rest installs it")
    directory = Path(tempfile.mkdtemp(prefix="pg"))
    server = Server(directory, fsync=fsync)
    yield server
    server.stop()
    shutil.rmtree(directory)
