#!/usr/bin/env bash
# Runs a public test suite of Triton, unchanged, on tile:
#   test/gpu/peer_suite.sh SUITE FOLDER [options of pytest, such as -n 15 or --device cpu]
# FOLDER has the suite's files as its repository has them (python/test, python/conftest.py,
# third_party/proton/test). Tile must be importable; WITH=peer runs the triton that is installed.
# PYTHON is the interpreter (python3). It needs torch, pytest, scipy and expecttest.
# The suites claim to need the newest release, so tile says 3.9.0 of itself.
# The last lines count what passed, and the most frequent errors of what failed. LOG=FILE keeps
# all that pytest said.
set -uo pipefail
declare -A suites=(
  [all]="unit"
  [core]="unit/language/test_core.py"
  [language]="unit/language --ignore=unit/language/test_core.py"
  [cuda]="unit/cuda"
  [runtime]="unit/runtime"
  [tools]="unit/tools"
  [debug]="unit/test_debug.py unit/test_debug_dump.py unit/test_debuginfo.py unit/test_debug_kernels.py unit/test_filecheck.py unit/test_knobs.py unit/test_link.py unit/test_perf_warning.py unit/test_stages_inspection.py unit/test_utils.py"
  [regression]="regression"
  [gluon-frontend]="gluon/test_frontend.py gluon/test_layout.py gluon/test_layout_format_view.py"
  [gluon-core]="gluon/test_core.py"
  [gluon-lowerings]="gluon/test_lowerings.py"
  [sanitizers]="gluon/test_consan.py gluon/test_fpsan.py"
  [profiler]="."
)
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; echo "Suites: $(printf '%s\n' "${!suites[@]}" | sort | xargs)"; exit 2; }
[ $# -ge 2 ] && [ -n "${suites[$1]:-}" ] && [ -d "$2/python/test" ] || usage
read -ra files <<< "${suites[$1]}"
name=$1 folder=$(realpath "$2") tests=python/test
[ "$name" = profiler ] && tests=third_party/proton/test
shift 2
log=$(mktemp) switch=$(mktemp -d)
trap 'rm -rf "$log" "$switch"' EXIT
if [ "${WITH:-tile}" = tile ]; then
  # The switch must be on before a process imports its first module. An installed tile does that
  # by itself; one that PYTHONPATH names does not.
  echo "import tile_compat_hook" > "$switch/sitecustomize.py"
  export TILE_COMPAT=1 TILE_COMPAT_VERSION=${TILE_COMPAT_VERSION:-3.9.0} PYTHONPATH=$switch${PYTHONPATH:+:$PYTHONPATH}
fi
cd "$folder/$tests" || exit 2
# The file conftest.py above the tests has their options. Without COLUMNS, errors are cut off.
# The suite's own marks (-W) and a file that cannot be collected do not end the run.
COLUMNS=300 "${PYTHON:-python3}" -m pytest -p no:cacheprovider --confcutdir="$(dirname "$PWD")" \
  -W ignore --continue-on-collection-errors -q -rfE --tb=line "$@" "${files[@]}" > "$log" 2>&1
status=$?
[ -z "${LOG:-}" ] || cp "$log" "$LOG"
grep -E '^(FAILED|ERROR) ' "$log" | sed -E 's/^[A-Z]+ [^ ]+( - )?//; s/[0-9]+/N/g' | cut -c1-120 | sort | uniq -c | sort -rn | head -30
echo "$name: $(tail -1 "$log")"
exit $status
