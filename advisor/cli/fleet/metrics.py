"""`advisor fleet metrics`: figures for Prometheus."""

import signal
from typing import TYPE_CHECKING, Annotated, Final

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed
from advisor.cli.fleet.database import address_of
from advisor.cli.options import StoreOption
from advisor.report.output import say
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address

if TYPE_CHECKING:
    from advisor.fleet.state.followed import FollowedPairs
    from advisor.report.fleet_metrics import Figures

_LISTEN: Final = "127.0.0.1:9518"


@command()
def metrics(
    store: StoreOption,
    *,
    listen: Annotated[
        p.HostPort,
        typer.Option("--listen", **p.LISTEN, help="Where to serve them, over HTTP at /metrics."),
    ] = _LISTEN,  # type: ignore[assignment] # the parser reads it
    once: Annotated[bool, typer.Option("--once", help="Print them, and serve nothing.")] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Print the dashboard for Grafana, as JSON.")
    ] = False,
) -> int:
    """Serve the figures of a fleet to Prometheus, until Ctrl-C or SIGTERM.

    The database is asked at each scrape. Whoever reaches the port may read them.
    """
    if dashboard:
        from advisor.report.fleet_metrics import dashboard_text

        say(dashboard_text())
        return EXIT_DONE
    address = address_of(store)
    if once:
        return _print(address)
    return _serve(address, *listen)


def _print(address: Address) -> int:
    from advisor.report.fleet_metrics import metrics_text

    text = metrics_text(lambda: _read(address))
    say(text.rstrip("\n"))
    return EXIT_DONE if "\nadvisor_fleet_up 1.0\n" in text else EXIT_FAILED


def _serve(address: Address, host: str, port: int) -> int:
    from prometheus_client import start_http_server

    from advisor.fleet.state.followed import FollowedPairs
    from advisor.report.fleet_metrics import registry_of

    followed = FollowedPairs()
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        server, thread = start_http_server(
            port, addr=host, registry=registry_of(lambda: _read(address, followed))
        )
    except OSError as error:
        raise CommandFailed(
            f"--listen {host}:{port}: {error.strerror or error}", remedy="give another port"
        ) from None
    say(f"advisor: serving http://{host}:{server.server_port}/metrics", err=True)
    signal.sigwait(ends)
    server.shutdown()
    server.server_close()
    thread.join()
    return EXIT_DONE


def _read(address: Address, followed: "FollowedPairs | None" = None) -> "Figures | None":
    """What the database knows now; None with a line on standard error if it does not answer."""
    from advisor.fleet.state import reading
    from advisor.fleet.state.connecting import connected
    from advisor.report.fleet_metrics import Figures

    try:
        with connected(address) as connection:
            state = reading.fleet_state(connection, followed)
            return Figures(
                state,
                reading.workers(connection, state.now_s),
                reading.outcomes(connection),
            )
    except StoreError as error:
        say(f"advisor: {error}", err=True)
        return None
