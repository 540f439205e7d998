# `make demo` analyses a real bundle, `make test` runs all the tests, `make docs` builds the site. They install into .venv what they need,
# once; Python 3.10 or newer is all that has to be there. PYTHON=python3.12 chooses another one.
# On request: `make test-browser` tests the page in a Chromium that is there, `make bench` measures (docs/performance.md), `make test-oldest` tests with the oldest pyspark that pyproject.toml claims.
PYTHON ?= python3
VENV := .venv
OLDEST := $(VENV)/oldest
SPARK_TESTS := tests/spark tests/test_cli.py tests/test_merge_command.py tests/test_case.py
BUNDLE := fixtures/bundles/unclean-election-2.8.2-zk.tar.gz

.PHONY: demo docs test test-browser bench test-oldest
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(VENV)/bin/kafka-forensics analyze $(BUNDLE)

test: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test-browser: $(VENV)/.installed-dev
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(VENV)/bin/pytest tests/browser

bench: $(VENV)/.installed-bench
	$(VENV)/bin/python -m benchmarks
	$(VENV)/bin/python -m benchmarks --page

test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest $(SPARK_TESTS)

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --quiet
	@echo "build/site/index.html"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or newer is needed: make PYTHON=...") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[jre]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[jre,dev]'
	touch $(VENV)/.installed $@

$(VENV)/.installed-bench: $(VENV)/.installed-dev
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

$(OLDEST)/.installed: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[jre,dev]' \
		"pyspark==$$(sed -n 's/.*"pyspark>=\([0-9.]*\)".*/\1/p' pyproject.toml)"
	touch $@

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@
