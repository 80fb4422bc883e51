# `make demo` and `make test` are all a newcomer needs; both set up first.
PYTHON ?= python3
export PYTHON
VENV := .venv/bin
# What ruff formats; of docs only programs, not the code on pages.
PYTHON_CODE := python third_party test examples bench $(wildcard scripts/*.py docs/*.py docs/tutorials/*.py)

.PHONY: help setup configure build demo test test-all from-wheel wheel format check-format docs tutorials site release clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: ## Install Debian packages and make .venv (once)
	@scripts/setup.sh

configure: setup
	@if [ ! -f build/build.ninja ]; then echo "==> Configuring build/"; \
	  cmake --preset dev $(CMAKE_FLAGS) -DPython_EXECUTABLE=$(abspath $(VENV)/python) > .setup/cmake.log 2>&1 || { tail -30 .setup/cmake.log; exit 1; }; fi

build: configure ## Development build: build/bin/tile-opt, the package in .venv
	@echo "==> Building"
	@cmake --build build

demo: build ## Set up, build and run the main job
	@echo "==> Running examples/demo.py"
	@$(VENV)/python examples/demo.py

test: build ## Set up, build and run every test
	@cmake --build build --target tile-unittests
	@scripts/test.sh

test-all: build ## The same, with the long sweeps, other GPUs, threads, and a wheel
	@cmake --build build --target tile-unittests
	@scripts/test.sh -m ''
	@$(VENV)/python bench/regress.py check
	@scripts/test_targets.sh cuda:75 cuda:86 cuda:89 cuda:100 cuda:120 hip:gfx942 hip:gfx1100
	@scripts/test_threads.sh
	@$(MAKE) --no-print-directory from-wheel

from-wheel: build ## Install a wheel of the development build, and follow the pages as a newcomer
	@rm -rf .setup/dev-wheel
	@$(VENV)/python -m build --wheel --no-isolation --outdir .setup/dev-wheel -C build-dir=build-wheel \
	  -C cmake.args=--preset=dev -C cmake.build-type=Dev -C cmake.define.TILE_BUILD_TESTS=OFF . \
	  > .setup/dev-wheel.log 2>&1 || { tail -30 .setup/dev-wheel.log; exit 1; }
	@$(VENV)/python scripts/from_wheel.py .setup/dev-wheel/*.whl

wheel: ## Self-contained wheel in dist/ (PYTHON=python3.12 chooses for whom)
	@scripts/setup.sh packages
	@scripts/wheel.sh

release: ## All wheels, the source, checksums, and what is in them, in dist/ (wheels in WHEELS= are not made)
	@scripts/release.sh $(WHEELS)

format: setup ## clang-format and ruff, in place
	@git ls-files '*.cpp' '*.h' | xargs /usr/bin/clang-format-22 -i
	@$(VENV)/ruff format -q $(PYTHON_CODE)
	@$(VENV)/ruff check -q --fix $(PYTHON_CODE)

check-format: setup
	@git ls-files '*.cpp' '*.h' | xargs /usr/bin/clang-format-22 --dry-run --Werror
	@$(VENV)/ruff format -q --check $(PYTHON_CODE)

docs: build ## Regenerate docs/generated from TableGen and the compiler
	@scripts/docs.sh

tutorials: build ## Run the tutorials and write their pages anew
	@$(VENV)/python scripts/tutorials.py

site: ## The pages of docs/ as a site in build/site
	@scripts/site.sh

clean: ## Remove everything that was built
	rm -rf build build-wheel build-release build-sanitize build-tsan dist .setup .venv python/tile/_C*.so python/tile/backends/nvidia
