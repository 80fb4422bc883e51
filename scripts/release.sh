#!/usr/bin/env bash
# Makes everything that a release consists of, in dist/:
#   scripts/release.sh [WHEEL...]
# wheels for x86-64 (Python 3.10, 3.11, and one for 3.12 and later) and for aarch64 (Python 3.12 and later), the source
# distribution, the list of what is in them (CycloneDX), and checksums. A wheel that is given, made by scripts/wheel.sh
# before, is not made again. A kernel runs with each wheel, in Python 3.10 to 3.14. Interpreters are found as python3.10
# and so on, or in the folder of pyenv. Python 3.14 is Debian's.
set -euo pipefail
given=()
for wheel in "$@"; do given+=("$(realpath "$wheel")"); done
cd "$(dirname "$0")/.."
scripts/setup.sh packages
release=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)

# What pyenv puts on the path may be a script that only says in which versions there is such a command.
find_python() {
  local python
  for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    ! "$python" -c '' 2>/dev/null || { command -v "$python"; return; }
  done
}

# The wheel in dist/ for a Python and a machine, if there is one.
wheel_for() {
  local python=cp312-abi3
  case $1 in 3.10|3.11) python=cp${1/./}-cp${1/./} ;; esac
  ls dist/tile_compiler-"$release-$python"-manylinux_*_"$2".whl 2>/dev/null
}

# To make wheels takes an hour. What is missing is said before.
for version in 3.10 3.11 3.12 3.13; do
  [ -n "$(find_python $version)" ] || { echo "error: no Python $version, with which wheels are made or tried" >&2; exit 1; }
done
tools=$(PYTHON=$(find_python 3.12) scripts/wheel_tools.sh)/bin/python

# A wheel that is given may be in dist/.
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
[ ${#given[@]} -eq 0 ] || cp "${given[@]}" "$kept"
rm -rf dist
mkdir dist
cp "$kept"/* dist/ 2>/dev/null || true

# For another machine, wheels are made with the headers of Python 3.13.
for made in "3.10 x86_64" "3.11 x86_64" "3.12 x86_64" "3.13 aarch64"; do
  read -r version machine <<< "$made"
  wheel_for "$version" "$machine" >/dev/null || PYTHON=$(find_python "$version") scripts/wheel.sh "$machine"
  "$tools" scripts/check_wheel.py "$(wheel_for "$version" "$machine")" --machine "$machine" --glibc 2.28
done

echo "==> Making the source distribution"
"$tools" -m build --sdist --no-isolation --outdir dist . > .setup/sdist.log 2>&1 || { tail -20 .setup/sdist.log; exit 1; }
left_out=$(comm -23 <(git ls-files | sort) <(tar -tzf dist/*.tar.gz | sed 's,^[^/]*/,,' | sort))
[ -z "$left_out" ] || { echo "error: the source distribution has not:" "$left_out" >&2; exit 1; }

for version in 3.10 3.11 3.12 3.13; do
  scripts/smoke.sh "$(wheel_for $version x86_64)" "$(find_python $version)"
done
scripts/smoke_elsewhere.sh python3.14
scripts/smoke_elsewhere.sh aarch64

"$tools" scripts/sbom.py dist/*.whl dist/*.tar.gz -o dist/tile_compiler.cdx.json
(cd dist && sha256sum -- *.whl *.tar.gz *.cdx.json > SHA256SUMS && sha256sum --quiet -c SHA256SUMS)
echo "==> dist/"
ls -l dist
