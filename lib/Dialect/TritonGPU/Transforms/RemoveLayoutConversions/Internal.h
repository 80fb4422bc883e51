//===-- Internal.h - Steps of tritongpu-remove-layout-conversions -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_REMOVELAYOUTCONVERSIONS_INTERNAL_H
#define TILE_REMOVELAYOUTCONVERSIONS_INTERNAL_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "tile/Analysis/MemoryModel.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include <optional>

namespace mlir::triton::gpu::layout_conversions {

//===----------------------------------------------------------------------===//
// The steps. Each works on the body of `func` and returns how often it did
// something.
//===----------------------------------------------------------------------===//

/// Spreads the layouts of anchors to what is computed from them.
unsigned propagateLayouts(Operation *func);

/// Repeats computations in the layouts that conversions ask for, where that is
/// cheaper than converting; moves conversions to where they cost less. With
/// `onlyFixedUses`, looks at no conversions but those for fixed uses: what
/// feeds the others may be about to go.
struct RematerializationResult {
  unsigned numRematerialized = 0;
  unsigned numHoisted = 0;
};
RematerializationResult rematerializeBackward(Operation *func,
                                              bool onlyFixedUses);

/// Gives scans layouts of their own, where that and the conversions cost
/// clearly less.
unsigned keepScansInThreads(Operation *func);

/// Moves conversions below operations that make elements narrower.
unsigned sinkConversions(Operation *func);

/// Removes conversions that do nothing or feed operations that take any layout,
/// and merges conversions of conversions.
unsigned foldConversions(Operation *func);

/// Replaces loads by others that read the same elements into the same threads.
unsigned mergeReads(Operation *func);

/// Uses that neither pass a layout on nor take any: they want the one they see.
bool isFixedUse(OpOperand &use);

//===----------------------------------------------------------------------===//
// Costs, in rough numbers of instructions of one thread
//===----------------------------------------------------------------------===//

/// How often code at `op` runs, relative to the function body.
double getExecutionWeight(Operation *op);
/// Of converting a tensor once.
double getConversionCost(RankedTensorType type, Attribute to);
/// Of computing one element of the results of `op` again; nothing if it must
/// not be repeated.
std::optional<double> getElementCost(Operation *op,
                                     const RepeatableReads &reads);
/// Of a scan of inputs in `layout`; nothing if its lowering wants another one.
std::optional<double> getScanCost(ScanOp scan, Attribute layout);

} // namespace mlir::triton::gpu::layout_conversions

#endif // TILE_REMOVELAYOUTCONVERSIONS_INTERNAL_H
