#!/usr/bin/env bash
# Runs every suite and ends with one line of times. Each suite runs even when
# one before it failed. Options are pytest's: -m '' runs the long sweeps, too.
set -uo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
# Tests start hundreds of interpreters, which need not compile the package each.
export PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$PWD/build/pycache
status=0
log=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null; rm -rf "$log"' EXIT
name= since=0 times=

# Names what runs now, and notes how long the suite before it took.
step() {
  [ -z "$name" ] || times+="$name $((SECONDS - since)) s, "
  name=$1 since=$SECONDS
  [ -z "$name" ] || echo "==> $name"
}

# Each of these takes one core.
checks() {
  step "Unit tests (GoogleTest)"
  ctest --test-dir build --output-on-failure 2>&1 | tee "$log/unit" | grep -vE '^(Test project|      Start)' || true
  [ "${PIPESTATUS[0]}" -eq 0 ] || status=1

  step "Layers"
  scripts/check_layers.py || status=1

  step "Attributes"
  scripts/check_attributes.py || status=1

  step "English of pages and comments"
  $bin/python scripts/check_prose.py || status=1

  step "Subjects of commits"
  scripts/check_commits.py || status=1

  step "Lengths of functions"
  scripts/check_functions.py || status=1

  step "Generated documentation is up to date"
  scripts/docs.sh --check || status=1

  step "The code of kernels is not worse than the table has it"
  $bin/python bench/regress.py check --share || status=1

  step "Site: a link to nowhere is an error"
  scripts/site.sh || status=1

  step ""
  echo "$times" > "$log/times"
  return $status
}
checks > "$log/checks" 2>&1 &

# Meanwhile those that take all cores. Some tests of Python look at the site, so they come last.
step "Compiler tests (lit)"
$bin/lit -s -j"$(nproc)" build/test/lit $(ls -d build/third_party/*/test/lit) 2>&1 | tee "$log/lit"
[ "${PIPESTATUS[0]}" -eq 0 ] || status=1

step "Checks beside them"
wait $! || status=1
cat "$log/checks"

step "Python tests (pytest)"
$bin/python -m pytest -n auto --dist worksteal "$@" 2>&1 | tee "$log/pytest"
[ "${PIPESTATUS[0]}" -eq 0 ] || status=1

step ""
echo "==> ${times}in all $SECONDS s; beside each other: $(cat "$log/times")"
exit $status
