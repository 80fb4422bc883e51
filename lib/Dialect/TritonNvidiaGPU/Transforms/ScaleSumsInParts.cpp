//===-- ScaleSumsInParts.cpp - Fewer registers for sums -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop of attention multiplies each row of its sum by a factor before it adds
// to it. The sum is in tensor memory, and a thread has a row. All of a row of
// 128 columns takes 128 registers beside those of the weights. Here it is
// loaded, multiplied and stored some columns at a time, where it was stored.
//
//===----------------------------------------------------------------------===//

#include "RowFactors.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIASCALESUMSINPARTS
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Columns that a thread has in registers at a time. Fewer would be waited for
/// more often.
constexpr int64_t kPart = 64;

/// Whether nobody accesses the buffer between the load and the store.
bool isUndisturbed(const RowScaling &scaling) {
  TMEMLoadOp load = scaling.load;
  TMEMStoreOp store = scaling.store;
  Block *block = store->getBlock();
  if (load->getBlock() != block ||
      load.getSrc().getDefiningOp<ViewLikeOpInterface>())
    return false;
  return llvm::all_of(load.getSrc().getUsers(), [&](Operation *user) {
    if (user == load || user == store)
      return true;
    if (isa<ViewLikeOpInterface>(user))
      return false;
    Operation *inBlock = block->findAncestorOpInBlock(*user);
    return !inBlock || inBlock->isBeforeInBlock(load) ||
           store->isBeforeInBlock(inBlock);
  });
}

class ScaleSumsInParts
    : public nvidia_gpu::impl::TritonNvidiaScaleSumsInPartsBase<
          ScaleSumsInParts> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<TMEMStoreOp> stores;
    getOperation().walk([&](TMEMStoreOp store) {
      if (store->getParentOfType<scf::ForOp>())
        stores.push_back(store);
    });
    for (TMEMStoreOp store : stores)
      divide(store);
  }

private:
  void divide(TMEMStoreOp store) {
    RowScaling scaling = getRowScaling(store);
    if (!scaling || gpu::lookupNumWarps(store) != kGroupWarps)
      return;
    auto type = cast<gpu::MemDescType>(store.getDst().getType());
    if (!isPlainSum(type) || type.getShape()[1] <= kPart ||
        !isUndisturbed(scaling))
      return;
    OpBuilder b(store);
    Location loc = scaling.scaled.getLoc();
    scaleRows(b, loc, store.getDst(), store.getPred(), kPart,
              [&](RankedTensorType rows) {
                return gpu::convertTo(b, loc, scaling.factors,
                                      rows.getEncoding());
              });
    store.erase();
    scaling.scaled.erase();
    scaling.load.erase();
    ++numSums;
  }
};

} // namespace
