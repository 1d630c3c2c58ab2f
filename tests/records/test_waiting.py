"""How long a write waits before it says so."""

from pathlib import Path

from harness.records import connection
from harness.records.store import Records


def test_sqlite_waits_as_long_as_the_warning_says(tmp_path: Path) -> None:
    with Records(str(tmp_path / "results.db")) as records, records._database.engine.connect() as opened:
        assert opened.exec_driver_sql("PRAGMA busy_timeout").scalar() == 1000 * connection.BUSY_S
