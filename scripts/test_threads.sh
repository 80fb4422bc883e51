#!/usr/bin/env bash
# Runs the tests whose threads launch and simulate with ThreadSanitizer: what threads share (the
# run time and the simulator) is built with it in build-tsan, the compiler is that of build.
# Arguments are pytest's, in place of the tests here.
set -euo pipefail
cd "$(dirname "$0")/.."
runtime=$(/usr/lib/llvm-22/bin/clang -print-file-name=libclang_rt.tsan-x86_64.so)
[ -f "$runtime" ] || { echo "no ThreadSanitizer for $(uname -m) beside clang"; exit 1; }

echo "==> Building what threads share with ThreadSanitizer"
[ -f build-tsan/build.ninja ] ||
  cmake --preset tsan -DPython_EXECUTABLE="$PWD/.venv/bin/python" > /dev/null
cmake --build --preset tsan

echo "==> Threads under ThreadSanitizer (pytest)"
tests=("$@")
[ $# -gt 0 ] || tests=(
  test/python/runtime/test_launch_threads.py
  test/python/runtime/test_launch.py
  test/python/runtime/test_graph_launches.py
  test/python/runtime/test_modules.py
  test/python/sim/test_threads.py
  test/python/sim/test_turns.py
  test/python/runtime/test_thread_sanitizer.py
)
export PYTHONPATH=test/tsan${PYTHONPATH:+:$PYTHONPATH}
SHARED_BY_THREADS=$(ls "$PWD"/build-tsan/lib/tile_shared_by_threads*.so)
export SHARED_BY_THREADS
# Python itself is not instrumented: what only it knows of orders nothing, but its locks do.
export TSAN_OPTIONS="suppressions=$PWD/test/tsan/suppressions.txt:halt_on_error=0:exitcode=0:report_signal_unsafe=0:log_path=$PWD/build-tsan/report"
rm -f build-tsan/report.*
status=0
LD_PRELOAD=$runtime .venv/bin/python -m pytest -q -p tsan_module "${tests[@]}" || status=$?
if compgen -G 'build-tsan/report.*' > /dev/null; then
  cat build-tsan/report.*
  status=1
fi
exit $status
