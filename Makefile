# Driftline. POSIX make: works with GNU make and with BSD make. Guide: docs/running.md

PYTHON ?= python3
PORT ?= 8000
STATE ?= .run
BIND ?= 127.0.0.1
TESTS ?=
ROUNDS ?= 50
WRITE ?=
BENCHMARKS = compare detection_speed ingest jobs pages
# Empty: versions from the system's packages, where there are no wheels (docs/running.md, FreeBSD)
CONSTRAINTS ?= locked
# Empty: `make lock` keeps the versions that constraints.txt has
UPGRADE ?= --upgrade
VENV = .venv
STAMP = $(VENV)/.stamp
BIN = $(VENV)/bin
# A file's tests go to one process, which starts what they share once; files in their order. Bytecode is
# kept even where the environment says otherwise: each of the hundreds of processes that tests start would
# compile the project anew.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 5
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Refuses a file whose hash is not in the list. The lists are complete, so nothing is resolved; what has no
# wheel is built with what locked/build.txt brought.
PIP_LOCKED = $(PIP) --no-deps --require-hashes --no-build-isolation --use-pep517
LAUNCHER = $(BIN)/python -m webapp.launcher
WHERE = --port "$(PORT)" --bind "$(BIND)" --state "$(STATE)"
STACK = $(LAUNCHER) up $(WHERE)

.PHONY: help setup demo up service faults test approve long bench-test again fuzz browser exports workloads check format bench oracles lock sbom audit clean

help:
	@echo 'make demo    start everything with demonstration data   (PORT=8000 STATE=.run)'
	@echo 'make up      start everything with the data in STATE    (PORT=8000 STATE=.run)'
	@echo 'make service print the file by which systemd or rc.d starts it, and starts it again'
	@echo 'make setup   only make the environment: .venv'
	@echo 'make test    run the tests                 (TESTS="path, or name of a room, -k word")'
	@echo 'make approve write the approved texts anew, for review (TESTS as above)'
	@echo 'make long    run the tests that take long               (TESTS="path -k word")'
	@echo 'make fuzz    10,000 generated cases for each parser      (TESTS="path -k word")'
	@echo 'make check   linters, types, layers, names, missing migrations'
	@echo 'make format  format the code'
	@echo 'make bench   run the benchmarks: one JSON object a line'
	@echo 'make faults  kill and starve an instance, ROUNDS=50: one JSON object a line'
	@echo 'make bench-test  run the tests of what measures: benchmarks and simulations'
	@echo 'make oracles the environments of Otava and LNT, which benchmarks compare with'
	@echo 'make lock    the newest versions: constraints.txt, locked/   (UPGRADE= keeps them)'
	@echo 'make sbom    the bill of materials of .venv, CycloneDX: sbom.json'
	@echo 'make audit   known vulnerabilities of what constraints.txt names; exit 2: had no data'
	@echo 'make clean   remove .venv and caches; data in STATE stay'

setup: $(STAMP)

# Everything at its locked version. Progress goes to standard error: the standard output of `make demo`
# and `make up` is the line that says where the pages are.
$(STAMP): pyproject.toml locked/build.txt locked/run.txt locked/setup.txt agents/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Driftline needs Python 3.11 or later, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo 'This Python cannot make environments. Debian: apt install python3-venv' >&2; exit 1; }
	@echo 'driftline: installing into $(VENV)' >&2
	@rm -f $(STAMP)
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV) >&2
	@if [ -z '$(CONSTRAINTS)' ]; then $(PIP) --prefer-binary -e '.[embedded,test,check]' -e agents; else \
	  $(PIP_LOCKED) -r '$(CONSTRAINTS)/build.txt' && \
	  $(PIP_LOCKED) -r '$(CONSTRAINTS)/run.txt' -r '$(CONSTRAINTS)/setup.txt' && \
	  $(PIP) --no-deps --no-build-isolation -e . -e agents; fi >&2
	@touch $(STAMP)

demo: $(STAMP)
	@exec $(STACK) --demo

up: $(STAMP)
	@exec $(STACK)

service: $(STAMP)
	@case `uname` in Linux) kind=systemd;; *) kind=rc.d;; esac; \
	$(LAUNCHER) service $$kind $(WHERE)

test: $(STAMP) browser exports
	@$(PYTEST) -m 'not long and not bench and not release' $(TESTS)

# The texts of pages, mails and reports, as they are now. Those that no test asks for any more go.
approve: $(STAMP)
	@[ -n '$(TESTS)' ] || rm -rf tests/approved
	@$(PYTEST) --approve -m 'not bench' $(TESTS)
	@git status --short tests/approved

