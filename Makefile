# Two commands do everything: `make demo` runs the main job, `make test` the tests. Both set up what is missing.
SHELL := /bin/bash
# A Python 3.11 (bpy 4.5 needs exactly that); give another by `make PYTHON=/path/to/python3.11 demo`
PYTHON ?= $(shell for p in python3.11 /usr/bin/python3.11 python3; do \
	"$$p" -c 'import sys; raise SystemExit(sys.version_info[:2] != (3, 11))' 2>/dev/null && { command -v "$$p"; break; }; done)
BIN := .venv/bin
# What hostile code tries, and what may be left behind
ATTACKS := tests/attacks tests/harness/sandbox tests/harness/test_hostile_runs.py tests/harness/test_session_ends.py
RUN := $(or $(RUN),runs/demo-$(shell date +%Y%m%d-%H%M%S))

.PHONY: help setup demo check-demo test attacks routes verification launch test-consumers test-fast lint types format bench clean

help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

# The agent's environment; made again when what it is made from changes
.venv/.ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 found. Install it (Debian 12: apt-get install python3.11)," \
		"or name it: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	@PYTHON="$(PYTHON)" bash scripts/make_venv.sh .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--config-settings editable_mode=compat -e '.[dev]' \
		2> >(grep -vE 'Running pip as the|is ignored: it is neither' >&2)
	@touch $@

.venv-blender/.ready: .venv/.ready
	@$(BIN)/blendscribe setup --into .venv-blender
	@touch $@

setup: .venv-blender/.ready  ## the agent's environment, Blender's, Mesa and the sandbox

demo: setup  ## five agent episodes: real Blender, real renders, judged and recorded
	@$(BIN)/blendscribe run configs/demo/tasks.yaml -m scripted/demo -o $(RUN)

check-demo: demo  ## the same, and then the tests of what it recorded
	DEMO_RUN=$(RUN) $(BIN)/pytest tests/e2e

# Suites of their own, so that each stays short
VERIFICATION := tests/harness/checks tests/verification tests/tasks
SUITES := tests/e2e tests/routes tests/launch $(VERIFICATION) $(ATTACKS)

test: setup lint types  ## lint, types, then the tests but those of the suites below
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 15 $(SUITES:%=--ignore %)

attacks: setup  ## what hostile code tries, on every isolation level, and honest films; writes docs/attacks.md
	$(BIN)/pytest -n 2 $(ATTACKS) --durations 5 --junitxml attacks.xml -o junit_logging=system-out
	$(BIN)/python -m tests.attacks.table attacks.xml > attacks.md && mv attacks.md docs/attacks.md && rm attacks.xml

routes: setup  ## the same episode through every route to a model, with real Blender; writes docs/routes.md
	$(BIN)/pytest -n 2 tests/routes --durations 5 --junitxml routes.xml -o junit_logging=system-out
	$(BIN)/python -m tests.routes.table routes.xml > routes.md && mv routes.md docs/routes.md && rm routes.xml

verification: setup  ## checks, renders, verify, old files, and ten ready tasks played right, wrong and in 550 mutations
	$(BIN)/pytest -n 2 --dist loadfile $(VERIFICATION) --durations 10

launch: setup  ## fifty episodes through every fault: launcher, Blender and provider killed, the disk full
	$(BIN)/pytest tests/launch --durations 5

test-consumers: .venv/.ready  ## exported data sets, read by the trainers' own code (environments in .consumers/, 4 GB)
	bash tests/consumers/run.sh

test-fast: setup  ## the tests that start no Blender
	$(BIN)/pytest -n 2 -m 'not blender'

lint: .venv/.ready  ## ruff
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/.ready  ## mypy, strict
	$(BIN)/mypy

format: .venv/.ready  ## write the format that lint wants
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup  ## the figures of the docs, as ratios of pairs run side by side
	$(BIN)/python -m tests.bench

clean:  ## remove both environments (runs/ stays)
	rm -rf .venv .venv-blender .venv-blender.lock
