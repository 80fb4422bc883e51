//===-- TransposedLoads.cpp - Loads from LDS that transpose ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TransposedLoads.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

bool triton::amd::hasTransposedLoads(const AMDTarget &target, unsigned bits) {
  return target.hasTransposedLDSLoads && (bits == 8 || bits == 16);
}

std::optional<LinearLayout>
triton::amd::getAddressedLayout(const LinearLayout &layout, unsigned bits) {
  // Lanes that transpose among themselves, as a power of two.
  constexpr unsigned kLanesLog2 = 4;
  unsigned vectorLog2 = llvm::Log2_32(getTransposedVector(bits));
  LinearLayout::Bases bases = layout.getBases();
  auto find = [&](StringRef name) {
    auto it = llvm::find_if(bases, [&](auto &in) { return in.first == name; });
    return it == bases.end() ? nullptr : &it->second;
  };
  LinearLayout::DimBases *registers = find(kRegister), *lanes = find(kLane);
  if (!registers || !lanes || registers->size() < vectorLog2 ||
      lanes->size() < kLanesLog2)
    return std::nullopt;
  // The lowest lanes count elements of a piece, those above it the pieces of a
  // row, and after these come the rows.
  LinearLayout::DimBases rows(registers->begin(),
                              registers->begin() + vectorLog2);
  std::copy_n(lanes->begin(), vectorLog2, registers->begin());
  std::copy(lanes->begin() + vectorLog2, lanes->begin() + kLanesLog2,
            lanes->begin());
  llvm::copy(rows, lanes->begin() + (kLanesLog2 - vectorLog2));
  return LinearLayout(bases, layout.getOutDims(), /*requireSurjective=*/false);
}
