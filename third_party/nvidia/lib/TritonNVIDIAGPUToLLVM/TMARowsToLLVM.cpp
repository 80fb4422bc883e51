//===-- TMARowsToLLVM.cpp - Bulk copies of chosen rows --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BulkTensorCopy.h"

#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

/// An instruction takes four row numbers. They are in registers of the thread
/// that starts it. Threads with other row numbers start other copies.
template <typename OpT> struct RowsPattern : nvt::CopyPattern<OpT> {
  using nvt::CopyPattern<OpT>::CopyPattern;

protected:
  static constexpr int32_t kRows = 4;

  /// `copy` has the descriptor, the buffer and the barrier.
  LogicalResult copyRows(const LLVMBuilder &b, OpT op,
                         typename OpT::Adaptor adaptor, ttg::MemDescType buffer,
                         nvt::BlockCopy copy, const Twine &name) const {
    if (!(copy.barrier ? this->facts.hasTMARows : this->facts.hasTMAScatter))
      return this->decline(op, "its copy engine takes no row numbers");
    if (failed(this->refusePadding(op)))
      return failure();
    auto encoding = ttng::getTMAEncoding(op.getDesc().getType(),
                                         [&] { return op.emitOpError(); });
    if (failed(encoding))
      return failure();
    auto part =
        ttng::getTMARowCopy(op.getDesc().getType().getBlockType(), buffer,
                            /*divide=*/!copy.barrier);
    if (!part)
      return this->decline(op, "TMA does not lay out four rows as the encoding "
                               "of the buffer says");
    auto type = cast<RankedTensorType>(op.getXOffsets().getType());
    LinearLayout layout = ttg::toLinearLayout(type);
    FailureOr<SmallVector<Group>> groups = getGroups(layout);
    if (failed(groups) || !isDividedAlike(layout, *part))
      return this->decline(op, "expected four neighbouring row numbers in a "
                               "thread of the block that holds these rows");
    ThreadIndex index = getThreadIndex(b, this->target, op);
    copy.coords = {b.i32(0), adaptor.getYOffset()};
    this->selectPart(b, op, *part, /*multicast=*/false, copy);
    // A block counts its rows from 0.
    LinearLayout inBlock = layout.resizeInDim(kBlock, 1);
    if (Value row = evaluateThreadPart(b, inBlock, kDim(0), index).value)
      copy.buffer = b.gep(copy.buffer, b.intTy(8), getOffset(b, *part, row));
    Value owner =
        b.andPred(emitUniqueThreadPredicate(b, inBlock, index), copy.pred);
    SmallVector<Value> rows = unpackElements(b, adaptor.getXOffsets(), type);
    nvt::PTXAsm ptx(b);
    ptx << "{ ";
    if (owner)
      ptx << "@!" << ptx.input(owner, "b") << " bra DONE; ";
    for (const Group &group : *groups)
      for (const ttng::TMABox &box : part->boxes) {
        if (box.start[0] != group.row)
          continue;
        Value column = copy.coords[1];
        if (box.start[1])
          column = b.add(column, b.i32(box.start[1]));
        SmallVector<Value> coords;
        for (int32_t r : llvm::reverse(group.registers))
          coords.push_back(rows[r]);
        coords.push_back(column);
        this->emitInstruction(ptx, copy, coords,
                              b.gep(copy.buffer, b.intTy(8), box.offset), name,
                              {});
      }
    ptx << "DONE: }";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    return success();
  }

private:
  /// Four row numbers of a thread. `row` is where the first of them is in the
  /// buffer, for the first thread of the block.
  struct Group {
    int32_t row;
    std::array<int32_t, kRows> registers;
  };

  static FailureOr<SmallVector<Group>> getGroups(const LinearLayout &layout) {
    for (StringRef dim : {kLane, kWarp, kBlock})
      for (unsigned i = 0, e = layout.getInDimSizeLog2(dim); i < e; ++i)
        if (layout.getFlatBasis(dim, i) % kRows)
          return failure();
    RegisterTable registers(layout);
    SmallVector<Group> groups;
    for (int32_t row : registers.getContributions(0)) {
      if (row % kRows)
        continue;
      Group group{row, {}};
      for (int32_t i = 0; i < kRows; ++i)
        if ((group.registers[i] = registers.lookup({row + i})) < 0)
          return failure();
      groups.push_back(group);
    }
    return groups;
  }

  /// Whether each block of a cluster has the numbers of the rows that are in
  /// its buffer.
  static bool isDividedAlike(const LinearLayout &layout,
                             const ttng::TMACopy &part) {
    for (unsigned bit = 0, e = layout.getInDimSizeLog2(kBlock); bit < e; ++bit)
      if (int64_t(layout.getFlatBasis(kBlock, bit)) !=
          (bit < part.steps.size() ? part.steps[bit][0] : 0))
        return false;
    return true;
  }

  /// Of a row, a multiple of four, in the buffer.
  static Value getOffset(const LLVMBuilder &b, const ttng::TMACopy &part,
                         Value row) {
    SmallVector<int32_t> bases;
    for (int64_t bit = 1, known = true; known; bit *= 2) {
      known = bit < kRows;
      if (known)
        bases.push_back(0);
      for (const ttng::TMABox &box : part.boxes)
        if (box.start[0] == bit && box.start[1] == 0) {
          bases.push_back(box.offset);
          known = true;
        }
    }
    return evaluateLinear(b, row, bases);
  }
};

struct GatherPattern : RowsPattern<ttng::AsyncTMAGatherOp> {
  using RowsPattern::RowsPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMAGatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    unsigned shared = ttng::getSharedBlockBits(op.getBarrier().getType());
    if (failed(checkSharing(op, shared)))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    Value barrier =
        nvt::getBufferAddress(b, adaptor.getBarrier(), op.getBarrier());
    if (shared)
      barrier = getInFirstOfPair(b, barrier);
    nvt::BlockCopy copy{
        adaptor.getDesc(),
        {},
        nvt::getBufferAddress(b, adaptor.getResult(), op.getResult()),
        barrier,
        adaptor.getPred()};
    StringRef space = shared ? ".cta_group::2.shared::cluster" : ".shared::cta";
    if (failed(
            copyRows(b, op, adaptor, op.getResult().getType(), copy,
                     "cp.async.bulk.tensor.2d" + space +
                         ".global.tile::gather4.mbarrier::complete_tx::bytes")))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ScatterPattern : RowsPattern<ttng::AsyncTMAScatterOp> {
  using RowsPattern::RowsPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMAScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::BlockCopy copy{adaptor.getDesc(),
                        {},
                        nvt::getBufferAddress(b, adaptor.getSrc(), op.getSrc()),
                        Value(),
                        Value()};
    if (failed(copyRows(b, op, adaptor, op.getSrc().getType(), copy,
                        "cp.async.bulk.tensor.2d.global.shared::cta.tile::"
                        "scatter4.bulk_group")))
      return failure();
    endStore(b, op, rewriter);
    return success();
  }
};

} // namespace

void nvt::populateTMARowPatterns(const LoweringContext &context,
                                 const TargetInfo &target) {
  context.patterns.add<GatherPattern, ScatterPattern>(context, target);
}
