#!/usr/bin/env bash
# Runs every client on a GPU, on tile and on the triton that is installed, and writes the table:
#   test/clients/gpu.sh dist/tile_compiler-*.whl folder-with-the-clients'-wheels [folder-for-results]
# Needs the driver, ptxas, cuda-python or libcuda, torch and triton. Takes some minutes: all clients
# run at once, each for a few minutes at most.
set -uo pipefail
cd "$(dirname "$0")/../.."
wheel=$(realpath "$1")
clients=$(realpath "$2")
out=$(realpath -m "${3:-clients-results}")
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The clients for both; tile apart, so that the peer's runs cannot see it.
python3 -m pip install -q --no-index --no-deps --no-compile --target "$work/clients" "$clients"/*.whl || exit 1
python3 -m pip install -q --no-deps --no-compile --target "$work/tile" "$wheel" || exit 1
# A folder on PYTHONPATH is no site folder: this runs tile's .pth file all the same.
echo "import site; site.addsitedir('$work/tile')" > "$work/tile/sitecustomize.py"
run() { # tile or peer, client, options
  local who=$1 client=$2 path=$work/clients
  shift 2
  [ "$who" = peer ] || path=$work/tile:$path
  PYTHONPATH=$path${PYTHONPATH:+:$PYTHONPATH} GEMS_VENDOR=nvidia \
    TORCHINDUCTOR_CACHE_DIR=$work/$who/inductor TRITON_CACHE_DIR=$work/$who/cache \
    FLAGGEMS_CACHE_DIR=$work/$who/gems HOME=$work/$who \
    timeout 360 python3 test/clients/run.py --device cuda --clients "$client" --budget 280 \
    --out "$out/$who-$client.json" "$@" > "$out/$who-$client.log" 2>&1
}
mkdir -p "$work/peer"
for client in inductor models liger fla_core gems unsloth_kernels; do
  run tile "$client" &
  run peer "$client" --peer &
done
wait
# Where nothing else runs: what a compiled model costs.
cp "$out/tile-models.json" "$work/tile-models.json"
cp "$out/peer-models.json" "$work/peer-models.json"
for who in tile peer; do
  rm -rf "$work/$who/inductor" "$work/$who/cache"
  run $who models --match time $([ $who = tile ] || echo --peer)
  echo "$who: $(grep 'transformer block' "$out/$who-models.log")" | tee -a "$out/times.txt"
  mv "$work/$who-models.json" "$out/$who-models.json"
done
python3 test/clients/table.py "$out"
