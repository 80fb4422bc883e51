//===-- BulkTensorCopy.h - What bulk tensor copies share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_LIB_NVIDIA_TRITONNVIDIAGPUTOLLVM_BULKTENSORCOPY_H
#define TILE_LIB_NVIDIA_TRITONNVIDIAGPUTOLLVM_BULKTENSORCOPY_H

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

namespace mlir::triton::nvidia {

/// What the copies of all boxes have in common.
struct BlockCopy {
  Value map;
  SmallVector<Value> coords; ///< outermost first
  Value buffer;
  Value barrier; ///< of a load
  Value pred;
  Value blocks = {}; ///< of a cluster, to which a load goes; a bit for each
  SmallVector<Value> offsets = {}; ///< of pixels, outermost first
  unsigned packing = 1;            ///< coordinates of the map in one, innermost
};

/// Where the boxes of a buffer, or a part of one, begin.
Value getBoxAddress(const LLVMBuilder &b, Value converted, Value buffer);

/// A pattern for copies of boxes.
template <typename OpT> struct CopyPattern : TargetPattern<OpT> {
  CopyPattern(const LoweringContext &context, const TargetInfo &target)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

protected:
  const NVIDIATarget &facts;

  /// The copy engine writes padding, but does not skip it. That it gathers rows
  /// or pixels of 4-bit elements is not tried.
  LogicalResult refusePadding(OpT op) const {
    if (nvidia_gpu::getTMAPacking(
            cast<TensorDescType>(op.getDesc().getType()).getBlockType()) == 1)
      return success();
    return this->decline(op, "padded 4-bit elements are loaded in blocks only");
  }

  /// Whether a load can arrive at a barrier that blocks share which differ in
  /// these bits of their number.
  LogicalResult checkSharing(OpT op, unsigned bits) const {
    if (bits > 1 || (bits && !facts.hasTensorMemory))
      return this->decline(op,
                           "a copy arrives at a barrier of its block, or on "
                           "sm_100 at that of a pair of blocks");
    return success();
  }

  /// The same place in the first block of a pair.
  Value getInFirstOfPair(const LLVMBuilder &b, Value address) const {
    PTXAsm ptx(b);
    auto there = ptx.output("r"), at = ptx.input(address, "r"),
         block = ptx.input(b.and_(this->target.getBlockInCluster(b), b.i32(~1)),
                           "r");
    ptx << "mapa.shared::cluster.u32 " << there << ", " << at << ", " << block
        << ";";
    return ptx.emit({b.intTy(32)}, PTXAsm::Pure)[0];
  }

  /// What the blocks of the cluster copy; says why where they cannot. With
  /// `divide`, those that hold the same each copy a part of it.
  FailureOr<nvidia_gpu::TMACopy> getCopy(OpT op, gpu::MemDescType buffer,
                                         bool divide) const {
    auto desc = cast<TensorDescType>(op.getDesc().getType());
    auto encoding =
        nvidia_gpu::getTMAEncoding(desc, [&] { return op.emitOpError(); });
    if (failed(encoding))
      return failure();
    auto copy = nvidia_gpu::getTMACopy(desc.getBlockType(), buffer, divide);
    if (!copy)
      return this->decline(op, "TMA does not lay out blocks as their encoding "
                               "says");
    return *copy;
  }

  /// Moves on to what this block of the cluster copies. With `multicast`, for
  /// all blocks that hold the same.
  void selectPart(const LLVMBuilder &b, OpT op, const nvidia_gpu::TMACopy &part,
                  bool multicast, BlockCopy &copy) const {
    if (part.steps.empty())
      return;
    Value block = this->target.getBlockInCluster(b);
    for (unsigned bit = 0; bit < part.steps.size(); ++bit) {
      Value isSet = b.and_(b.lshr(block, b.i32(bit)), b.i32(1));
      for (auto [coord, step] : llvm::zip(copy.coords, part.steps[bit]))
        if (step)
          coord = b.add(coord, b.mul(isSet, b.i32(step)));
      if (int64_t step = part.offsetSteps[bit])
        copy.buffer = b.gep(copy.buffer, b.intTy(8), b.mul(isSet, b.i32(step)));
    }
    if (part.idleBits)
      copy.pred = b.andPred(b.eq(b.and_(block, b.i32(part.idleBits)), b.i32(0)),
                            copy.pred);
    if (!multicast || !part.sharedBits)
      return;
    unsigned together = 0;
    for (unsigned other = 0; other < 1u << part.steps.size(); ++other)
      if ((other & ~part.sharedBits) == 0)
        together |= 1u << other;
    Value first = b.and_(block, b.i32(~part.sharedBits));
    copy.blocks = b.trunc(b.intTy(16), b.shl(b.i32(together), first));
  }

  /// One instruction for each box: a load where there is a barrier. The branch
  /// is inside the assembly: blocks of LLVM's would have it copy accumulators
  /// of dots that go on meanwhile.
  void emitCopies(const LLVMBuilder &b, const BlockCopy &copy,
                  ArrayRef<nvidia_gpu::TMABox> boxes, const Twine &name,
                  const CachePolicy &policy = {}) const {
    PTXAsm ptx(b);
    ptx << "{ @!" << ptx.input(copy.pred, "b") << " bra DONE; ";
    for (const nvidia_gpu::TMABox &box : boxes)
      emitCopy(b, ptx, copy, box, name, policy);
    ptx << "DONE: }";
    ptx.emit({}, PTXAsm::SideEffects);
  }

  void emitCopy(const LLVMBuilder &b, PTXAsm &ptx, const BlockCopy &copy,
                const nvidia_gpu::TMABox &box, const Twine &name,
                const CachePolicy &policy) const {
    SmallVector<Value> coords;
    for (auto [coord, start] : llvm::zip(copy.coords, box.start))
      coords.push_back(start ? b.add(coord, b.i32(start)) : coord);
    if (copy.packing > 1)
      coords.back() = b.mul(coords.back(), b.i32(copy.packing));
    emitInstruction(ptx, copy, coords,
                    b.gep(copy.buffer, b.intTy(8), box.offset), name, policy);
  }

  /// One instruction for the box at `coords`, outermost dimension first.
  void emitInstruction(PTXAsm &ptx, const BlockCopy &copy,
                       ArrayRef<Value> coords, Value address, const Twine &name,
                       const CachePolicy &policy) const {
    auto map = ptx.input(copy.map, "l"), buffer = ptx.input(address, "r");
    SmallVector<PTXAsm::Operand> places;
    for (Value coord : coords)
      places.push_back(ptx.input(coord, "r"));
    // The innermost dimension comes first.
    std::reverse(places.begin(), places.end());
    ptx << name.str() << policy.getQualifier() << " ";
    if (copy.barrier)
      ptx << "[" << buffer << "], ";
    ptx << "[" << map << ", {";
    llvm::interleave(
        places, [&](PTXAsm::Operand place) { ptx << place; },
        [&] { ptx << ", "; });
    ptx << "}], [";
    if (copy.barrier)
      ptx << ptx.input(copy.barrier, "r") << "]";
    else
      ptx << buffer << "]";
    if (!copy.offsets.empty()) {
      SmallVector<PTXAsm::Operand> offsets;
      for (Value offset : llvm::reverse(copy.offsets))
        offsets.push_back(ptx.input(offset, "h"));
      ptx << ", {";
      llvm::interleave(
          offsets, [&](PTXAsm::Operand offset) { ptx << offset; },
          [&] { ptx << ", "; });
      ptx << "}";
    }
    if (copy.blocks)
      ptx << ", " << ptx.input(copy.blocks, "h");
    policy.append(ptx);
    ptx << "; ";
  }

  /// Ends `op`, whose copies out of shared memory are one group.
  static void endStore(const LLVMBuilder &b, OpT op,
                       ConversionPatternRewriter &rewriter) {
    PTXAsm ptx(b);
    ptx << "cp.async.bulk.commit_group;";
    ptx.emit({}, PTXAsm::SideEffects);
    if (op.getToken())
      rewriter.replaceOp(op, b.i32(0));
    else
      rewriter.eraseOp(op);
  }

  /// The copies out of shared memory, as one group.
  LogicalResult storeBlock(OpT op, typename OpT::Adaptor adaptor,
                           ConversionPatternRewriter &rewriter,
                           const Twine &name) const {
    if (failed(refusePadding(op)))
      return failure();
    auto part = getCopy(op, cast<gpu::MemDescType>(op.getSrc().getType()),
                        /*divide=*/true);
    if (failed(part))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    BlockCopy copy{adaptor.getDesc(), llvm::to_vector(adaptor.getCoord()),
                   getBoxAddress(b, adaptor.getSrc(), op.getSrc()), Value(),
                   emitFirstThread(b, this->target, op)};
    selectPart(b, op, *part, /*multicast=*/false, copy);
    emitCopies(b, copy, part->boxes, name,
               CachePolicy(b, facts, getEviction(op)));
    this->endStore(b, op, rewriter);
    return success();
  }

  static std::string getRank(OpT op) {
    return std::to_string(op.getCoord().size()) + "d";
  }
};

/// Copies of chosen rows.
void populateTMARowPatterns(const LoweringContext &context,
                            const TargetInfo &target);

/// Tensor maps that kernels make.
void populateTensorMapPatterns(const LoweringContext &context);

} // namespace mlir::triton::nvidia

#endif // TILE_LIB_NVIDIA_TRITONNVIDIAGPUTOLLVM_BULKTENSORCOPY_H
