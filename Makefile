# make install   everything set up, into .venv, with .venv/bin/advisor
# make run       the main job on localhost: real TCP and UDT probes, then advice
# make agent     what --push brings to hosts without advisor, into dist/ (minutes; needs the registries)
# make test      linters, types, import contracts, tests; as root also those of an ordinary user
# make docs      the manual as a site, into build/site; needs no network once its packages are installed
# make docs-check that, and its search in a headless Chromium, where one is installed
# make audit     the locked dependencies against the known vulnerabilities; needs the network
# make package   sdist, wheel, deb and rpm into dist/, the same bytes from the same commit
# make bench     figures that the documentation quotes (minutes)
# make bench-tui what the terminal interface costs (ten minutes)
# make bench-wan advice against a sweep on emulated paths, into docs/benchmarks.md (over an hour)
# make bench-sessions advice on simulated paths, in virtual time, into docs/benchmarks-sessions.md
#                (minutes)
# make bench-truth advice on random emulated paths, then its lines by a shell, into
#                docs/benchmarks-truth.md (a night)
# make bench-disk lines of globus-url-copy, rclone and rsync, run as advised, and sessions in virtual
#                time, into docs/benchmarks-disk.md and docs/benchmarks-disk-tools.md (hours)
# make bench-plans mixed files under three loads, by HARP's plan and others (hours; resumable)
# make bench-transfers transfers that tune themselves, into docs/benchmarks-transfers.md (20 hours; resumes)
# make bench-shares shares of five destinations, planned and kept, into docs/benchmarks-shares.md (seven hours; resumes)
# make bench-shares-virtual the same on simulated networks, into docs/benchmarks-shares-virtual.md (minutes)
# make bench-probes the rule that stops a probe, on recorded runs and traces of ADVISOR_DATA (minutes)
# make bench-methods the search methods on recorded tables, of ADVISOR_DATA (minutes)
# make bench-store the history: folder and PostgreSQL, 100,000 records; then ten million (6 min)
# make bench-dask advisor backtest on one and two Dask workers, into docs/backtest.md
#                (half an hour)
# make bench-bare make run and make test on Debian 12 and 13 with next to nothing on them, as root and as
#                an ordinary user, into docs/benchmarks-bare.md (needs root; an hour and a half)
# make bench-agent the agent of 'make agent' on old systems, and 20 ways to end it, into
#                docs/benchmarks-agent.md (needs root; five minutes)
# make soak      long runs (tens of minutes)

PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export UV_PYTHON_DOWNLOADS := never

.PHONY: install install-dev run agent test check docs docs-check audit quick package bench bench-tui bench-wan bench-sessions bench-truth bench-disk bench-plans bench-transfers bench-shares bench-shares-virtual bench-probes bench-methods bench-store bench-dask bench-bare bench-agent soak clean

install: $(VENV)/.runtime

install-dev: $(VENV)/.dev

$(UV):
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r scripts/uv.txt

# What comes from the system is asked for first, all of it at once.
$(VENV)/.runtime: pyproject.toml uv.lock
	sh scripts/system-packages run
	@$(MAKE) --silent --no-print-directory $(UV)
	$(UV) sync --quiet --frozen --inexact --active --no-dev
	@touch $@

$(VENV)/.dev: pyproject.toml uv.lock
	sh scripts/system-packages test
	@$(MAKE) --silent --no-print-directory $(UV)
	$(UV) sync --quiet --frozen --inexact --active
	@touch $@ $(VENV)/.runtime

run: install
	$(VENV)/bin/advisor advise localhost

AGENT := build/agent/venv

agent: $(AGENT)/.ready
	$(AGENT)/bin/python scripts/agent/build.py

$(AGENT)/.ready: scripts/agent/requirements.txt
	$(PYTHON) -m venv $(AGENT)
	$(AGENT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

check: install-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PYTHONPATH=. $(VENV)/bin/lint-imports

$(VENV)/.docs: $(VENV)/.dev
	$(UV) sync --quiet --frozen --inexact --active --group docs
	@touch $@

# The pages of docs/reference are made first, from the program.
docs: $(VENV)/.docs
	$(VENV)/bin/python -m tests.manual
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs --quiet build

docs-check: docs
	$(VENV)/bin/pytest tests/manual/check_site.py

# Asks osv.dev about the locked versions, so it needs the network; 1 if one has a known vulnerability.
audit: install-dev
	$(UV) audit --locked --preview-features audit-command

quick: install-dev
	$(VENV)/bin/pytest --numprocesses 2 tests/unit tests/plugins tests/tui tests/hostile

# Started by root, also as an ordinary user. tests/stages says what runs when, and as whom.
test: install-dev
	$(VENV)/bin/python -m tests.stages

package: install-dev
	$(VENV)/bin/python -m package.build

bench: install-dev
	sh scripts/bench

bench-tui: install-dev
	$(VENV)/bin/python -m tests.benchmarks.tui_bench

bench-wan: install-dev
	$(VENV)/bin/python -m tests.benchmarks.wan
	$(VENV)/bin/python -m tests.benchmarks.wan --document

bench-sessions: install-dev
	$(VENV)/bin/python -m tests.benchmarks.sessions --paths 40 --page docs/benchmarks-sessions.md

bench-truth: install-dev
	$(VENV)/bin/python -m tests.benchmarks.truth --named
	$(VENV)/bin/python -m tests.benchmarks.truth --document

bench-disk: install-dev
	$(VENV)/bin/python -m tests.benchmarks.disk.virtual
	$(VENV)/bin/python -m tests.benchmarks.disk.virtual --document
	for tool in globus-url-copy rclone rclone-s3 s5cmd rsync xrdcp aria2c; do \
		$(VENV)/bin/python -m tests.benchmarks.disk --tool $$tool && \
		$(VENV)/bin/python -m tests.benchmarks.disk --tool $$tool --document || exit; \
	done

bench-plans: install-dev
	$(VENV)/bin/python -m tests.benchmarks.plans
	$(VENV)/bin/python -m tests.benchmarks.plans --document

bench-transfers: install-dev
	$(VENV)/bin/python -m tests.benchmarks.transfers
	$(VENV)/bin/python -m tests.benchmarks.transfers --document

bench-shares: install-dev
	$(VENV)/bin/python -m tests.benchmarks.shares
	$(VENV)/bin/python -m tests.benchmarks.shares --document

bench-shares-virtual: install-dev
	$(VENV)/bin/python -m tests.benchmarks.shares.virtual

bench-probes: install-dev
	@$(VENV)/bin/python -m tests.benchmarks.probes

bench-methods: install-dev
	@$(VENV)/bin/python -m tests.benchmarks.methods

bench-store: install-dev
	$(VENV)/bin/python -m tests.benchmarks.store_bench
	$(VENV)/bin/python -m tests.benchmarks.shared_store
	$(VENV)/bin/python -m tests.benchmarks.shared_store --records 10000000 --pairs 10000

bench-dask: install-dev
	$(VENV)/bin/python -m tests.benchmarks.dask_bench --document

bench-bare: install-dev
	@$(VENV)/bin/python -m tests.benchmarks.bare

bench-agent: install-dev agent
	@$(VENV)/bin/python -m tests.benchmarks.pushed

soak: install-dev
	sh scripts/soak

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
