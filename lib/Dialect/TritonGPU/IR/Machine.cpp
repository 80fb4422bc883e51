//===-- Machine.cpp - What the module says about the machine --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Looks up and verifies the `ttg.` attributes of modules, and checks that the
// encodings of tensors use the threads, warps and blocks that there are.
//
//===----------------------------------------------------------------------===//

#include "LayoutInterfaces.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

/// The value of an attribute of the nearest operation around `op`, itself
/// included, that has it.
static std::optional<int> lookup(Operation *op, StringRef name) {
  for (; op; op = op->getParentOp())
    if (auto attr = op->getAttrOfType<IntegerAttr>(name))
      return attr.getInt();
  return std::nullopt;
}

static std::optional<int> maybeLookupNumWarps(Region *region) {
  for (; region; region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (auto partitions = dyn_cast<WarpSpecializePartitionsOp>(parent)) {
      auto specialize = dyn_cast<WarpSpecializeOp>(partitions->getParentOp());
      unsigned index = region->getRegionNumber();
      if (specialize && index < specialize.getPartitionNumWarps().size())
        return specialize.getPartitionNumWarps()[index];
    }
    if (auto attr = parent->getAttrOfType<IntegerAttr>(kNumWarpsAttrName))
      return attr.getInt();
  }
  return std::nullopt;
}

std::optional<int> gpu::maybeLookupNumWarps(Operation *op) {
  if (auto attr = op->getAttrOfType<IntegerAttr>(kNumWarpsAttrName))
    return attr.getInt();
  return ::maybeLookupNumWarps(op->getParentRegion());
}

int gpu::lookupNumWarps(Region *region) {
  return ::maybeLookupNumWarps(region).value_or(kDefaultNumWarps);
}

int gpu::lookupNumWarps(Operation *op) {
  return maybeLookupNumWarps(op).value_or(kDefaultNumWarps);
}

std::optional<int> gpu::maybeLookupThreadsPerWarp(Operation *op) {
  return lookup(op, kThreadsPerWarpAttrName);
}

int gpu::lookupThreadsPerWarp(Operation *op) {
  if (std::optional<int> threads = maybeLookupThreadsPerWarp(op))
    return *threads;
  return getTargetModel(op).getThreadsPerWarp();
}

int gpu::lookupNumCTAs(Operation *op) {
  return lookup(op, kNumCTAsAttrName).value_or(1);
}

//===----------------------------------------------------------------------===//
// Encodings of tensors
//===----------------------------------------------------------------------===//

static unsigned product(ArrayRef<unsigned> values) {
  unsigned result = 1;
  for (unsigned value : values)
    result *= value;
  return result;
}

/// Threads in a warp and warps in a block that an encoding is for. The former
/// is absent where any size of warps does.
static std::pair<std::optional<unsigned>, unsigned>
getThreadsAndWarps(Attribute encoding) {
  if (auto blocked = dyn_cast<BlockedEncodingAttr>(encoding))
    return {product(blocked.getThreadsPerWarp()),
            product(blocked.getWarpsPerCTA())};
  if (auto linear = dyn_cast<LinearEncodingAttr>(encoding))
    return {linear.getLinearLayout().getInDimSize(kLane),
            linear.getLinearLayout().getInDimSize(kWarp)};
  if (auto slice = dyn_cast<SliceEncodingAttr>(encoding))
    return getThreadsAndWarps(slice.getParent());
  if (auto dot = dyn_cast<DotOperandEncodingAttr>(encoding))
    return getThreadsAndWarps(dot.getParent());
  auto mma = cast<MmaEncodingTrait>(encoding);
  return {mma.getThreadsPerWarp(), product(mma.getWarpsPerCTA())};
}

LogicalResult TritonGPUVerifyTensorLayout::verifyTensorLayout(
    Attribute layout, RankedTensorType type, Operation *op,
    function_ref<InFlightDiagnostic()> makeErr) const {
  if (!isa<DistributedEncodingTrait>(layout))
    return makeErr() << "expected an encoding that spreads the tensor over "
                        "threads, found "
                     << layout;
  unsigned rank = cast<LayoutEncodingTrait>(layout).getRank();
  if (rank != type.getRank())
    return makeErr() << "expected an encoding of rank " << type.getRank()
                     << ", found one of rank " << rank << ": " << layout;

  auto [threads, warps] = getThreadsAndWarps(layout);
  std::optional<int> expectedThreads = maybeLookupThreadsPerWarp(op);
  if (threads && expectedThreads && *threads != unsigned(*expectedThreads))
    return makeErr() << "expected an encoding for warps of " << *expectedThreads
                     << " threads ('" << kThreadsPerWarpAttrName
                     << "'), found one for " << *threads << ": " << layout;
  std::optional<int> expectedWarps = gpu::maybeLookupNumWarps(op);
  if (expectedWarps && warps != unsigned(*expectedWarps))
    return makeErr() << "expected an encoding for the " << *expectedWarps
                     << " warps that the operation runs on, found one for "
                     << warps << ": " << layout;
  std::optional<int> expectedCTAs = lookup(op, kNumCTAsAttrName);
  unsigned ctas = getNumCTAs(layout);
  if (expectedCTAs && ctas != unsigned(*expectedCTAs))
    return makeErr() << "expected an encoding for " << *expectedCTAs
                     << " blocks ('" << kNumCTAsAttrName << "'), found one for "
                     << ctas << ": " << layout;
  return success();
}
