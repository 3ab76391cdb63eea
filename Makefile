# The two commands a newcomer needs are `make demo` and `make test`; `make help` lists the rest.
# Each makes what it needs on the way (.venv, the compiled core) and makes it once: the stamps are files in .venv and build/.

SHELL := /bin/bash
PYTHON ?= python3
ifeq ($(origin CXX),default)
CXX := c++
endif

VENV := .venv
BIN := $(VENV)/bin
PEERS := .bench-venv
DOCS := .docs-venv
ENGINES := .engines-venv
DEBIAN_PEERS := weka default-jdk-headless r-base-core r-cran-e1071
# uv installs ten times as fast as pip where there is one; it does not read pip's settings, so `make UV=` leaves it out.
UV ?= $(shell command -v uv)
install = $(if $(UV),$(UV) pip install --quiet --compile-bytecode --python $(1)/bin/python,$(1)/bin/python -m pip install --quiet --disable-pip-version-check)
# A compiler cache where there is one, shared by all checkouts: a fresh clone then compiles in seconds.
CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)
export CMAKE_CXX_COMPILER_LAUNCHER
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
# The core is built by CMake below, in build/core, and lands in src/bayesbox; pip then only has to point at src.
EDITABLE := --no-build-isolation --config-settings=wheel.cmake=false --config-settings=wheel.py-api=py3 --editable

# As pip does on installing: a process that may not write .pyc files would compile every module at every start.
COMPILE_MODULES := $(BIN)/python -m compileall -q src

