#!/usr/bin/env bash
# Makes the environment in which wheels are built for the interpreter in $PYTHON, once, and prints its path:
#   scripts/wheel_tools.sh
set -euo pipefail
cd "$(dirname "$0")/.."
version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=.setup/wheel-$version
if [ ! -x "$venv/bin/auditwheel" ]; then
  echo "==> Making a build environment for Python $version" >&2
  "$PYTHON" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r scripts/requirements-wheel.txt
fi
echo "$venv"
