#!/usr/bin/env bash
# Runs a public test suite of Triton, unchanged, on tile:
#   test/gpu/peer_suite.sh SUITE FOLDER [options of pytest, such as -n 15 or --device cpu]
# FOLDER has the suite's files as its repository has them (python/test, python/conftest.py,
# third_party/proton/test). Tile must be importable; WITH=peer runs the triton that is installed.
# The suites claim to need the newest release, so tile says 3.9.0 of itself.
# The last lines count what passed, and the most frequent errors of what failed.
set -uo pipefail
declare -A suites=(
  [core]="unit/language/test_core.py"
  [language]="unit/language --ignore=unit/language/test_core.py"
  [descriptors]="unit/cuda"
  [runtime]="unit/runtime"
  [tools]="unit/tools"
  [debug]="unit/test_debug.py unit/test_debug_dump.py unit/test_debuginfo.py unit/test_debug_kernels.py unit/test_filecheck.py unit/test_link.py unit/test_perf_warning.py unit/test_stages_inspection.py unit/test_utils.py"
  [gluon-frontend]="gluon/test_frontend.py gluon/test_layout.py gluon/test_layout_format_view.py"
  [gluon-core]="gluon/test_core.py"
  [gluon-lowerings]="gluon/test_lowerings.py"
  [sanitizers]="gluon/test_consan.py gluon/test_fpsan.py"
  [profiler]="../../third_party/proton/test"
)
usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; echo "Suites: $(printf '%s\n' "${!suites[@]}" | sort | xargs)"; exit 2; }
[ $# -ge 2 ] && [ -n "${suites[$1]:-}" ] && [ -d "$2/python/test" ] || usage
read -ra files <<< "${suites[$1]}"
name=$1 folder=$(realpath "$2")
shift 2
log=$(mktemp) switch=$(mktemp -d)
trap 'rm -rf "$log" "$switch"' EXIT
if [ "${WITH:-tile}" = tile ]; then
  # The switch must be on before a process imports its first module.
  echo "import tile_compat_hook" > "$switch/sitecustomize.py"
  export TILE_COMPAT=1 TILE_COMPAT_VERSION=${TILE_COMPAT_VERSION:-3.9.0} PYTHONPATH=$switch${PYTHONPATH:+:$PYTHONPATH}
fi
cd "$folder/python/test" || exit 2
python3 -m pytest -p no:cacheprovider -q -rfE --tb=line "$@" "${files[@]}" > "$log" 2>&1
status=$?
[ -z "${LOG:-}" ] || cp "$log" "$LOG"
grep -E '^(FAILED|ERROR) ' "$log" | sed -E 's/^[A-Z]+ [^ ]+ - //; s/[0-9]+/N/g' | cut -c1-120 | sort | uniq -c | sort -rn | head -30
echo "$name: $(tail -1 "$log")"
exit $status
