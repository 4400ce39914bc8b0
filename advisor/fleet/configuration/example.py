"""The commented example that `advisor fleet init` writes; it is valid as it stands."""

from typing import Final

EXAMPLE: Final = """\
# A fleet: hosts that are measured between each other regularly.
# `advisor fleet validate` says what would be measured; `advisor fleet simulate` tries it out.

[limits]
# At most this part of what each link could carry, in any 24 hours, both directions together.
share-per-day = "1%"
# Measurements at a time in the whole fleet. Without it, as many as there are free hosts.
# at-once = 8
# A pair or host that failed is tried again after this, doubled each time up to retry-most.
retry = "15min"
retry-most = "12h"

# Each host once. A name is what other tables call it.
[hosts.dtn01]
reach = "dtn01.a.example.org"     # or user@host, or an alias of your ssh configuration
bandwidth = "10Gbit"              # of the link that measurements go over
# interfaces = ["eth1"]
# agent = "dtn01.a.example.org:5199"   # an agent that listens there, instead of ssh
# agent-command = "~/advisor"          # what ssh starts there
tags = ["production"]
quiet-hours = ["Mon-Fri 08:00-18:00"] # nothing is measured then
time-zone = "Europe/Berlin"

[hosts.dtn02]
reach = "dtn02.a.example.org"
bandwidth = "10Gbit"

[hosts.remote]
reach = "me@dtn.b.example.org"
bandwidth = "100Gbit"
tags = ["production"]

# Groups have hosts, groups above them, and tags, as in tag:production.
[groups.site-a]
hosts = ["dtn01", "dtn02"]

# What several hosts share: it is used by measurements between a host behind it and one that is not.
[resources.uplink-a]
hosts = ["site-a"]
at-once = 2
bandwidth = "100Gbit"             # share-per-day holds for it too
# inside = true                   # also by measurements among the hosts behind it

# What is measured: path (no load), advice, profile or disk-to-disk.
# Between which hosts: mesh (hosts), hub-and-spokes (hubs, spokes, direction), or pairs (sources,
# destinations).
[measure.paths]
what = "path"
between = "mesh"
hosts = ["all"]
every = "1d"
budget = "10s"

[measure.advice]
what = "advice"
between = "hub-and-spokes"
hubs = ["site-a"]
spokes = ["remote"]
direction = "both"                # or from-hubs, to-hubs
every = "7d"                      # up to twice that for pairs that resemble others
budget = "30s"

# A transfer that is announced: its pair is measured within the day before.
# [[planned]]
# source = "dtn01"
# destination = "remote"
# at = 2027-01-31T06:00:00Z
"""
