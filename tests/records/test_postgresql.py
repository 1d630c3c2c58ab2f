"""Tests of a PostgreSQL server: restarted, hanging, gone, or with a password; skipped if none is installed."""

import secrets
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from sqlalchemy import func, select

from harness.errors import UserError
from harness.records import Claims, Records, RecordWriter, add_unwritten
from harness.records.claims import _forget
from tests.board.board_examples import rows as submission_rows
from tests.canary import SECRET, require_hidden, require_unwritten, started
from tests.records.evaluation_rows import evaluation, request
from tests.records.servers import Server
from tests.records.written_rows import kept_file, rows, values
from tests.throwaway import make_task

pytestmark = pytest.mark.rest


@pytest.fixture
def url(server: Server) -> str:
    return server.new_database(f"d{secrets.token_hex(4)}")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time limits for a server that hangs."""
    monkeypatch.setattr("harness.records.postgresql.CONNECT_S", 2)
    monkeypatch.setattr("harness.records.postgresql.ANSWER_S", 0.2)


@contextmanager
def stopped(server: Server) -> Iterator[None]:
    """In the context, the server hangs."""
    server.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal(signal.SIGCONT)


def test_two_first_runs_open_a_database_at_once(server):
    barrier = threading.Barrier(2)

    def open_at_once(url: str) -> None:
        barrier.wait()
        with Records(url) as records:
            records.add(evaluation())

    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            url = server.new_database(f"d{secrets.token_hex(4)}")
            list(pool.map(open_at_once, [url, url]))
            assert values(url) == [1.0, 1.0]
            assert len(server.query("SELECT * FROM alembic_version", url)) == 1


def test_a_restart_of_the_server_loses_nothing_and_doubles_nothing(server, url):
    made = rows(600)
    said: list[str] = []
    with Records(url) as records, Claims(records) as claims:
        records.warn = said.append
        assert claims.take([row.key for row in made]) == {row.key for row in made}
        with RecordWriter(records, claims) as writer:
            for number, row in enumerate(made):
                writer.add(row)
                if number == 300:
                    server.stop()
                    restart = threading.Timer(1.0, server.start)
                    restart.start()
            assert claims.take(["more"]) == {"more"}, "a run in progress waits for the server"
        restart.join()
        assert writer.written() == [(row, True) for row in made]
    assert values(url) == [row.value for row in made]
    assert [line.rpartition("; ")[2] for line in said] == ["trying again for 10 minutes"]


@pytest.mark.usefixtures("short")
def test_opening_and_reading_a_database_whose_server_hangs_end_in_one_line(server, url):
    with Records(url) as records, stopped(server):
        with pytest.raises(UserError, match=r"^.*the server does not answer.*$"):
            records.ended(["a"])
        for read_only in (True, False):
            with pytest.raises(UserError, match=r"^.*connection timeout expired.*$"):
                Records(url, read_only=read_only)


@pytest.mark.usefixtures("short")
def test_a_writer_goes_on_once_a_server_has_stopped_hanging(server, url):
    made = rows(5)
    with Records(url) as records, Claims(records) as claims:
        claims.take([row.key for row in made])
        with RecordWriter(records, claims) as writer:
            waits = threading.Event()
            records.warn = lambda _: waits.set()
            with stopped(server):
                for row in made:
                    writer.add(row)
                waits.wait()
        assert writer.written() == [(row, True) for row in made]
    assert values(url) == [row.value for row in made]


def test_a_slow_statement_is_waited_for(url, monkeypatch):
    monkeypatch.setattr("harness.records.postgresql.ANSWER_S", 0.1)
    with Records(url) as records, records.begin() as connection:
        assert connection.execute(select(func.pg_sleep(1.0), 7)).one()[1] == 7


def test_what_a_server_that_is_gone_did_not_take_is_added_by_the_next_run(server, url, cache, monkeypatch):
    monkeypatch.setattr("harness.records.connection.RECOVERY_S", 0.5)
    with_password = url.replace("postgres@", f"postgres:{SECRET}@")
    made, said = rows(3), []
    with Records(with_password) as records:
        records.warn = said.append
        server.stop()
        try:
            with pytest.raises(UserError) as error, Claims(records), RecordWriter(records, None):
                pass  # the first statements end at once
            with pytest.raises(UserError) as error, RecordWriter(records, None) as writer:  # noqa: PT012
                for row in made:
                    writer.add(row)
        finally:
            server.start()
    file = kept_file(cache)
    assert f"finished calls are kept in {file}" in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert SECRET not in str(error.value) + "".join(said)
    require_unwritten(file.parent)
    with Records(url) as records:
        add_unwritten(records)  # the password is no part of the database's address
        assert values(url) == [row.value for row in made]
    assert not file.exists()


def test_roles_that_may_only_read_or_change_no_table(server, url):
    reader, writer = (f"{letter}{secrets.token_hex(4)}" for letter in "rw")
    as_reader, as_writer = (url.replace("postgres@", f"{role}@") for role in (reader, writer))
    with Records(url):
        pass
    rights = (
        f"CREATE ROLE {reader} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader};"
        f"CREATE ROLE {writer} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {writer};"
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {writer}; DROP INDEX ix_requests_submission"
    )
    server.query(rights, url)
    made = rows(3)
    with Records(as_writer) as records, Claims(records) as claims:
        assert claims.take([row.key for row in made]) == {row.key for row in made}
        with RecordWriter(records, claims) as writing:
            for row in made:
                writing.add(row)
        records.ask([request(made[0])])
    with Records(as_reader, read_only=True) as records:
        assert [row.value for row in records.newest_of()] == [0.0, 1.0, 2.0]
    with Records(as_reader) as records, pytest.raises(UserError, match="permission denied"):
        records.ask([request(evaluation())])  # what a run writes first
    server.query("DROP TABLE requests", url)
    with pytest.raises(UserError, match="permission denied"):
        Records(as_writer)


def test_a_lock_of_another_program_is_waited_for_with_a_warning(url, monkeypatch):
    monkeypatch.setattr("harness.records.connection.BUSY_S", 0.05)
    with Records(url) as records, psycopg.connect(url.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE evaluations")
        said: list[str] = []

        def hear(line: str) -> None:
            said.append(line)
            other.rollback()

        records.warn = hear
        records.add(evaluation())
        assert [row.value for row in records.newest_of()] == [1.0]
    assert [line.partition(" has been locked for ")[2] for line in said] == [
        "0.05 s by another program; waiting for it"
    ]


def test_a_run_that_stands_still_in_a_transaction_stops_no_other(url, monkeypatch):
    monkeypatch.setattr("harness.records.connection.IDLE_S", 0.2)
    claimed, over = threading.Event(), threading.Event()
    with Records(url) as records, Claims(records) as claims, ThreadPoolExecutor(1) as pool:

        def stand_still() -> None:
            def work(connection: object) -> None:
                claims._take(connection, ["a"])
                claimed.set()
                over.wait()

            records.write(work)

        still = pool.submit(stand_still)
        claimed.wait()
        with Claims(records) as others:
            assert others.take(["a"]) == {"a"}
        over.set()
        assert "idle-in-transaction timeout" in str(still.exception())


def test_claims_made_while_their_run_is_taken_for_dead_do_not_outlive_it(server, url):
    """A run wakes up and claims calls, while another run deletes the first run and its claims."""
    with Records(url) as records, Claims(records) as claims, ThreadPoolExecutor(1) as pool:
        with records.begin() as connection:
            claims._take(connection, ["a"])
            forgotten = pool.submit(records.write, lambda other: _forget(other, [claims._id]))
            while not server.query("SELECT 1 FROM pg_locks WHERE NOT granted"):
                pass
        forgotten.result()
        assert server.query("SELECT key FROM claims", url) == []


def test_no_command_tells_or_passes_on_the_password_of_a_server(server, url, pgdl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    make_task(tmp_path / "task_data")
    commands = (["board", "--html", "site", "--output", "files"], ["score"], ["results"], ["compare", "--recorded"])
    url, usual = (one.replace("postgres@", f"postgres:{SECRET}@") for one in (url, server.url))
    made = submission_rows("mine", task="tiny")
    with Records(url) as records:
        records.add(*made)
        records.ask([request(made[0])])
    with started(monkeypatch) as arguments:
        ended = [pgdl(*command, "--results", url) for command in commands]
        monkeypatch.setenv("PGDL_RESULTS", url)
        ended += [pgdl(*command) for command in commands]
    assert ended[0].code == 0
    assert any('--results "${PGDL_RESULTS:?its address}"' in one.out for one in ended)
    assert [one for one in arguments if SECRET in one] == []
    for fault in (
        usual.replace("/postgres?", f"/none?password={SECRET}&"), f"{usual}&{SECRET}=x&sslpassword={SECRET}",
        f"{usual}&sslmode={SECRET}",
    ):  # fmt: skip
        refused = pgdl("results", "--results", fault)
        assert len(refused.refusal().splitlines()) == 1
        ended.append(refused)

    def fail(*_: object) -> None:
        raise RuntimeError(f"cannot read {url}")

    monkeypatch.setattr(Records, "distinct", fail)
    ended.append(pgdl("results", "--submission", "mine", "--results", url))
    assert (ended[-1].code, "Traceback" in ended[-1].err) == (70, True)
    require_hidden(*ended)
    require_unwritten(tmp_path)
