# Every target does its own set-up, which is quick when nothing has changed.
PYTHON ?= python3
BIN := .venv/bin
AGENT ?=
ARGS ?=
SDK := sdks/typescript
SITE := tools/site/node
REACT := sdks/react
PAGE := src/sandbox_agent/http/ui/index.html
PYRIGHT := .cache/pyright/node_modules/.bin/pyright
VALIDATORS := .cache/validators/bin/kubernetes-validate
OPENCODE_SDK := .cache/opencode-sdk/node_modules/@opencode-ai/sdk/package.json
PUBLISHED := .cache/published-client/node_modules/sandbox-agent/package.json

.DEFAULT_GOAL := help
.PHONY: help setup run test unit live doors diffs long check fmt gen lock docs sdk react bench bench-store torture cluster-torture load faults record dist packages package-test image-test deploy-examples release clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

run: setup ## Serve on 127.0.0.1:2468 without a token (ARGS="--port 3000 --token-file token" sets flags)
	$(BIN)/sandbox-agent server $(if $(findstring token,$(ARGS)),,--no-token) $(ARGS)

test: .venv/dev compiled agents inspector desktop postgres $(PYRIGHT) $(PUBLISHED) $(OPENCODE_SDK) $(SITE)/node_modules ## Run all tests: units, the real daemon, the real agents on a scripted model
# Python's caches are written whatever the environment says: pytest takes longest to prepare the tests' own modules.
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

unit: .venv/dev ## Run the quick tests, which need no running daemon or database (under 40 s)
	$(BIN)/python -m pytest -n auto --dist worksteal -p no:schemathesis -k "not Postgres" -m "not live and not slow and not long and not image and not package" $(SERVER_TESTS:%=--ignore=tests/%) $(ARGS)

SERVER_TESTS := cli cluster deploy doors faults fleet http inspector intruders live react sdk store/test_postgres.py tools

live: .venv/dev agents desktop ## Test every feature on every real agent, or one (AGENT=claude); MODEL=real uses your own keys
	$(BIN)/python -m pytest tests/live -n auto --write-coverage --agent $(or $(AGENT),all) $(ARGS)

doors: .venv/dev agents inspector $(OPENCODE_SDK) $(PUBLISHED) ## Test the doors with the real clients (tmux, Chromium), including tests that take minutes
	$(BIN)/python -m pytest tests/doors tests/http/test_published_client.py -n auto -m "" --write-coverage $(ARGS)

diffs: .venv/dev agents ## Test that `patch` can apply every diff of every agent, or of one (AGENT=codex)
	$(BIN)/python -m pytest tests/live/test_diffs.py -n auto -m long $(if $(AGENT),--agent $(AGENT)) $(ARGS)

long: .venv/dev compiled agents inspector desktop ## Run the tests that `make test` leaves out because each takes half a minute or more
	$(BIN)/python -m pytest -n auto --dist worksteal -m long $(ARGS)

check: .venv/dev ## Check format, lint, types, layers and generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.gen --check

fmt: .venv/dev ## Format the code and apply lint fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

gen: .venv/dev ## Rewrite all generated files
	$(BIN)/python -m tools.gen
	@if command -v npm >/dev/null; then $(MAKE) --silent $(SDK)/node_modules && node $(SDK)/gen.mjs; \
	else echo "npm not found: the types of the TypeScript SDK are not regenerated" >&2; fi

docs: .venv/dev inspector agents $(SDK)/node_modules $(SITE)/node_modules ## Check the documentation: pages, links, navigation, and every snippet that can run (ARGS=--preview writes build/site)
	$(BIN)/python -m tools.gen --check
	node $(SITE)/check.mjs $(if $(findstring --preview,$(ARGS)),--preview build/site)
	$(BIN)/python -m pytest -n auto tests/test_docs.py tests/site tests/cli/test_quickstart.py tests/cli/test_generated.py tests/sdk/test_page.py tests/sdk/test_typescript.py $(filter-out --preview,$(ARGS))

$(SITE)/node_modules: $(SITE)/package-lock.json
	@cd $(SITE) && $(NPM_CI) --ignore-scripts && touch node_modules \
	|| echo "npm or its packages not found: the pages of the documentation are not compiled" >&2

sdk: $(SDK)/node_modules ## Build the TypeScript SDK (Node 20+ and npm)
	cd $(SDK) && npm run --silent build

$(SDK)/node_modules: $(SDK)/package-lock.json
	cd $(SDK) && $(NPM_CI) --ignore-scripts
	@touch $@

react: sdk $(REACT)/node_modules ## Build the React package
	cd $(REACT) && npm run --silent build

$(REACT)/node_modules: $(REACT)/package-lock.json
	cd $(REACT) && $(NPM_CI) --ignore-scripts
	@touch $@

bench: .venv/dev compiled agents ## Compare with the Rust daemon and the native agents, or with a commit (ARGS="--against main")
	$(BIN)/python -m tools.bench $(ARGS)

