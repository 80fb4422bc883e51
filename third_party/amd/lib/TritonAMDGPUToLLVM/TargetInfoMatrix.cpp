//===-- TargetInfoMatrix.cpp - Transposing loads from LDS -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TransposedLoads.h"
#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"

#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"

using namespace mlir;
using namespace mlir::triton;

std::optional<SmallVector<Value>>
amd::TargetInfo::loadMatrices(const LLVMBuilder &b, const SharedAccess &access,
                              const ThreadIndex &index) const {
  unsigned bits = 8 * getSharedElementBytes(access.element);
  std::optional<TransposedLoad> load = findTransposedLoad(facts, bits);
  if (!load || access.toOffset.hasOutDim(kBlock))
    return std::nullopt;
  // Vectors as wide as these are no slower.
  unsigned size = load->vector;
  if (access.getVectors().front().size() >= size)
    return std::nullopt;
  // What repeats would be read again; few operands do.
  for (int32_t i = 0, e = access.toOffset.getInDimSizeLog2(kRegister); i < e;
       ++i)
    if (access.toOffset.getBasis(kRegister, i, kOffset) == 0)
      return std::nullopt;
  std::optional<LinearLayout> addressed =
      getAddressedLayout(access.toOffset, *load);
  if (!addressed)
    return std::nullopt;
  SharedAccess rows = access;
  rows.toOffset = *addressed;
  rows.maxVector = size;
  // A lane's piece of a row lies together, and lanes have it where they have
  // their columns.
  for (ArrayRef<int32_t> vector : rows.getVectors())
    for (auto [i, r] : llvm::enumerate(vector))
      if (vector.size() != size || vector[0] % size ||
          r != vector[0] + static_cast<int32_t>(i))
        return std::nullopt;

  Type memElement = getSharedElementType(access.element);
  Type loaded = LLVMBuilder::vecTy(b.intTy(load->resultBits), load->numResults);
  SmallVector<Value> values(access.toOffset.getInDimSize(kRegister));
  rows.forEachVector(b, index, [&](Value ptr, ArrayRef<int32_t> registers) {
    Value column = b.bitcast(b.intrinsic(loaded, load->intrinsic, ptr),
                             LLVMBuilder::vecTy(memElement, size));
    for (auto [r, value] : llvm::zip(registers, b.unpackVector(column)))
      values[r] = fromSharedElement(b, value, access.element);
  });
  return values;
}
