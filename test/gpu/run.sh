#!/usr/bin/env bash
# Runs the Python suite and the examples on a GPU, from an installed wheel:
#   test/gpu/run.sh dist/tile_compiler-*.whl
# Needs the driver, cuda-python, numpy, ml_dtypes, pytest and torch.
set -uo pipefail
cd "$(dirname "$0")/../.."
wheel=$(realpath "$1")
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
python3 -m pip install -q --no-deps --no-compile --target "$site" "$wheel" || exit 1
export PYTHONPATH=$site TILE_DRIVER=cuda
status=0
(cd examples && python3 demo.py) || status=1
python3 -m pytest -p no:cacheprovider --ignore=test/python/sim --ignore=test/python/tools test/python || status=1
exit $status
