#!/usr/bin/env bash
# Runs the Python tests on other targets in the simulator: what is not about NVIDIA's GPUs alone
# (marked `nvidia`), the examples, and 3,000 random kernels on each.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
for target in "$@"; do
  echo "==> Examples on $target"
  (cd examples && TILE_DRIVER=sim TILE_SIM_TARGET=$target ../.venv/bin/python demo.py) || status=1
  echo "==> Python tests on $target (pytest)"
  TILE_SIM_TARGET=$target .venv/bin/python -m pytest -n auto --dist worksteal \
    --ignore test/python/sim --ignore test/python/random/test_random_kernels.py test/python || status=1
  echo "==> Random kernels on $target"
  .venv/bin/python test/fuzz/run.py --count 3000 --jobs "$(nproc)" --target "$target" || status=1
done
exit $status