# Whole instances and agents that are killed and started again, databases that are upgraded, a lab's
# archive, and the rest of the matrices of which `make test` runs the first case.
long: $(STAMP) browser workloads
	@$(PYTEST) -m 'long and not bench and not release' $(TESTS)

# What benchmarks and simulations measure with, and what they find about the statistics in small.
bench-test: $(STAMP)
	@$(PYTEST) -m bench $(TESTS)

# What failed in the last run, one after the other, up to the first that fails again. With nothing
# failed (the run itself broke) this fails too.
again: $(STAMP) browser
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -v -x --last-failed --last-failed-no-failures none

# The tests marked `fuzz`, which `make test` runs with 60 cases a parser.
fuzz: $(STAMP)
	@HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n 2 -m fuzz $(TESTS)

# The browser tests drive the system's Chromium. Without it they fail, and say so. The one without
# windows takes two thirds of the processor time; not every distribution has it.
browser:
	@if command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome; then :; \
	elif command -v apt-get && [ "`id -u`" = 0 ]; then \
	  export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; \
	  apt-get install -y -qq --no-install-recommends chromium-headless-shell || \
	  apt-get install -y -qq --no-install-recommends chromium; \
	else echo 'driftline: no Chromium found: the browser tests will fail. Debian: apt install chromium-headless-shell; FreeBSD: pkg install chromium' >&2; \
	fi >/dev/null

# What the exports are tried with, which no instance needs. Where there are no wheels of it, these
# tests are skipped, and say so.
exports: $(STAMP)
	@$(BIN)/python -c 'import kcidb_io, pandas, pyarrow' 2>/dev/null || \
	  $(PIP_LOCKED) --only-binary :all: -r locked/exports.txt >&2 || :

# The benchmarks that a test runs; of those that are missing it says so.
workloads:
	@if command -v apt-get && [ "`id -u`" = 0 ]; then \
	  missing=; \
	  for each in iperf3:iperf3 fio:fio hackbench:rt-tests sysbench:sysbench stress-ng:stress-ng perf:linux-perf hyperfine:hyperfine; do \
	    command -v "$${each%:*}" || missing="$$missing $${each#*:}"; \
	  done; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  [ -z "$$missing" ] || { apt-get update -qq; apt-get install -y -qq --no-install-recommends $$missing || :; }; \
	fi >/dev/null

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.dropped_words
	$(BIN)/python -m tools.unused
	$(BIN)/djlint --quiet --check webapp/templates
	$(BIN)/djlint --quiet --lint webapp/templates
	@# Needs no server: the warning is that none answers.
	$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djlint --quiet --reformat webapp/templates

bench: $(STAMP)
	@for name in $(BENCHMARKS); do $(BIN)/python -m "benchmarks.$$name" || exit; done

# About half a minute a round, two minutes where everything starts again.
# WRITE=--write keeps the counts in benchmarks/results. Then the tests marked `release`, of each kind of
# which `make long` runs another; what pytest says goes to standard error.
faults: $(STAMP)
	@$(BIN)/python -m tests.faults.rounds --rounds $(ROUNDS) $(WRITE)
	@$(PYTEST) -m release >&2

# Otava pins older NumPy and SciPy, LNT an older SQLAlchemy: benchmarks run them in environments of their own.
oracles: .venv-oracles/.stamp .venv-lnt/.stamp

.venv-oracles/.stamp: benchmarks/oracles.txt
	@rm -rf .venv-oracles
	@$(PYTHON) -m venv .venv-oracles
	@.venv-oracles/bin/pip install --quiet --disable-pip-version-check -r benchmarks/oracles.txt
	@touch .venv-oracles/.stamp

# What examines and writes the list of dependencies is no part of them.
SUPPLY = $(PIP_LOCKED) -r locked/supply.txt >&2

.venv-lnt/.stamp: benchmarks/lnt.txt
	@rm -rf .venv-lnt
	@$(PYTHON) -m venv .venv-lnt
	@.venv-lnt/bin/pip install --quiet --disable-pip-version-check -r benchmarks/lnt.txt
	@touch .venv-lnt/.stamp

lock: $(STAMP)
	@$(SUPPLY)
	@$(BIN)/python -m tools.lock $(BIN)/uv $(UPGRADE)

sbom: $(STAMP)
	@$(SUPPLY)
	@$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o sbom.json $(BIN)/python

audit: $(STAMP)
	@$(SUPPLY)
	@$(BIN)/python -m tools.audit $(BIN)/pip-audit constraints.txt

clean:
	rm -rf $(VENV) sbom.json .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis
