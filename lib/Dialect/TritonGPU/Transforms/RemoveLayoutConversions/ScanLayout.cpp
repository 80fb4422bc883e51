//===-- ScanLayout.cpp - Layouts in which scans cost less -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A layout of a memory access gives the rows of a tensor to different warps.
// For a scan along columns, each thread then reads what all these warps have,
// once for each of its elements. It is cheaper to exchange the elements first,
// so that a thread has neighbours of a column, and few lanes have the rest.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-remove-layout-conversions"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layout_conversions;

/// Costs are rough. A layout is another one only if it costs at most so much.
/// fla's chunk_local_cumsum_vector_kernel costs 0.38, 0.58 and 0.598 with 16, 8
/// and 4 warps, and took 0.40, 0.67 and 0.94 of the time. With 2 warps it costs
/// 0.608, and took 1.04.
static constexpr double kAtMost = 0.6;

/// Warps and lanes are spread across the axis as far as the tensor goes. A
/// thread has neighbours along the axis.
static BlockedEncodingAttr getLayoutAlongAxis(ScanOp scan) {
  auto type = cast<RankedTensorType>(scan.getInputTypes().front());
  CTALayoutAttr ctas = getCTALayout(type.getEncoding());
  SmallVector<int64_t> shape =
      getShapePerCTA(ctas.getCTASplitNum(), type.getShape());
  unsigned rank = type.getRank(), axis = scan.getAxis();
  unsigned numWarps = lookupNumWarps(scan);
  unsigned numLanes = lookupThreadsPerWarp(scan);

  SmallVector<unsigned> order, sizes(rank, 1), lanes(rank, 1), warps(rank, 1);
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != axis)
      order.push_back(dim);
  int64_t across = llvm::product_of(shape) / shape[axis];
  unsigned warpsLeft = numWarps, lanesLeft = numLanes;
  unsigned warpsAcross = std::min<int64_t>(numWarps, across);
  unsigned lanesAcross = std::min<int64_t>(numLanes, across / warpsAcross);
  for (unsigned dim : order) {
    lanes[dim] = std::min<int64_t>(lanesAcross, shape[dim]);
    lanesAcross /= lanes[dim];
    lanesLeft /= lanes[dim];
    warps[dim] = std::min<int64_t>(warpsAcross, shape[dim] / lanes[dim]);
    warpsAcross /= warps[dim];
    warpsLeft /= warps[dim];
  }
  order.push_back(axis);
  lanes[axis] = lanesLeft;
  warps[axis] = warpsLeft;
  sizes[axis] = std::max<int64_t>(shape[axis] / (lanesLeft * warpsLeft), 1);
  return BlockedEncodingAttr::get(scan.getContext(), sizes, lanes, warps, order,
                                  ctas);
}

/// What it costs to have `value` in `layout`. Its narrowest form is converted,
/// and not twice.
static double getCostBefore(Value value, Attribute layout) {
  while (Operation *def = value.getDefiningOp()) {
    bool passes = isa<ConvertLayoutOp>(def) ||
                  (def->hasTrait<mlir::OpTrait::Elementwise>() &&
                   def->getNumOperands() == 1);
    if (!passes || !def->hasOneUse())
      break;
    value = def->getOperand(0);
  }
  return getConversionCost(cast<RankedTensorType>(value.getType()), layout);
}

/// The layout in which `result` is wanted.
static Attribute getWantedLayout(Value result) {
  if (result.hasOneUse())
    if (auto convert = dyn_cast<ConvertLayoutOp>(*result.user_begin()))
      return convert.getType().getEncoding();
  return getLayout(result);
}

/// What the scan in `layout` costs, with the conversions around it.
static std::optional<double> getCostIn(ScanOp scan, Attribute layout) {
  std::optional<double> cost = getScanCost(scan, layout);
  if (!cost)
    return std::nullopt;
  for (Value source : scan.getSrcs())
    *cost += getCostBefore(source, layout);
  for (Value result : scan.getResults())
    *cost += getConversionCost(
        cloneWithEncoding(cast<RankedTensorType>(result.getType()), layout),
        getWantedLayout(result));
  return cost;
}

/// Has a scan computed in a layout in which few threads share a row, if that
/// and the conversions cost clearly less. Whether it did.
static bool keepInThreads(ScanOp scan) {
  auto type = cast<RankedTensorType>(scan.getInputTypes().front());
  std::optional<double> now = getCostIn(scan, type.getEncoding());
  BlockedEncodingAttr layout = getLayoutAlongAxis(scan);
  std::optional<double> cost = getCostIn(scan, layout);
  if (!now || !cost)
    return false;
  if (std::optional<double> moved =
          getCostIn(scan, getWantedLayout(scan.getResult().front())))
    now = std::min(*now, *moved);
  LDBG() << *cost << " for " << *now << " in " << layout << ": " << scan;
  if (*cost > kAtMost * *now)
    return false;

  OpBuilder builder(scan);
  Location loc = scan.getLoc();
  auto convert = [&](Value value, Attribute to) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    return ConvertLayoutOp::create(builder, loc, cloneWithEncoding(type, to),
                                   value);
  };
  for (OpOperand &source : scan.getSrcsMutable())
    source.set(convert(source.get(), layout));
  builder.setInsertionPointAfter(scan);
  for (Value result : scan.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(cloneWithEncoding(type, layout));
    Value back = convert(result, type.getEncoding());
    result.replaceAllUsesExcept(back, back.getDefiningOp());
  }
  return true;
}

unsigned layout_conversions::keepScansInThreads(Operation *func) {
  SmallVector<ScanOp> scans;
  func->walk([&](ScanOp scan) { scans.push_back(scan); });
  return llvm::count_if(scans, keepInThreads);
}