bench-store: .venv/dev postgres ## Compare commits to PostgreSQL with commits to SQLite on a disk with a fixed flush
	$(BIN)/python -m tools.bench.stores $(ARGS)

dist: .venv/dev ## Build dist/sandbox-agent-linux-x64, one file for machines without Python
	$(BIN)/python -m tools.onefile

# The examples use the SDK as it is packed. The providers' own packages are large, so only this target has them.
DEPLOY := examples/deploy
DEPLOY_PYTHON := .cache/deploy-python

deploy-examples: .venv/dev sdk $(DEPLOY)/node_modules/.ready $(DEPLOY_PYTHON)/.ready dist/sandbox-agent-linux-x64 ## Check and run the examples for Docker, E2B, Daytona, Vercel and Cloudflare (a provider needs its key; otherwise a stand-in)
	rm -rf $(DEPLOY)/node_modules/sandbox-agentd/dist $(DEPLOY)/node_modules/sandbox-agentd/src
	cp -r $(SDK)/dist $(SDK)/src $(SDK)/package.json $(DEPLOY)/node_modules/sandbox-agentd/
	$(BIN)/python -m tests.images.builder slim
	cd $(DEPLOY) && npm run --silent check && npm test --silent
	$(BIN)/mypy --python-executable $(DEPLOY_PYTHON)/bin/python src/sandbox_agent/providers $(DEPLOY)/*/main.py $(DEPLOY)/*/stand_in.py
	PYTHONPATH=$$(echo $(DEPLOY_PYTHON)/lib/python*/site-packages) $(BIN)/python -m pytest $(DEPLOY) -n 2 $(ARGS)

$(DEPLOY)/node_modules/.ready: $(DEPLOY)/package-lock.json | sdk
	cd $(DEPLOY) && $(NPM_CI) && touch node_modules/.ready

$(DEPLOY_PYTHON)/.ready: requirements/deploy.txt
	$(PYTHON) -m venv --clear $(DEPLOY_PYTHON)
	$(DEPLOY_PYTHON)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

dist/sandbox-agent-linux-x64:
	$(MAKE) --no-print-directory dist

packages: .venv/dev ## Build every artifact of a release into dist/: wheel, sdist, the single file, npm packages, checksums
	$(BIN)/python -m tools.artifacts $(ARGS)

package-test: .venv/dev $(SDK)/node_modules $(VALIDATORS) ## Make a release in a copy of this repository, and install and use what it gives
	$(BIN)/python -m pytest tests/packages -m package -n 0 $(ARGS)

VERSION :=
release: .venv/dev ## Check, stamp, build and tag a version: make release VERSION=1.2.3 (ARGS=--dry-run tags nothing)
	@test -n "$(VERSION)" || { echo "say which version: make release VERSION=1.2.3" >&2; exit 2; }
	$(BIN)/python -m tools.release $(VERSION) $(ARGS)

image-test: .venv/dev agents ## Build the image and the single file, and run them (as root, with buildah and debootstrap)
	$(BIN)/python -m pytest tests/images -m image -n 0 -s $(ARGS)

faults: .venv/dev ## Test every fault of docs/contributing/reliability.mdx, including those that take minutes
	$(BIN)/python -m pytest tests/faults tests/live/test_opencode_server.py -n auto -m "" $(ARGS)

torture: .venv/dev ## Kill the daemon under load N times at random moments and check that nothing is lost
	$(BIN)/python -m tools.torture --rounds $(N) $(ARGS)

cluster-torture: .venv/dev ## Break nodes that share a log, their database and network N times at random, and check every promise
	$(BIN)/python -m tools.cluster_torture --rounds $(N) $(ARGS)

N ?= 200

load: .venv/dev ## Run 100 sessions and 1,000 readers for two minutes, then measure a log of 5 million events
	$(BIN)/python -m tools.load $(ARGS)
	$(BIN)/python -m tools.load.growth $(ARGS)

record: .venv/dev agents ## Record a live agent: make record AGENT=claude ARGS='"list the files"'
	$(BIN)/python -m tools.record $(AGENT) $(ARGS)

lock: .venv/dev ## Update the pinned dependencies (hashes, no addresses)
	$(BIN)/uv pip compile pyproject.toml --extra checkout -o requirements/run.txt $(LOCK_FLAGS)
	$(BIN)/uv pip compile pyproject.toml --extra checkout --extra postgres -o requirements/image.txt -c requirements/run.txt $(LOCK_FLAGS)
	$(BIN)/uv pip compile pyproject.toml --extra dev -o requirements/dev.txt -c requirements/run.txt $(LOCK_FLAGS)
	$(BIN)/uv pip compile pyproject.toml --extra daytona --extra e2b -o requirements/deploy.txt -c requirements/run.txt $(LOCK_FLAGS)

LOCK_FLAGS := -q --universal --python-version 3.11.2 --generate-hashes --no-emit-index-url --no-header --no-annotate

setup: .venv/run compiled $(PAGE) ## Install .venv/bin/sandbox-agent, and build the inspector if Node.js is installed

