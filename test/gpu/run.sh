#!/usr/bin/env bash
# Runs the Python suite and the examples on a GPU, from an installed wheel:
#   test/gpu/run.sh dist/tile_compiler-*.whl [options of pytest, such as -n 8]
# Needs the driver, cuda-python, numpy, ml_dtypes, pytest and torch.
set -uo pipefail
cd "$(dirname "$0")/../.."
wheel=$(realpath "$1")
shift
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
python3 -m pip install -q --no-deps --no-compile --target "$site" "$wheel" || exit 1
export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH} TILE_DRIVER=cuda
log=$(mktemp)
trap 'rm -rf "$site" "$log"' EXIT
status=0
(cd examples && python3 demo.py) || status=1
python3 -m pytest -p no:cacheprovider -m "" --ignore=test/python/sim --ignore=test/python/tools "$@" test/python third_party/nvidia/test/python | tee "$log"
[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
# Those measure times, and end the use of the GPU by a process: nothing runs beside them.
python3 -m pytest -p no:cacheprovider -p no:xdist test/gpu || status=1
count() { tail -1 "$log" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0; }
echo "$(count passed) passed, $(($(count failed) + $(count error))) failed, $(count skipped) skipped"
exit $status