BASE := $(VENV)/.base
DEV := $(VENV)/.dev
CORE := build/core/.built
SANITIZED := build/sanitized/.built
WEB := $(wildcard src/bayesbox/app/web/*.js tests/web/*.js)
CORE_SOURCES := CMakeLists.txt $(filter-out cpp/tests/%,$(wildcard cpp/*/*.hpp cpp/*/*.cpp))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-versions test-arm test-clang test-engines lint build dev wheels docs fuzz sanitize bench check-system check-browser clean

help:
	@echo 'make demo              a first look: train, predict and explain on a small table'
	@echo 'make test              everything that must hold: lint, types, layers, tests, doctests'
	@echo 'make test-versions     the lowest and the newest versions of what it needs, on every Python that is here; ONLY="3.12-lowest"'
	@echo 'make test-arm          the tests of the C++ core for aarch64, compiled across and run by qemu'
	@echo 'make test-clang        the tests of the C++ core by clang with libc++'
	@echo 'make test-engines      Spark 4, a packed environment on a Spark cluster, and Ray; ONLY="spark packed ray"'
	@echo 'make lint              the static half of it: ruff, mypy, import-linter, deno'
	@echo 'make build             .venv with the package and its compiled core, ready to use'
	@echo 'make dev               the same, with the tools for working on it'
	@echo 'make wheels            the source archive and wheels for Linux, x86-64 and aarch64, in dist/; ONLY=x86_64'
	@echo 'make docs              the site: build/docs/site/index.html'
	@echo 'make fuzz              a hundred thousand damaged files of every format under the sanitizers, power cuts, and interrupts; FILES=n SEED=n CUTS=n'
	@echo 'make sanitize          the tests of the C++ core under the sanitizers, and some damaged files'
	@echo 'make bench [DATA=dir]  speed against the peers, also on the tables of a folder; ONLY="names", QUICK=1, FULL=1'
	@echo 'make clean             remove all that was made'
	@echo
	@echo 'PYTHON=python3.12 chooses the interpreter, CXX=clang++ the compiler; uv and ccache are used where they are found.'

demo: $(CORE)
	@$(BIN)/bayes demo

test: lint check-browser
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

lint: $(CORE) $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deno fmt --quiet --check
	$(BIN)/deno lint --quiet
	$(BIN)/deno check --quiet $(WEB)

build: $(CORE)

dev: $(CORE) $(DEV)

fuzz: $(CORE) $(SANITIZED) $(DEV)
	$(BIN)/python -m tests.fuzz.run $(if $(REPLAY),--replay "$(REPLAY)",$(or $(FILES),100000) --seed $(or $(SEED),0) \
		--core "$$(ls $(CURDIR)/build/sanitized/_core*.so)" $(if $(ONLY),--only $(ONLY)))
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.fuzz.power_cuts $(or $(CUTS),2000))
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.serve.store.power_cuts $(or $(CUTS),2000) $(or $(SEED),0))
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.serve.store.faults 500 $(or $(SEED),0))
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.serve.store.writers sqlite 2 100)
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.serve.store.writers postgresql 8 200)
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.serve.store.server_kills 100)
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.fuzz.interrupts)
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.fuzz.one_row 10000 $(or $(SEED),0))
	$(if $(REPLAY)$(ONLY),,$(BIN)/python -m tests.fuzz.service 10000 $(or $(SEED),0))

sanitize: $(CORE) $(SANITIZED) $(DEV)
	$(BIN)/cmake -S cpp/tests -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DCMAKE_CXX_COMPILER=$(CXX) -DSANITIZE=ON --log-level=WARNING >/dev/null
	$(BIN)/cmake --build build/sanitize -- --quiet
	build/sanitize/core_tests
	$(BIN)/python -m tests.fuzz.run 2000 --core "$$(ls $(CURDIR)/build/sanitized/_core*.so)"

# -- other systems -----------------------------------------------------------------------------------------------

ARM := aarch64-linux-gnu
ARM_PACKAGES := g++-$(ARM) qemu-user-static
CLANG ?= clang++-19
CORE_TESTS := $(BIN)/cmake -S cpp/tests -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja --log-level=WARNING

test-versions: $(BASE)
	@$(BIN)/python release/versions.py $(ONLY)

test-arm: $(BASE)
	@command -v $(ARM)-g++ qemu-aarch64-static >/dev/null || { echo 'The compiler for ARM or qemu is missing: apt-get install $(ARM_PACKAGES)'; exit 1; }
	@$(CORE_TESTS) -B build/aarch64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=$(ARM)-g++ >/dev/null
	@$(BIN)/cmake --build build/aarch64 -- --quiet
	qemu-aarch64-static -L /usr/$(ARM) build/aarch64/core_tests

test-clang: $(BASE)
	@command -v $(CLANG) >/dev/null || { echo '$(CLANG) is missing: apt-get install clang-19 libc++-19-dev libc++abi-19-dev, or name another: make CLANG=clang++'; exit 1; }
	@$(CORE_TESTS) -B build/clang -DCMAKE_CXX_COMPILER=$(CLANG) -DCMAKE_CXX_FLAGS=-stdlib=libc++ >/dev/null
	@$(BIN)/cmake --build build/clang -- --quiet
	build/clang/core_tests

# Spark 4 and Ray in an environment of their own: make test has Spark 3.5, and neither is small.
ENGINE_TESTS_spark := tests/source/test_spark.py tests/source/test_spark_stream.py tests/export/test_spark_columns.py tests/laws/test_one_digest.py::test_spark tests/laws/test_one_digest.py::test_spark_loses_an_executor
ENGINE_TESTS_packed := tests/engines/packed.py
ENGINE_TESTS_ray := tests/engines/ray_dataset.py

test-engines: $(ENGINES)/.made $(CORE)
	$(ENGINES)/bin/python -m pytest -q -p no:cacheprovider $(foreach name,$(or $(ONLY),spark packed ray),$(ENGINE_TESTS_$(name)))

$(ENGINES)/.made: pyproject.toml | $(CORE)
	@echo 'Making $(ENGINES) with Spark 4 and Ray'
	@$(PYTHON) -m venv $(ENGINES)
	@$(call install,$(ENGINES)) 'scikit-build-core>=0.11' setuptools wheel
	@$(call install,$(ENGINES)) 'pyspark==4.*' venv-pack duckdb psutil pytest pytest-xdist hypothesis 'scipy>=1.13'
	@$(call install,$(ENGINES)) $(EDITABLE) '.[dask,pandas,ray]'
	@touch $@

wheels: $(BASE)
	@$(BIN)/python release/wheels.py $(foreach name,$(ONLY),--only $(name))

# -- what the commands stand on ----------------------------------------------------------------------------------

# Says what the system lacks, all at once and with the remedy, before anything is made.
check-system:
	@fail=0; lacks() { echo "$$1"; fail=1; }; \
	name=$$(basename "$(PYTHON)"); \
	if ! command -v "$(PYTHON)" >/dev/null; then \
		lacks "$(PYTHON) is missing: apt-get install python3 python3-venv python3-dev, or name another: make PYTHON=python3.12"; \
	elif ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
		lacks "bayesbox needs Python 3.11 or newer and $(PYTHON) is $$("$(PYTHON)" -V 2>&1): name another: make PYTHON=python3.12"; \
	else \
		"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null \
			|| lacks "venv is missing from $(PYTHON): apt-get install $$name-venv"; \
		test -f "$$("$(PYTHON)" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" \
			|| lacks "Python.h is missing: apt-get install $$name-dev"; \
	fi; \
	if ! command -v $(firstword $(CXX)) >/dev/null; then \
		lacks "the C++ compiler $(CXX) is missing: apt-get install g++, or name another: make CXX=clang++"; \
	elif ! printf '#include <concepts>\n#include <span>\nint main() {}\n' | $(CXX) -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then \
		lacks "$(CXX) does not compile C++20: apt-get install g++ (GCC 11 or newer), or name another: make CXX=clang++"; \
	fi; \
	exit $$fail

# The browser of the tests: one that is installed, Debian's or npm's; where none can be had it says what to type.
check-browser: $(DEV)
	@$(BIN)/python -m tests.web.browser >/dev/null

$(BASE): pyproject.toml
	@$(MAKE) --no-print-directory check-system
	@echo 'Making $(VENV) with what the package needs'
	@$(PYTHON) -m venv $(VENV)
	@$(call install,$(VENV)) 'scikit-build-core>=0.11' 'nanobind>=2.4' 'cmake>=3.25' ninja
	@$(call install,$(VENV)) $(EDITABLE) '.[app]'
	@touch $@

$(DEV): $(BASE)
	@echo 'Adding the tools for working on it'
	@$(call install,$(VENV)) setuptools wheel  # Spark comes as sources, and without isolation these build it
	@$(call install,$(VENV)) $(EDITABLE) '.[dev]'
	@touch $@

$(CORE): $(BASE) $(CORE_SOURCES)
	@echo 'Building the core with $(CXX)'
	@grep -qs 'CMAKE_CXX_COMPILER:.*/$(notdir $(CXX))$$' build/core/CMakeCache.txt || rm -rf build/core  # of another compiler
	@$(BIN)/cmake -S . -B build/core -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DCMAKE_CXX_COMPILER=$(CXX) \
		-DCMAKE_BUILD_TYPE=Release -DSKBUILD_STATE=editable -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python --log-level=WARNING >/dev/null
	@$(BIN)/cmake --build build/core -- --quiet
	@$(COMPILE_MODULES)
	@touch $@

# The module with sanitizers: it is loaded by name from where it is built, and never lands in src.
$(SANITIZED): $(BASE) $(CORE_SOURCES)
	@echo 'Building the core with sanitizers'
	@$(BIN)/cmake -S . -B build/sanitized -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DCMAKE_CXX_COMPILER=$(CXX) \
		-DCMAKE_BUILD_TYPE=None -DSANITIZE=ON -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python --log-level=WARNING >/dev/null
	@$(BIN)/cmake --build build/sanitized -- --quiet
	@touch $@

# -- benchmarks --------------------------------------------------------------------------------------------------

bench: $(PEERS)/.made $(CORE)
	@$(COMPILE_MODULES)
	@mkdir -p build
	@set -o pipefail; $(PEERS)/bin/python benchmarks/run.py $(foreach name,$(ONLY),--only $(name)) $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(DATA),--data "$(DATA)") \
		| tee build/bench.txt

