//===-- CopyScales.cpp - Scales from shared memory to tensor memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tensor core reads scales in tensor memory. Where a multiplication has
// them in shared memory, the thread that starts it copies them first: copies
// and multiplications of one thread are done in their order.
//
// A later copy must not overwrite what a multiplication still reads. So tensor
// memory has a place for each buffer of a ring in shared memory. Who fills a
// buffer of the ring again has waited for the multiplication that has read it:
// then it has read the place of that buffer, too.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-copy-scales"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIACOPYSCALES
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// What chooses a buffer of arrays in shared memory: the indices, and how many
/// buffers each chooses from, the outermost first.
struct Choice {
  SmallVector<Value> indices;
  SmallVector<int64_t> sizes;

  explicit Choice(Value view) {
    while (auto op = view.getDefiningOp<ViewLikeOpInterface>()) {
      if (auto index = dyn_cast<gpu::MemDescIndexOp>(op.getOperation())) {
        indices.insert(indices.begin(), index.getIndex());
        sizes.insert(sizes.begin(), index.getSrc().getType().getShape()[0]);
      }
      view = op.getViewSource();
    }
  }

  int64_t getSize() const { return llvm::product_of(sizes); }
  Value makeIndex(OpBuilder &b, Location loc) const {
    Value result = indices.front();
    for (auto [index, size] : llvm::drop_begin(llvm::zip(indices, sizes))) {
      Value scale = arith::ConstantIntOp::create(b, loc, size, 32);
      result = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, result, scale), index);
    }
    return result;
  }
};

/// The rows of scales that a buffer in shared memory has, which may lie tile by
/// tile: rows / 128 x scales / 4 x 32 x 4 x 4.
FailureOr<SmallVector<int64_t>> getRows(gpu::MemDescType type) {
  constexpr int64_t kTile[] = {32, 4, 4};
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() == 2)
    return SmallVector<int64_t>(shape);
  if (shape.size() == 5 && shape.drop_front(2) == ArrayRef(kTile))
    return SmallVector<int64_t>{shape[0] * 128, shape[1] * 4};
  return failure();
}

class CopyScalesPass
    : public nvidia_gpu::impl::TritonNvidiaCopyScalesBase<CopyScalesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](TCGen5MMAScaledOp mma) {
      for (OpOperand *scales :
           {&mma.getAScaleMutable(), &mma.getBScaleMutable()})
        if (isInSharedMemory(cast<gpu::MemDescType>(scales->get().getType())))
          if (failed(copy(mma, *scales)))
            signalPassFailure();
    });
  }

private:
  LogicalResult copy(TCGen5MMAScaledOp mma, OpOperand &scales) {
    Value source = scales.get();
    auto type = cast<gpu::MemDescType>(source.getType());
    FailureOr<SmallVector<int64_t>> rows = getRows(type);
    if (failed(rows))
      return mma.emitOpError()
             << "expected scales in shared memory as rows, or tile by tile "
                "(rows / 128 x scales / 4 x 32 x 4 x 4), found "
             << type;
    bool always = matchPattern(mma.getPred(), m_One());
    if (Value known = findCopy(mma, source)) {
      scales.set(known);
      return success();
    }
    Location loc = mma.getLoc();
    Choice choice(source);
    Value place = allocate(mma, *rows, type.getElementType(), choice);
    OpBuilder b(mma);
    if (!choice.indices.empty()) {
      auto array = cast<gpu::MemDescType>(place.getType());
      auto one = gpu::MemDescType::get(
          *rows, array.getElementType(), array.getEncoding(),
          array.getMemorySpace(), /*mutableMemory=*/true);
      place = gpu::MemDescIndexOp::create(b, loc, one, place,
                                          choice.makeIndex(b, loc));
    }
    LDBG() << "copy " << source << " for " << mma;
    if (!always)
      b = scf::IfOp::create(b, loc, mma.getPred(), /*withElseRegion=*/false)
              .getThenBodyBuilder();
    TMEMCopyOp::create(b, loc, source, place, /*barrier=*/Value());
    scales.set(place);
    ++numCopies;
    return success();
  }

  /// Where `source` was copied before, in the same block, and nothing came in
  /// between that may write it.
  static Value findCopy(TCGen5MMAScaledOp mma, Value source) {
    for (Operation *op = mma->getPrevNode(); op; op = op->getPrevNode()) {
      if (auto copy = dyn_cast<TMEMCopyOp>(op)) {
        if (copy.getSrc() == source)
          return copy.getDst();
      } else if (!isa<MMAv5OpInterface>(op) && !isMemoryEffectFree(op)) {
        return {};
      }
    }
    return {};
  }

  /// The places for all buffers of `choice`, before what the partition or the
  /// function of `mma` does around it.
  static Value allocate(TCGen5MMAScaledOp mma, ArrayRef<int64_t> rows,
                        Type element, const Choice &choice) {
    Operation *outermost = mma;
    while (!isa<FunctionOpInterface, gpu::WarpSpecializeOp,
                gpu::WarpSpecializePartitionsOp>(outermost->getParentOp()))
      outermost = outermost->getParentOp();
    OpBuilder b(outermost);
    SmallVector<int64_t> shape;
    if (!choice.indices.empty())
      shape.push_back(choice.getSize());
    llvm::append_range(shape, rows);
    MLIRContext *context = mma.getContext();
    auto type = gpu::MemDescType::get(
        shape, element,
        TensorMemoryScalesEncodingAttr::get(
            context, gpu::CTALayoutAttr::getDefault(context, /*rank=*/2)),
        TensorMemorySpaceAttr::get(context), /*mutableMemory=*/true);
    return TMEMAllocOp::create(b, mma.getLoc(), type, /*token=*/Type(),
                               /*src=*/Value())
        .getResult();
  }
};

} // namespace
