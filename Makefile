# `make demo` analyses a real bundle, `make test` runs all the tests, `make docs` builds the site. They install into .venv what they need,
# once; Python 3.10 or newer is all that has to be there. PYTHON=python3.12 chooses another one.
PYTHON ?= python3
VENV := .venv
BUNDLE := fixtures/bundles/unclean-election-2.8.2-zk.tar.gz

.PHONY: demo docs test
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(VENV)/bin/kafka-forensics analyze $(BUNDLE)

test: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest --numprocesses auto --maxprocesses 4 --dist worksteal

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

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@
