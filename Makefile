# Every target does its own set-up; all of them are quick when nothing changed.
PYTHON ?= python3
BIN := .venv/bin
AGENT ?=
ARGS ?=
SDK := sdks/typescript
PAGE := src/sandbox_agent/http/ui/index.html
PYRIGHT := .cache/pyright/node_modules/.bin/pyright
PUBLISHED := .cache/published-client/node_modules/sandbox-agent/package.json

.DEFAULT_GOAL := help
.PHONY: help setup run test unit live diffs check fmt gen lock sdk bench torture load faults record clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

run: setup ## Serve on 127.0.0.1:2468 without a token (ARGS="--port 3000 --token-file token" to change that)
	$(BIN)/sandbox-agent server $(if $(findstring token,$(ARGS)),,--no-token) $(ARGS)

test: .venv/dev compiled agents inspector $(PYRIGHT) $(PUBLISHED) ## Everything: unit tests, the real daemon, the real agents on a scripted model
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

unit: .venv/dev ## The quick part: everything that needs no running daemon (under 30 s)
	$(BIN)/python -m pytest -n auto -m "not live and not slow and not long" $(DAEMON_TESTS:%=--ignore=tests/%) $(ARGS)

DAEMON_TESTS := cli faults http inspector intruders live sdk tools

live: .venv/dev agents ## Every feature on every real agent, or `make live AGENT=claude`; MODEL=real uses your own keys
	$(BIN)/python -m pytest tests/live -n auto --write-coverage --agent $(or $(AGENT),all) $(ARGS)

diffs: .venv/dev agents ## Every kind of change by every agent, repeated by `patch` (AGENT=codex for one)
	$(BIN)/python -m pytest tests/live/test_diffs.py -n auto -m long $(if $(AGENT),--agent $(AGENT)) $(ARGS)

check: .venv/dev ## Format, lint, types, layers, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.gen --check

fmt: .venv/dev ## Format and fix what can be fixed
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

gen: .venv/dev ## Write every generated file anew
	$(BIN)/python -m tools.gen
	@if command -v npm >/dev/null; then $(MAKE) --silent $(SDK)/node_modules && node $(SDK)/gen.mjs; \
	else echo "NO npm ON THIS MACHINE: the types of the TypeScript SDK are left as they are" >&2; fi

sdk: $(SDK)/node_modules ## Build the TypeScript SDK (Node 20+ and npm)
	cd $(SDK) && npm run --silent build

$(SDK)/node_modules: $(SDK)/package-lock.json
	cd $(SDK) && npm ci --silent --ignore-scripts
	@touch $@

bench: .venv/dev compiled agents ## Measure beside the Rust daemon and the native agents, or another commit (ARGS="--against main")
	$(BIN)/python -m tools.bench $(ARGS)

faults: .venv/dev ## Every fault of docs/reliability.md, the ones that take minutes too
	$(BIN)/python -m pytest tests/faults tests/live/test_opencode_server.py -n auto -m "" $(ARGS)

torture: .venv/dev ## Kill the daemon under load N times at random moments, and look for broken promises
	$(BIN)/python -m tools.torture --rounds $(N) $(ARGS)

N ?= 200

load: .venv/dev ## 100 sessions and 1,000 readers for two minutes; then what a log of 5 million events costs
	$(BIN)/python -m tools.load $(ARGS)
	$(BIN)/python -m tools.load.growth $(ARGS)

record: .venv/dev agents ## Record a live agent: make record AGENT=claude ARGS='"list the files"'
	$(BIN)/python -m tools.record $(AGENT) $(ARGS)

lock: .venv/dev ## Pin dependencies anew, hashed and without addresses
	$(BIN)/uv pip compile pyproject.toml --extra checkout -o requirements/run.txt $(LOCK_FLAGS)
	$(BIN)/uv pip compile pyproject.toml --extra dev -o requirements/dev.txt -c requirements/run.txt $(LOCK_FLAGS)

LOCK_FLAGS := -q --universal --python-version 3.11.2 --generate-hashes --no-emit-index-url --no-header --no-annotate

setup: .venv/run compiled $(PAGE) ## Make .venv/bin/sandbox-agent, and the inspector's page where Node.js is

.venv/run: requirements/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 2) and "sandbox-agent needs Python 3.11.2 or newer, and %s is %d.%d.%d; name another with PYTHON=..." % ((sys.executable,) + sys.version_info[:3]))'
	@# Without Debian's python3-venv a venv is left half made: with a python, but no pip.
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# With PYTHONDONTWRITEBYTECODE, as in many containers, every start would compile everything anew: it takes half as long again.
.PHONY: compiled
compiled: .venv/run
	@$(BIN)/python -m compileall -q src

.venv/dev: .venv/run requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# The inspector. Nothing but its page needs Node.js, so that a machine without it, or without a network, still serves the API.
PAGE_SOURCES := docs/coverage.md $(shell find inspector sdks/typescript/src -name node_modules -prune -o -type f -print)
NPM_CI := npm ci --silent --no-progress

$(PAGE): $(PAGE_SOURCES)
	@if ! command -v npm >/dev/null; then echo "no npm here: the inspector at /ui/ is not built" >&2; \
	elif cd inspector && { test node_modules/.package-lock.json -nt package-lock.json || $(NPM_CI) --omit=dev; } \
	  && npx --no-install vite build --logLevel warn; then touch ../$@; \
	else echo "the inspector could not be built: /ui/ will say so, everything else works" >&2; fi

# What its tests need: vitest, the type checker, and a browser.
inspector/node_modules/.dev: inspector/package-lock.json
	cd inspector && $(NPM_CI) && touch node_modules/.dev

APT_CHROMIUM := apt-get -q install -y --no-install-recommends chromium

.PHONY: inspector
inspector:
	@command -v npm >/dev/null && $(MAKE) --no-print-directory inspector/node_modules/.dev $(PAGE) \
	|| echo "NO npm ON THIS MACHINE, or no packages: the inspector cannot be built, its tests are left out" >&2
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { test "$$(id -u)" = 0 && { $(APT_CHROMIUM) || { apt-get -q update && $(APT_CHROMIUM); }; } >/dev/null 2>&1; } \
	|| echo "NO chromium ON THIS MACHINE (CHROMIUM=path names one): the tests of the inspector in a browser are left out" >&2

.PHONY: agents
agents: .venv/dev
	@if command -v npm >/dev/null; then $(BIN)/python -m sandbox_agent.testing.agent_cache; \
	else echo "NO npm ON THIS MACHINE: the real agents cannot be installed, their tests are left out" >&2; fi

# A second type checker for programs that use the SDK, beside mypy.
$(PYRIGHT):
	@npm install --silent --no-progress --prefix .cache/pyright pyright@1.1.414 \
	|| echo "NO npm ON THIS MACHINE, or no packages: pyright does not check programs that use the SDK" >&2

# The published client of the other daemon, which must work with ours as it is.
$(PUBLISHED):
	@npm install --silent --no-progress --ignore-scripts --omit=optional --prefix .cache/published-client sandbox-agent@0.4.2 \
	|| echo "NO npm ON THIS MACHINE, or no packages: the published client does not try the daemon" >&2

clean: ## Remove what the targets above made
	rm -rf inspector/node_modules src/sandbox_agent/http/ui
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist $(SDK)/node_modules $(SDK)/build $(SDK)/dist
