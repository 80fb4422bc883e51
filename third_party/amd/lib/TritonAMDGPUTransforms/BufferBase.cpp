//===-- BufferBase.cpp - What buffers start at ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TritonAMDGPUTransforms/BufferBase.h"
#include "amd/TritonAMDGPUTransforms/UniformOffsets.h"

#include "tile/Analysis/MemoryModel.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

/// Notes that an argument is taken to be small.
static bool assumeSmall(FunctionOpInterface function, int32_t argument) {
  auto module = function->getParentOfType<ModuleOp>();
  if (!isKernel(function) || module->hasAttr(kOverlappingArgumentsAttrName))
    return false;
  SmallVector<int32_t> noted;
  if (auto known =
          function->getAttrOfType<DenseI32ArrayAttr>(kSmallArgumentsAttrName))
    noted.assign(known.asArrayRef().begin(), known.asArrayRef().end());
  if (!llvm::is_contained(noted, argument)) {
    noted.push_back(argument);
    llvm::sort(noted);
    function->setAttr(kSmallArgumentsAttrName,
                      DenseI32ArrayAttr::get(function.getContext(), noted));
  }
  return true;
}

bool amd::requireSmallBuffer(Value base, const OffsetRanges &ranges) {
  while (auto add = base.getDefiningOp<AddPtrOp>()) {
    if (!ranges.isNonNegative(add.getOffset()))
      return false;
    base = add.getPtr();
  }
  auto arg = dyn_cast<BlockArgument>(base);
  if (!arg || !arg.getOwner()->isEntryBlock())
    return false;
  auto function = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  if (!function)
    return false;
  auto bits = function.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(),
                                                     "tt.pointer_range");
  if (bits && bits.getInt() <= 32)
    return true;
  return assumeSmall(function, arg.getArgNumber());
}
