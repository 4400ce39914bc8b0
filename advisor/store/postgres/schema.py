"""The schema of a shared history: its versions, and the roles of those who use it."""

from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import psycopg
from psycopg import errors as pg

from advisor.domain.problem import ProblemKind
from advisor.store.errors import StoreError

_MIGRATIONS: Final = Path(__file__).with_name("migrations")
_LOCK: Final = 0x61647673
"""Of pg_advisory_xact_lock: who sets a database up waits for others who do."""

_ROLES: Final = ("advisor_reader", "advisor_writer", "advisor_operator")
"""Each may what those before it may."""

_Connection = psycopg.Connection[Any]


def versions() -> list[int]:
    """The versions of the schema that this program knows, ascending."""
    return sorted(int(file.stem) for file in _MIGRATIONS.glob("*.sql"))


class Identity(msgspec.Struct, frozen=True):
    """A history, as its database names it, and the account that asks."""

    history_id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f-]{0,36}\Z")] = ""
    account: str = ""


def require_schema(connection: _Connection, limit_s: float) -> Identity:
    """The history that is there. Raises StoreError for another schema.

    From now on the server gives up what takes longer than `limit_s`.
    """
    # Nothing in it is found by what a user of the database has put into a search path.
    connection.execute(
        "SELECT pg_catalog.set_config('search_path', 'pg_catalog', false),"
        " pg_catalog.set_config('statement_timeout', %s, false)",
        (f"{max(1, round(limit_s * 1000))}",),
    )
    try:
        row = connection.execute(
            "SELECT (SELECT max(version) FROM advisor.migrations),"
            " (SELECT id::text FROM advisor.history LIMIT 1), session_user::text"
        ).fetchone()
    except (pg.UndefinedTable, pg.InvalidSchemaName):
        row = None
    there, known = (row[0] or 0) if row else 0, versions()[-1]
    if there < known or row is None:
        raise StoreError(
            f"this database has {'an older' if there else 'no'} history of advisor",
            kind=ProblemKind.MISSING,
            remedy="its owner runs `advisor store init` with this version",
        )
    if there > known:
        raise StoreError(
            f"this history has schema {there}, and this advisor knows schema {known}",
            kind=ProblemKind.UNSUPPORTED,
            remedy="update advisor",
        )
    return Identity(str(row[1]), str(row[2]))


def set_up(connection: _Connection) -> list[int]:
    """Make roles and schema, or bring them up to date; return the versions that were missing.

    May be repeated, and run by several at once. Raises psycopg.Error, StoreError for a schema that
    is newer than this program; then nothing is changed.
    """
    with connection.transaction():
        connection.execute("SELECT pg_catalog.set_config('search_path', 'pg_catalog', true)")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        _make_roles(connection)
        connection.execute("CREATE SCHEMA IF NOT EXISTS advisor")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS advisor.migrations (version integer PRIMARY KEY,"
            " applied_by name NOT NULL DEFAULT session_user,"
            " applied_at timestamptz NOT NULL DEFAULT now())"
        )
        applied = {row[0] for row in connection.execute("SELECT version FROM advisor.migrations")}
        known = versions()
        if newer := [version for version in applied if version > known[-1]]:
            raise StoreError(
                f"this history has schema {max(newer)}, and this advisor knows schema {known[-1]}",
                kind=ProblemKind.UNSUPPORTED,
                remedy="update advisor",
            )
        missing = [version for version in known if version not in applied]
        for version in missing:
            text = (_MIGRATIONS / f"{version:04}.sql").read_text(encoding="utf-8")
            connection.execute(text)
            connection.execute("INSERT INTO advisor.migrations (version) VALUES (%s)", (version,))
    return missing


def _make_roles(connection: _Connection) -> None:
    """The roles are of the whole server: those that are there stay as they are."""
    there = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
    for number, role in enumerate(_ROLES):
        if role in there:
            continue
        above = f" IN ROLE {_ROLES[number - 1]}" if number else ""
        try:
            with connection.transaction():
                connection.execute(f"CREATE ROLE {role} NOLOGIN{above}")
        except (pg.DuplicateObject, pg.UniqueViolation):
            continue  # By somebody who sets up another database of this server.
