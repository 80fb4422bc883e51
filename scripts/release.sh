#!/usr/bin/env bash
# Makes everything that a release consists of, in dist/:
#   scripts/release.sh
# wheels for x86-64 (Python 3.10, 3.11, and one for 3.12 and later) and for aarch64 (Python 3.12 and later), the source
# distribution, the list of what is in them (CycloneDX), and checksums. A kernel runs with each wheel, in Python 3.10 to
# 3.14. Interpreters are found as python3.10 and so on, or in the folder of pyenv; Python 3.14 is Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh packages

find_python() {
  command -v "python$1" 2>/dev/null || ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python 2>/dev/null | sort -V | tail -1
}

rm -rf dist
for version in 3.10 3.11 3.12; do
  python=$(find_python $version)
  [ -n "$python" ] || { echo "error: no Python $version, for which a wheel is made" >&2; exit 1; }
  PYTHON=$python scripts/wheel.sh x86_64
done
PYTHON=$(find_python 3.13) scripts/wheel.sh aarch64
tools=.setup/wheel-3.12/bin/python
echo "==> Making the source distribution"
$tools -m build --sdist --no-isolation --outdir dist . > .setup/sdist.log 2>&1 || { tail -20 .setup/sdist.log; exit 1; }

for version in 3.10 3.11 3.12 3.13; do
  python=$(find_python $version)
  [ -n "$python" ] || { echo "error: no Python $version, in which a wheel is tried" >&2; exit 1; }
  case $version in
    3.10|3.11) wheel=$(ls dist/tile_compiler-*-cp${version/./}-cp${version/./}-*x86_64.whl) ;;
    *) wheel=$(ls dist/tile_compiler-*-abi3-*x86_64.whl) ;;
  esac
  scripts/smoke.sh "$wheel" "$python"
done
scripts/smoke_elsewhere.sh python3.14
scripts/smoke_elsewhere.sh aarch64

$tools scripts/sbom.py dist/*.whl dist/*.tar.gz -o dist/tile_compiler.cdx.json
(cd dist && sha256sum -- *.whl *.tar.gz *.cdx.json > SHA256SUMS)
echo "==> dist/"
ls -l dist
