#!/usr/bin/env bash
# Builds a self-contained wheel in dist/ for the interpreter in $PYTHON:
#   scripts/wheel.sh [x86_64|aarch64]
# A wheel of Python 3.12 uses the stable ABI, so that it also serves every later version. All wheels of a machine are
# built in build-release/<machine>. So ccache has the compiler's objects from the second one on, and only the bindings
# are compiled once more.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
machine=${1:-$(uname -m)}
limit_mb=36
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=$(PYTHON=$python scripts/wheel_tools.sh)
scripts/sysroot.sh "$machine"
options=(-C "build-dir=build-release/$machine" -C "cmake.define.TILE_BUILD_TOOLS=OFF")
if [ "$machine" = "$(uname -m)" ]; then
  options+=(-C "cmake.define.TILE_LINK_SYSROOT=$PWD/.setup/sysroot/$machine")
else
  # The headers are those of Debian's Python 3.13. CMake takes them for an interpreter of that version alone. Of them the
  # stable ABI's part is the same in every version, so that the wheel serves Python 3.12, too.
  [ "$version" = 3.13 ] || { echo "error: a wheel for $machine is made with Python 3.13, not $version" >&2; exit 2; }
  options+=(-C "cmake.define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/toolchains/$machine-linux.cmake"
    -C "cmake.define.Python_INCLUDE_DIR=$PWD/.setup/sysroot/$machine/usr/include/python3.13")
  export _PYTHON_HOST_PLATFORM=linux-$machine
fi
# Other settings of a build, as in TILE_WHEEL_OPTIONS='-C cmake.args=--preset=dev'.
read -ra more <<< "${TILE_WHEEL_OPTIONS:-}"
echo "==> Building the wheel for Python $version, $machine"
mkdir -p dist .setup/wheels
rm -rf .setup/wheels/*
# scikit-build-core takes ninja and cmake of the system.
"$venv/bin/python" -m build --wheel --no-isolation --outdir .setup/wheels "${options[@]}" "${more[@]}" . \
  >.setup/wheel.log 2>&1 || { tail -40 .setup/wheel.log; exit 1; }
built=$(ls .setup/wheels/tile_compiler-*.whl)
"$venv/bin/python" scripts/check_wheel.py "$built" --machine "$machine" --glibc 2.28 --limit-mb "$limit_mb"
# The check says that the tag is true.
name=$("$venv/bin/python" -m wheel tags --remove --platform-tag "manylinux_2_28_$machine" "$built" | tail -1)
mv ".setup/wheels/$(basename "$name")" dist/
echo "==> dist/$(basename "$name"): $(( $(stat -c %s "dist/$(basename "$name")") / 1000000 )) MB"
# The distribution whose package `triton` is tile.
"$venv/bin/python" -m pip wheel -q --no-deps --wheel-dir dist python/triton-distribution >>.setup/wheel.log 2>&1 ||
  { tail -40 .setup/wheel.log; exit 1; }
