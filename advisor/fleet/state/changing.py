"""What operators change: the configuration, and which hosts are left alone."""

from advisor.fleet.configuration.checking import checked
from advisor.fleet.configuration.reading import decoded
from advisor.fleet.state.connecting import DatabaseConnection


def apply(connection: DatabaseConnection, content: str) -> int:
    """Put a configuration into force; its version. The same again keeps its version.

    Raises BadFleet for one that cannot be used, psycopg.errors.InsufficientPrivilege for an account
    that is no operator.
    """
    checked(decoded(content.encode()))
    row = connection.execute("SELECT advisor.fleet_apply(%s)", (content,)).fetchone()
    return int(row[0]) if row else 0


def pause(connection: DatabaseConnection, host: str, until_s: float | None) -> None:
    """Leave a host, or rows.ALL, alone until then; what runs there now ends as it would."""
    connection.execute("SELECT advisor.fleet_pause(%s, %s)", (host, until_s))


def resume(connection: DatabaseConnection, host: str) -> bool:
    """Measure a host again, or for rows.ALL all that are paused; whether any was paused."""
    row = connection.execute("SELECT advisor.fleet_resume(%s)", (host,)).fetchone()
    return bool(row and row[0])
