# Everything here is `python -m autograder VERB`, for those who like make. Without make: see README.md.
#
#   make lab                      set up (once), build the notebooks, open JupyterLab
#   make test                     the same set-up, then the tests
#   make lab ARGS="--no-browser --port 9999"      options for JupyterLab
#   make present ARGS=attention   the lecture on attention slide by slide, widgets alive
#   make test ARGS="-k attention"                 options for pytest
#   make site ARGS="--only attention"             the course as static pages, for a browser and nothing else
#   make setup TORCH=cuda         another build of PyTorch: cpu (default), cuda or default (the package index's own)
#   make lab PYTHON=python3.13    another Python; NLM_VENV=/some/folder another place than .venv

VERBS := lab present test setup build site notebooks translate sync renumber lint format pythons pins doctor clean check roster collect exchange hub preflight grade race regrade grade-one gradescope worker feedback mark report due extend backup restore new-semester lti release compose quiz import attacks desk ask hand-in mine new groups markers
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if "$$p" -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then echo "$$p"; break; fi; done)
TORCH ?=
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help $(VERBS)

help:
	@sed -n 's/^# \{0,1\}//p' Makefile
	@echo
	@echo "targets: $(VERBS)"

$(VERBS):
	@if [ -z "$(PYTHON)" ]; then \
		echo "The course needs Python 3.11 or newer, and none was found. Install one (python.org, your system's"; \
		echo "package manager, or conda), or name it:  make $@ PYTHON=/path/to/python3"; exit 1; fi
	@"$(PYTHON)" -m autograder $@ $(if $(TORCH),--torch $(TORCH)) -- $(ARGS)
