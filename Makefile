# What a person or CI calls. Every target makes what it needs: `make lab` on a fresh machine is enough.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/.locked: requirements-dev.txt pyproject.toml
	@echo "==> Python packages, as locked in requirements-dev.txt"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

.PHONY: setup
setup: $(BIN)/.locked ## the locked Python environment in .venv

.PHONY: lock
lock: ## lock the Python packages again, after a change in pyproject.toml
	$(BIN)/python -m pip install --quiet uv==0.13.9
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" --extra dev pyproject.toml -o requirements-dev.txt

.PHONY: test
test: setup tools library ## every test, the whole stacks with the real engine in the lab too
	@$(BIN)/python -m pytest -n 2 --dist loadfile $(TESTS)
	@echo "==> all tests passed; next: make lab"

.PHONY: test-exhaustive
test-exhaustive: setup tools ## the tests that CI leaves out because of their length: a kill after every step of a first run
	@$(BIN)/python -m pytest -m exhaustive $(TESTS)

.PHONY: check
check: setup ## formatting, lint, types, the import table
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy .
	$(BIN)/python -m pytest -q tests/test_rooms.py

.PHONY: format
format: setup ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: proto
proto: setup ## generate talosapi/gen from talosapi/proto
	$(BIN)/python -m talosapi.proto

# A real stack is always named: a default could be somebody's cluster.
STACKS = $(patsubst Pulumi.%.yaml,%,$(filter Pulumi.%.yaml,$(sort $(wildcard Pulumi.*.yaml))))
# `make preview homelab` means STACK=homelab.
MEANT = $(firstword $(filter $(STACKS),$(wordlist 2,9,$(MAKECMDGOALS))))
.PHONY: named
named:
	@$(if $(STACK),,echo "name the stack: make $(filter preview up recover,$(MAKECMDGOALS)) STACK=$(or $(MEANT),NAME); there are: $(STACKS)" >&2; exit 1)
	@$(if $(and $(filter $(STACK),$(STACKS)),$(if $(word 2,$(STACK)),,one)),,echo "there is no stack $(STACK) (Pulumi.$(STACK).yaml); there are: $(STACKS)" >&2; exit 1)

.PHONY: as-variable
as-variable:
	@$(if $(filter-out lab,$(MEANT)),echo "name the stack like this: make $(firstword $(MAKECMDGOALS)) STACK=$(MEANT)" >&2; exit 1)

# The lab. `make lab LAB_PLUGINS=real` uses the provider plugins on PATH instead of the stand-ins.
LAB := $(BIN)/python -m lab

.PHONY: only-lab
only-lab: as-variable
	@$(if $(filter-out lab,$(STACK)),echo "make lab is for the stack lab; for this one: make rehearse STACK=$(STACK)" >&2; exit 1)

.PHONY: lab
lab: only-lab setup ## bring up a whole cluster on simulated machines
	@$(LAB) up lab

.PHONY: rehearse
rehearse: as-variable setup ## the same for any stack, at its own addresses: make rehearse STACK=homelab
	@$(LAB) up "$(or $(STACK),lab)"

.PHONY: lab-shell
lab-shell: as-variable setup ## a shell inside the lab [STACK=lab]
	@$(LAB) shell "$(or $(STACK),lab)"

.PHONY: lab-status
lab-status: as-variable setup ## machines, faults and violated invariants of every lab that is up [STACK=…: of one]
	@$(LAB) status $(if $(STACK),"$(STACK)")

.PHONY: lab-down
lab-down: as-variable setup ## end every lab and remove its files [STACK=…: one lab]
	@$(LAB) down $(if $(STACK),"$(STACK)")

.PHONY: preview
preview: named setup ## what pulumi would do to a real stack: make preview STACK=homelab
	@PULUMI_SKIP_CHECKPOINTS=true $(BIN)/python -m engine preview --stack "$(STACK)"

.PHONY: up
up: named setup ## bring a real stack up, after asking: make up STACK=homelab
	@$(BIN)/python -m engine up --stack "$(STACK)"

.PHONY: recover
recover: named setup ## make a stack ready again after a run that was killed: make recover STACK=homelab
	@$(BIN)/python -m engine recover --stack "$(STACK)" $(if $(FORCE),--force)

.PHONY: tools
tools: setup ## pulumi, etcd and etcdutl, from PATH or built once
	@$(BIN)/python -m lab.tools

.PHONY: structure
structure: setup library ## regenerate machinery/structure/releases from the types of Talos's own library
	@$(BIN)/python -m tests.oracle.structure

.PHONY: library
library: setup ## build Talos's own library in four releases, once, to compare machinery/ with it
	@$(BIN)/python -m tests.oracle

.PHONY: bench
bench: setup tools ## measure previews and bring-ups of up to 200 nodes; takes a quarter of an hour
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.render --write

.PHONY: golden
golden: setup ## regenerate the golden renderings in tests/golden
	@$(BIN)/python -m tests.regenerate

.PHONY: schema
schema: setup ## regenerate docs/stack.schema.json, after a change in topology/
	@$(BIN)/talos-stacks schema --write

.PHONY: draw
draw: setup ## regenerate docs/topologies.md, after a change in a stack file
	@$(BIN)/talos-stacks draw --write

.PHONY: fuzz
fuzz: setup ## random topologies, patches and stack files, new ones every time: make fuzz FUZZ=20000
	@FUZZ=$(or $(FUZZ),5000) $(BIN)/python -m pytest -q --timeout 0 --hypothesis-show-statistics tests/fuzz

.PHONY: fuzz-oracle
fuzz-oracle: setup library ## compare machinery/ with Talos's library on new random patches and on all oddities: make fuzz-oracle N=20000
	@FUZZ_ORACLE=$(or $(N),5000) $(BIN)/python -m pytest -q --timeout 0 tests/oracle
