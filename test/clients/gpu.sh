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
here=$(realpath "$(dirname "$0")")
started=$(date +%s)
seconds=${CLIENTS_SECONDS:-440}
# What is kept at the end for what runs alone.
alone=$([ -z "${CLIENTS:-}" ] && echo 75 || echo 0)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The clients for both; tile apart, so that Triton's runs cannot see it.
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
run() { # client, until, processes
  local client=$1 until=$2 home=$work/home-$1
  mkdir -p "$home"
  PYTHONPATH=$path${PYTHONPATH:+:$PYTHONPATH} GEMS_VENDOR=nvidia HOME=$home \
    TORCHINDUCTOR_CACHE_DIR=$home/inductor TRITON_CACHE_DIR=$home/cache FLAGGEMS_CACHE_DIR=$home/gems \
    timeout -k 5 $((until + 15 - $(date +%s))) python3 "$here/run.py" --device cuda --clients "$client" \
    --deadline "$until" --jobs "$3" --resume --out "$out/$who-$client.json" \
    ${options+"${options[@]}"} >> "$out/$who-$client.log" 2>&1
}
# What compiles and measures for longest is shared by several processes.
declare -A processes=([fla_core]=12 [inductor]=4 [sglang_kernels]=2 [vllm_kernels]=2)
for client in ${CLIENTS:-inductor models liger fla_core gems unsloth_kernels vllm_kernels sglang_kernels matmul_ogs}; do
  TORCHINDUCTOR_COMPILE_THREADS=4 run "$client" $((started + seconds - alone)) "${processes[$client]:-1}" &
done
wait
# Where nothing else runs: what a compiled model costs, from a cold cache.
if [ -z "${CLIENTS:-}" ]; then
  run times $((started + seconds)) 1
  grep -h 'transformer block' "$out/$who-times.log" | sed "s/^/$who: /" | tee -a "$out/times.txt"
fi
for log in "$out/$who"-*.log; do tail -n 1 "$log"; done
