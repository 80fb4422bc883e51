#!/usr/bin/env bash
# Writes the pages in docs/generated: dialects and passes from TableGen, attributes, pipelines, findings, drawings.
# With --check, changes nothing and fails where the committed files differ.
set -euo pipefail
cd "$(dirname "$0")/.."
tblgen=${MLIR_TBLGEN:-/usr/lib/llvm-22/bin/mlir-tblgen}
includes=(-I include -I third_party/nvidia/include -I third_party/amd/include -I "$("${tblgen%mlir-tblgen}llvm-config" --includedir)")
out=docs/generated
check=0
if [ "${1:-}" = --check ]; then
  check=1
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"

dialect() { # name, TableGen files
  local name=$1
  shift
  printf 'include "%s"\n' "$@" | "$tblgen" -gen-dialect-doc "-dialect=$name" -I . "${includes[@]}" - -o "$out/$name.md"
}
passes() { # page, TableGen file
  "$tblgen" -gen-pass-doc "${includes[@]}" "$2" -o "$out/$1.md"
}

dialect tt include/tile/Dialect/Triton/IR/TritonOps.td
dialect ttg include/tile/Dialect/TritonGPU/IR/TritonGPU{,Indexed}Ops.td
dialect ttnvgpu include/tile/Dialect/TritonNvidiaGPU/IR/{TritonNvidiaGPU,AsyncStore,PackedArith}Ops.td
dialect nvws include/tile/Dialect/NVWS/IR/NVWSOps.td
dialect debug include/tile/Dialect/Debug/IR/DebugOps.td
dialect proton include/tile/Dialect/Proton/IR/ProtonOps.td
dialect tti include/tile/Dialect/TritonInstrument/IR/TritonInstrumentOps.td
dialect amdg third_party/amd/include/amd/IR/AMDGOps.td
dialect gluon include/tile/Dialect/Gluon/IR/GluonOps.td
while IFS= read -r file; do
  page=$(dirname "${file#*include/}" | sed 's#^tile/##; s#^Dialect/##; s#/Transforms$##; s#/#-#g')
  passes "passes-$page" "$file"
done < <(git ls-files '*/Passes.td' | sort)

scripts/check_attributes.py --write "$out/attributes.md"
scripts/drawing.py "$out/architecture.svg"
scripts/findings.py "$out/findings.md"
scripts/gallery.py "$out/gallery.svg"
# Only the compiler knows its pipelines.
if [ -x "${TILE_BUILD:-build}/bin/tile-opt" ]; then
  scripts/pipelines.py --write "$out/pipelines.md"
else
  [ $check -eq 0 ] || cp docs/generated/pipelines.md "$out"
  echo "note: docs/generated/pipelines.md stays as it is: it needs build/bin/tile-opt" >&2
fi

if [ $check -eq 1 ] && ! diff -ru docs/generated "$out"; then
  echo "error: docs/generated is out of date; run 'make docs' and commit the result" >&2
  exit 1
fi
