#!/usr/bin/env bash
# Builds a self-contained wheel in dist/ for the interpreter in $PYTHON.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
limit_mb=36
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=.setup/wheel-$version
if [ ! -x "$venv/bin/python" ]; then
  echo "==> Making a build environment for Python $version"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check build scikit-build-core nanobind cmake ninja
fi
echo "==> Building the wheel for Python $version"
mkdir -p dist
"$venv/bin/python" -m build --wheel --no-isolation --outdir dist . >.setup/wheel.log 2>&1 || { tail -40 .setup/wheel.log; exit 1; }
wheel=$(ls -t dist/tile_compiler-*.whl | head -1)
size=$(( $(stat -c %s "$wheel") / 1000000 ))
echo "==> $wheel: $size MB"
[ "$size" -le "$limit_mb" ] || { echo "error: the wheel is over $limit_mb MB" >&2; exit 1; }
# The distribution whose package `triton` is tile.
"$venv/bin/python" -m pip wheel -q --no-deps --wheel-dir dist python/triton-distribution >>.setup/wheel.log 2>&1 || { tail -40 .setup/wheel.log; exit 1; }