$(PEERS)/.made: pyproject.toml | $(CORE)
	@echo 'Making $(PEERS) with the peers'
	@$(PYTHON) -m venv $(PEERS)
	@$(call install,$(PEERS)) 'scikit-build-core>=0.11'
	@$(call install,$(PEERS)) $(EDITABLE) '.[bench]'
	@$(call install,$(PEERS)) pyspark || echo 'Spark could not be installed: its benchmark is left out'
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get install -qq -y --no-install-recommends $(DEBIAN_PEERS) >/dev/null 2>&1 \
			|| { apt-get update -qq && apt-get install -qq -y --no-install-recommends $(DEBIAN_PEERS) >/dev/null; } \
			|| echo 'Weka and R could not be installed: their benchmarks are left out'; \
	else echo 'For Weka and R: apt-get install $(DEBIAN_PEERS)'; fi
	@touch $@

# -- the site ----------------------------------------------------------------------------------------------------

docs: $(DOCS)/.made $(CORE)
	@$(DOCS)/bin/python docs/site/stage.py build/docs/source
	@$(DOCS)/bin/sphinx-build -q -W --keep-going -b html -d build/docs/doctrees build/docs/source build/docs/site
	@echo 'Built build/docs/site/index.html'

$(DOCS)/.made: pyproject.toml | $(CORE)
	@echo 'Making $(DOCS) with Sphinx'
	@$(PYTHON) -m venv $(DOCS)
	@$(call install,$(DOCS)) 'scikit-build-core>=0.11'
	@$(call install,$(DOCS)) $(EDITABLE) '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(DOCS) $(ENGINES) build dist src/bayesbox/_core*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
