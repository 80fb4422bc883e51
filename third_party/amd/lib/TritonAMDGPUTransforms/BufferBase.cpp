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

namespace {
/// A pointer among a function's arguments.
struct Origin {
  FunctionOpInterface function;
  unsigned argument = 0;
};
} // namespace

/// The argument from which `base` only went up.
static std::optional<Origin> findOrigin(Value base,
                                        const amd::OffsetRanges &ranges) {
  while (auto add = base.getDefiningOp<AddPtrOp>()) {
    if (!ranges.isNonNegative(add.getOffset()))
      return std::nullopt;
    base = add.getPtr();
  }
  auto arg = dyn_cast<BlockArgument>(base);
  if (!arg || !arg.getOwner()->isEntryBlock())
    return std::nullopt;
  auto function = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  if (!function)
    return std::nullopt;
  return Origin{function, arg.getArgNumber()};
}

static SmallVector<int32_t> getNoted(FunctionOpInterface function) {
  auto known =
      function->getAttrOfType<DenseI32ArrayAttr>(kSmallArgumentsAttrName);
  return known ? llvm::to_vector(known.asArrayRef()) : SmallVector<int32_t>();
}

static bool isKnownSmall(Origin origin) {
  auto bits = origin.function.getArgAttrOfType<IntegerAttr>(origin.argument,
                                                            kPointerRangeAttr);
  return (bits && bits.getInt() <= 32) ||
         llvm::is_contained(getNoted(origin.function), origin.argument);
}

/// Notes that an argument is taken to be small.
static bool assumeSmall(Origin origin) {
  FunctionOpInterface function = origin.function;
  auto module = function->getParentOfType<ModuleOp>();
  if (!isKernel(function) || module->hasAttr(kOverlappingArgumentsAttrName))
    return false;
  SmallVector<int32_t> noted = getNoted(function);
  noted.push_back(origin.argument);
  llvm::sort(noted);
  function->setAttr(kSmallArgumentsAttrName,
                    DenseI32ArrayAttr::get(function.getContext(), noted));
  return true;
}

bool amd::requireSmallBuffer(Value base, const OffsetRanges &ranges) {
  std::optional<Origin> origin = findOrigin(base, ranges);
  return origin && (isKnownSmall(*origin) || assumeSmall(*origin));
}

bool amd::isSmallBuffer(Value base, const OffsetRanges &ranges) {
  std::optional<Origin> origin = findOrigin(base, ranges);
  return origin && isKnownSmall(*origin);
}
