"""Protects SQLAlchemy's connections to SQLite files, which may come from strangers."""

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine, ExceptionContext

from harness.sqlite import StatementWatch, protect, require_sound

_WATCH = "watch"  #: key of the `StatementWatch` in `Connection.info`


def guard(engine: Engine, file: Path, *, read_only: bool) -> None:
    """Check `file` before an engine connects to it, and protect every connection by `harness.sqlite.protect`."""

    @event.listens_for(engine, "do_connect")
    def _before(*_: Any) -> None:
        require_sound(file)

    @event.listens_for(engine, "connect")
    def _protect(connection: sqlite3.Connection, record: Any) -> None:
        record.info[_WATCH] = protect(connection, file, read_only=read_only)

    @event.listens_for(engine, "before_cursor_execute")
    def _begin(connection: Connection, *_: Any) -> None:
        watch: StatementWatch = connection.info[_WATCH]
        watch.begin()

    @event.listens_for(engine, "handle_error")
    def _reason(context: ExceptionContext) -> BaseException | None:
        watch: StatementWatch | None = context.connection.info.get(_WATCH) if context.connection else None
        return watch.reason if watch is not None else None