.venv/run: requirements/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 2) and "sandbox-agent needs Python 3.11.2 or newer, and %s is %d.%d.%d; choose another with PYTHON=..." % ((sys.executable,) + sys.version_info[:3]))'
	@# Without Debian's python3-venv, a venv is incomplete: it has python but no pip.
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# With PYTHONDONTWRITEBYTECODE, as in many containers, every start would compile everything again and take 50% longer.
.PHONY: compiled
compiled: .venv/run
	@$(BIN)/python -m compileall -q src

.venv/dev: .venv/run requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# The inspector. Only its page needs Node.js: a machine without it, or without a network, still serves the API.
PAGE_SOURCES := docs/compatibility.mdx $(shell find inspector sdks/typescript/src sdks/react/src -name node_modules -prune -o -type f -print)
# Not --silent, which leaves out the reason of a failure too.
NPM_CI := npm ci --loglevel=error --no-update-notifier --no-progress --no-audit --no-fund >/dev/null

$(PAGE): $(PAGE_SOURCES)
	@if ! command -v npm >/dev/null; then echo "npm not found: the inspector at /ui/ is not built" >&2; \
	elif cd inspector && node check-node.cjs && { test node_modules/.package-lock.json -nt package-lock.json || $(NPM_CI) --omit=dev; } \
	  && node_modules/.bin/vite build --logLevel warn; then touch ../$@; \
	else echo "the inspector could not be built; everything except /ui/ works" >&2; fi

# Needed by its tests: vitest, the type checker, and a browser.
inspector/node_modules/.dev: inspector/package-lock.json
	cd inspector && $(NPM_CI) && touch node_modules/.dev

APT_CHROMIUM := apt-get -q install -y --no-install-recommends chromium

.PHONY: inspector
inspector:
	@command -v npm >/dev/null && $(MAKE) --no-print-directory inspector/node_modules/.dev $(PAGE) \
	|| echo "npm or its packages not found: the inspector is not built and its tests are skipped" >&2
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { test "$$(id -u)" = 0 && { $(APT_CHROMIUM) || { apt-get -q update && $(APT_CHROMIUM); }; } >/dev/null 2>&1; } \
	|| echo "chromium not found (set CHROMIUM=path): the browser tests of the inspector are skipped" >&2

APT_POSTGRES := apt-get -q install -y --no-install-recommends postgresql

.PHONY: postgres
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	|| { test "$$(id -u)" = 0 && { $(APT_POSTGRES) || { apt-get -q update && $(APT_POSTGRES); }; } >/dev/null 2>&1; } \
	|| echo "PostgreSQL not found: its tests are skipped" >&2

# Needed by the tests of the desktop: what a user installs, and a Python with tkinter for the program that they use on it.
.PHONY: desktop
desktop: .venv/run
	@test "$$(id -u)" != 0 || { $(BIN)/sandbox-agent install desktop --yes \
	  && { $(BIN)/python -c "import tkinter" || /usr/bin/python3 -c "import tkinter" || apt-get -q install -y --no-install-recommends python3-tk; }; \
	} >/dev/null 2>&1 || echo "the programs for the desktop could not be installed: its tests are skipped" >&2

.PHONY: agents
agents: .venv/dev
	@if command -v npm >/dev/null; then $(BIN)/python -m sandbox_agent.testing.agent_cache; \
	else echo "npm not found: the real agents are not installed and their tests are skipped" >&2; fi

# The published schemas of what other programs read: Kubernetes, Compose and the forge.
$(VALIDATORS):
	@$(PYTHON) -m venv .cache/validators && .cache/validators/bin/pip install --quiet --disable-pip-version-check \
	  check-jsonschema==0.39.0 kubernetes-validate==1.37.0 \
	|| echo "pip or its packages not found: compose.yaml, the manifest and the workflows are not validated" >&2

# A second type checker for programs that use the SDK, beside mypy.
$(PYRIGHT):
	@npm install --silent --no-progress --prefix .cache/pyright pyright@1.1.414 \
	|| echo "npm or its packages not found: pyright does not check the SDK examples" >&2

# The published client of the other daemon, which must work with ours unchanged.
$(PUBLISHED):
	@npm install --silent --no-progress --ignore-scripts --omit=optional --prefix .cache/published-client sandbox-agent@0.4.2 \
	|| echo "npm or its packages not found: the published client is not tested against the daemon" >&2

# OpenCode's own SDK, which must work with the door.
$(OPENCODE_SDK):
	@npm install --silent --no-progress --ignore-scripts --prefix .cache/opencode-sdk @opencode-ai/sdk@1.18.33 \
	|| echo "npm or its packages not found: OpenCode's SDK is not tested against the door" >&2

clean: ## Remove everything the targets create
	rm -rf inspector/node_modules src/sandbox_agent/http/ui
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist $(SDK)/node_modules $(SDK)/build $(SDK)/dist
	rm -rf $(DEPLOY)/node_modules $(DEPLOY)/cloudflare/build
	rm -rf $(REACT)/node_modules $(REACT)/dist
