# make demo   a first look       make test   everything that must hold
# make bench  speed against the peers: make bench DATA=folder-of-real-data
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPP := $(wildcard cpp/*.hpp cpp/*.cpp)

.PHONY: demo test lint sanitize bench build clean

$(VENV)/made: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "bayesbox needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip scikit-build-core nanobind cmake ninja
	touch $@

$(VENV)/built: $(VENV)/made $(CPP) CMakeLists.txt
	$(BIN)/pip install -q --no-build-isolation -e '.[dev]'
	touch $@

build: $(VENV)/built

test: lint
	$(BIN)/pytest -q -n 2

lint: $(VENV)/built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .bench-venv build src/bayesbox/_core*.so
