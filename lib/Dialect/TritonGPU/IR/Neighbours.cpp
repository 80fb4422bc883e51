//===-- Neighbours.cpp - Layouts for wide accesses ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/IR/Neighbours.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// The bases that have nothing but a step of `size` along `dim`.
static auto findStep(LinearLayout::DimBases &bases, unsigned rank, unsigned dim,
                     int32_t size) {
  std::vector<int32_t> basis(rank);
  basis[dim] = size;
  return llvm::find(bases, basis);
}

std::optional<LinearLayout>
mlir::triton::gpu::gatherNeighbours(RankedTensorType result, unsigned dim,
                                    int32_t count) {
  LinearLayout::Bases bases = toLinearLayout(result).getBases();
  auto basesOf = [&](StringRef name) -> LinearLayout::DimBases & {
    return llvm::find_if(bases, [&](auto &in) { return in.first == name; })
        ->second;
  };
  LinearLayout::DimBases &registers = basesOf(kRegister),
                         &lanes = basesOf(kLane);
  auto find = [&](LinearLayout::DimBases &among, int32_t size) {
    return findStep(among, result.getRank(), dim, size);
  };
  int32_t given = count;
  for (int32_t size = 1; size < count; size *= 2) {
    if (find(registers, size) != registers.end())
      continue;
    auto here = find(lanes, size), there = registers.end();
    for (; there == registers.end() && given < result.getDimSize(dim);
         given *= 2)
      there = find(registers, given);
    if (here == lanes.end() || there == registers.end())
      return std::nullopt;
    std::swap(*here, *there);
  }
  for (int32_t size = count / 2; size > 0; size /= 2) {
    auto it = find(registers, size);
    std::rotate(registers.begin(), it, it + 1);
  }
  return LinearLayout(bases, toLinearLayout(result).getOutDims(),
                      /*requireSurjective=*/true);
}

void mlir::triton::gpu::convertOperands(Operation *access, Attribute layout) {
  OpBuilder builder(access);
  for (OpOperand &operand : access->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !type.getEncoding() || type.getEncoding() == layout)
      continue;
    // What the value was converted from is at hand.
    auto before = operand.get().getDefiningOp<ConvertLayoutOp>();
    Value source = before ? before.getSrc() : operand.get();
    operand.set(source.getType() == cloneWithEncoding(type, layout)
                    ? source
                    : ConvertLayoutOp::create(builder, access->getLoc(),
                                              cloneWithEncoding(type, layout),
                                              source));
  }
}
