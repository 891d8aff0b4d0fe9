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

$(BIN)/.locked: requirements-dev.txt
	@echo "==> Python packages, as locked in requirements-dev.txt"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

.PHONY: setup
setup: $(BIN)/.locked ## the locked Python environment in .venv

.PHONY: lock
lock: ## lock the Python packages again after a change in pyproject.toml
	$(BIN)/python -m pip install --quiet uv==0.13.9
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" --group dev pyproject.toml -o requirements-dev.txt

.PHONY: format
format: setup ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: proto
proto: setup ## generate talosapi/gen from talosapi/proto
	$(BIN)/python -m talosapi.proto
