#!/usr/bin/env bash
# Runs the simulator's fuzzer on several cores; one that crashes starts again until the time is over.
#   test/fuzz/run_simulator_fuzzer.sh FUZZER CORPUS SECONDS JOBS OUT
# SEED=n gives other inputs; LEAKS=0 looks for none.
# Prints how many inputs were tried, and the findings, whose inputs are in OUT. CORPUS is not changed.
set -uo pipefail
fuzzer=$(realpath "$1") corpus=$(realpath "$2") seconds=$3 jobs=$4
mkdir -p "$5"
out=$(realpath "$5")
end=$(($(date +%s) + seconds))
work() {
  local job=$1 round=0 left
  mkdir -p "$out/corpus-$job"
  while left=$((end - $(date +%s))) && [ "$left" -gt 1 ]; do
    round=$((round + 1))
    "$fuzzer" -max_len=4000 -timeout=20 -rss_limit_mb=2048 -detect_leaks=${LEAKS:-1} -print_final_stats=1 \
      -seed=$((${SEED:-1} * 100000 + job * 1000 + round)) -max_total_time="$left" -artifact_prefix="$out/" \
      "$out/corpus-$job" "$corpus" >"$out/log-$job-$round" 2>&1
  done
}
for job in $(seq "$jobs"); do work "$job" & done
wait
inputs=$(cat "$out"/log-* | awk '/stat::number_of_executed_units/ {sum += $2} END {print sum + 0}')
findings=$(find "$out" -maxdepth 1 -name '*-????????????????????????????????????????' ! -name 'slow-unit-*' | wc -l)
echo "$inputs inputs, $findings findings"
grep -hE 'SUMMARY' "$out"/log-* | sed 's/^==[0-9]*==//' | sort | uniq -c | sort -rn | head -20
[ "$findings" -eq 0 ]
