from advisor.lab import messages as m
from advisor.lab.paths import Changes, Direction, EmulatedPath, changed
from advisor.report.lab import path_text, paths_text, status_text


def status(**fields: object) -> m.LabStatus:
    plain = {
        "name": "wan",
        "backend": "own emulator",
        "user_namespace": True,
        "up_s": 75.0,
        "source": "10.77.0.1",
        "hosts": [],
        "transfers": 0,
        "compute": 0,
        "schedule": [],
    }
    return m.LabStatus(**plain | fields)  # type: ignore[arg-type]


def host(name: str, number: int, path: EmulatedPath, **fields: object) -> m.HostStatus:
    plain = {
        "name": name,
        "address": f"10.77.{number}.1",
        "gridftp_url": None,
        "path": path,
        "is_cut": False,
        "forward": m.Crossing(),
        "reverse": m.Crossing(),
    }
    return m.HostStatus(**plain | fields)  # type: ignore[arg-type]


def test_a_path_whose_directions_are_alike_is_said_once() -> None:
    path = changed(EmulatedPath(), Changes(rtt_s=0.0936, rate_bps=5e8, loss=3e-4))
    assert path_text(path) == "RTT 93.6 ms, MTU 9000, 500 Mbit/s, queue 5.58 MiB, loss 0.0003"


def test_a_path_whose_directions_differ() -> None:
    path = EmulatedPath(
        forward=Direction(delay_s=0, queue_bytes=1024, loss=0.1, burst_packets=4),
        reverse=Direction(delay_s=0, queue_bytes=2048, jitter_s=0.001, reordering=True),
        mtu_bytes=1500,
    )
    assert path_text(path) == (
        "RTT 0 ms, MTU 1500; there: 1 Gbit/s, queue 1 KiB, loss 0.1, in bursts of 4; "
        "back: 1 Gbit/s, queue 2 KiB, jitter 1 ms, reordering"
    )


def test_several_hosts() -> None:
    seen = m.Crossing(packets=7, bytes=2048, dropped=3, lost=2, cut=1, queue_most_bytes=1500)
    text = status_text(
        status(
            hosts=[
                host("kraken", 1, EmulatedPath(title="To Kraken"), forward=seen),
                host(
                    "mason",
                    2,
                    EmulatedPath(),
                    is_cut=True,
                    gridftp_url="ftp://10.77.2.1:2811",
                    gridftp_folder="/run/lab/files/mason",
                ),
            ]
        )
    )
    lines = text.splitlines()
    assert lines[0] == "lab wan: up for 1 min 15 s, in a user namespace, paths by own emulator"
    assert "  source  10.77.0.1" in lines
    assert "  kraken  10.77.1.1" in lines
    assert "    To Kraken" in lines
    assert "  mason  10.77.2.1  CUT" in lines
    assert "    GridFTP ftp://10.77.2.1:2811, files below /run/lab/files/mason" in lines
    (there,) = (line for line in lines if "7 packets" in line)
    assert there.split(maxsplit=1) == [
        "there",
        "7 packets (2 KiB) carried, 3 dropped, 2 lost, 1 while cut, queue 0 B, at most 1.46 KiB",
    ]


def test_what_the_kernel_does_not_say_is_left_out() -> None:
    seen = m.Crossing(packets=1, lost=None, queue_bytes=None, queue_most_bytes=None)
    text = status_text(status(hosts=[host("far", 1, EmulatedPath(), forward=seen, reverse=seen)]))
    assert "lost" not in text
    assert "at most" not in text


def test_the_sources_own_interface() -> None:
    text = status_text(
        status(
            user_namespace=False,
            own=Direction(rate_bps=8e7, delay_s=0),
            own_forward=m.Crossing(packets=5),
            own_reverse=m.Crossing(packets=6),
        )
    )
    assert "with root's rights" in text
    assert "its interface, shared by all paths: 80 Mbit/s" in text
    assert "out   5 packets" in text
    assert "in    6 packets" in text


def test_load_schedule_and_what_is_missing() -> None:
    steps = [
        m.ScheduledStep(
            at_s=61, actions=[m.Cut(is_cut=True, host="far"), m.SetLoad(transfers=4, compute=0)]
        ),
        m.ScheduledStep(at_s=-1, actions=[m.Cut(is_cut=False)]),
        m.ScheduledStep(
            at_s=5, actions=[m.SetPath(changes=Changes(loss=0.0, reordering=True, rtt_s=0.0))]
        ),
    ]
    lines = status_text(
        status(
            transfers=3,
            compute=1,
            schedule=steps,
            without=["no GridFTP server"],
            lateness=m.Lateness(p99_s=64e-6, most_s=0.0021),
        )
    ).splitlines()
    assert "  load: 3 transfers, 1 computing" in lines
    assert "  in 1 min 1 s: far: cut; transfers 4, compute 0" in lines
    assert "  in 1 ms: restore" in lines
    assert "  in 5 s: rtt 0 ms, loss 0, reordering on" in lines
    assert "  without: no GridFTP server" in lines
    (late,) = (line for line in lines if "late" in line)
    assert "0.064 ms" in late
    assert "2.1 ms (all)" in late


def test_named_paths() -> None:
    text = paths_text(
        {"mine": EmulatedPath(title="T", note="word " * 40), "other": EmulatedPath()}, 80
    )
    assert text.startswith("mine: T\n  RTT 45.6 ms")
    assert "\n\nother: " in text
    assert all(len(line) <= 80 for line in text.splitlines())
