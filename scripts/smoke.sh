#!/usr/bin/env bash
# Installs a wheel into a new environment of a Python, and runs a kernel with it:
#   scripts/smoke.sh WHEEL PYTHON
# PYTHON may be of another machine, if it starts here (qemu-user).
set -euo pipefail
wheel=$(realpath "$1")
python=$2
examples=$(realpath "$(dirname "$0")/../examples")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$python" -m venv env
env/bin/python -m pip install -q --disable-pip-version-check "$wheel[interpreter]"
export TILE_CACHE_DIR=$folder/cache
env/bin/tile env | tail -1
for example in vector_add softmax matmul; do env/bin/python "$examples/$example.py"; done
echo "==> $(basename "$wheel"): $(env/bin/python -VV | head -1), $(env/bin/python -c 'import platform; print(platform.machine(), *platform.libc_ver())')"
