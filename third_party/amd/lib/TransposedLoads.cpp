//===-- TransposedLoads.cpp - Loads from LDS that transpose ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TransposedLoads.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

std::optional<TransposedLoad>
triton::amd::findTransposedLoad(const AMDTarget &target, unsigned bits) {
  if (bits != 8 && bits != 16)
    return std::nullopt;
  switch (target.transposedLDSLoads) {
  case 1:
    return bits == 16 ? TransposedLoad{"llvm.amdgcn.ds.read.tr16.b64", 16, 4,
                                       /*vector=*/4, /*pieceBit=*/0}
                      : TransposedLoad{"llvm.amdgcn.ds.read.tr8.b64", 32, 2,
                                       /*vector=*/8, /*pieceBit=*/0};
  case 2:
    return bits == 16 ? TransposedLoad{"llvm.amdgcn.ds.load.tr16.b128", 16, 8,
                                       /*vector=*/8, /*pieceBit=*/3}
                      : TransposedLoad{"llvm.amdgcn.ds.load.tr8.b64", 32, 2,
                                       /*vector=*/8, /*pieceBit=*/2};
  default:
    return std::nullopt;
  }
}

std::optional<LinearLayout>
triton::amd::getAddressedLayout(const LinearLayout &layout,
                                const TransposedLoad &load) {
  constexpr unsigned kLanesLog2 = llvm::ConstantLog2<kTransposedColumns>();
  unsigned vectorLog2 = llvm::Log2_32(load.vector);
  LinearLayout::Bases bases = layout.getBases();
  auto find = [&](StringRef name) {
    auto it = llvm::find_if(bases, [&](auto &in) { return in.first == name; });
    return it == bases.end() ? nullptr : &it->second;
  };
  LinearLayout::DimBases *registers = find(kRegister), *lanes = find(kLane);
  if (!registers || !lanes || registers->size() < vectorLog2 ||
      lanes->size() < kLanesLog2)
    return std::nullopt;
  // The lowest lanes count columns: elements of a piece, and above it pieces.
  LinearLayout::DimBases rows(registers->begin(),
                              registers->begin() + vectorLog2);
  LinearLayout::DimBases pieces(lanes->begin() + vectorLog2,
                                lanes->begin() + kLanesLog2);
  std::copy_n(lanes->begin(), vectorLog2, registers->begin());
  rows.insert(rows.begin() + load.pieceBit, pieces.begin(), pieces.end());
  llvm::copy(rows, lanes->begin());
  return LinearLayout(bases, layout.getOutDims(), /*requireSurjective=*/false);
}
