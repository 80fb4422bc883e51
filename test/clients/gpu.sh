#!/usr/bin/env bash
# Runs every client on a GPU, on tile or on the triton that is installed; run both, then make the
# table of what they wrote:
#   test/clients/gpu.sh tile folder-with-the-clients'-wheels results dist/tile_compiler-*.whl
#   test/clients/gpu.sh peer folder-with-the-clients'-wheels results
#   python3 test/clients/table.py results
# CLIENTS="vllm_kernels fla_core" runs only these; what RESULTS has of them is not run again.
# Needs the driver, ptxas, torch and triton. A run ends by itself after CLIENTS_SECONDS (440); its
# outcomes are written as they come, so that one that is killed has what it did.
# Nothing of this is set -e: a client that cannot run leaves the others alone.
set -uo pipefail
who=$1
clients=$(realpath "$2")
out=$(realpath -m "$3")
wheel=${4:+$(realpath "$4")}
cd "$(dirname "$0")/../.."
started=$(date +%s)
seconds=${CLIENTS_SECONDS:-440}
# What is kept at the end for what runs alone.
alone=75
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The clients for both; tile apart, so that the peer's runs cannot see it.
python3 -m pip install -q --no-index --no-deps --no-compile --target "$work/clients" "$clients"/*.whl || exit 1
path=$work/clients
options=(--peer)
if [ "$who" = tile ]; then
  python3 -m pip install -q --no-deps --no-compile --target "$work/tile" "$wheel" || exit 1
  # A folder on PYTHONPATH is no site folder: this runs tile's .pth file all the same.
  echo "import site; site.addsitedir('$work/tile')" > "$work/tile/sitecustomize.py"
  path=$work/tile:$path
  options=()
fi
run() { # client, until
  local client=$1 until=$2 home=$work/home-$1
  mkdir -p "$home"
  # A kernel that breaks the device, or hangs, ends a process; the next one goes on behind it.
  for _ in 1 2 3 4 5 6; do
    local left=$((until + 15 - $(date +%s)))
    [ $left -gt 5 ] || return
    PYTHONPATH=$path${PYTHONPATH:+:$PYTHONPATH} GEMS_VENDOR=nvidia HOME=$home \
      TORCHINDUCTOR_CACHE_DIR=$home/inductor TRITON_CACHE_DIR=$home/cache FLAGGEMS_CACHE_DIR=$home/gems \
      timeout -k 5 $left python3 test/clients/run.py --device cuda --clients "$client" \
      --deadline "$until" --resume --out "$out/$who-$client.json" ${options+"${options[@]}"} >> "$out/$who-$client.log" 2>&1
    # 0 and 1: it came to its end; 124: out of time.
    case $? in 0 | 1 | 124) return ;; esac
  done
}
for client in ${CLIENTS:-inductor models liger fla_core gems unsloth_kernels vllm_kernels sglang_kernels matmul_ogs}; do
  TORCHINDUCTOR_COMPILE_THREADS=4 run "$client" $((started + seconds - alone)) &
done
wait
# Where nothing else runs: what a compiled model costs, from a cold cache.
if [ -z "${CLIENTS:-}" ]; then
  run times $((started + seconds))
  grep -h 'transformer block' "$out/$who-times.log" | sed "s/^/$who: /" | tee -a "$out/times.txt"
fi
for log in "$out/$who"-*.log; do tail -n 1 "$log"; done
