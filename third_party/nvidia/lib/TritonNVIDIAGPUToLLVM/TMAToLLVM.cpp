//===-- TMAToLLVM.cpp - Bulk tensor copies, tensor maps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of a block takes one cp.async.bulk.tensor for each of its boxes
// (TensorMap.h), all from the first thread. Groups of copies, and what is
// waited for, belong to the thread that started them.
//
// That thread takes a branch of its own. Of several copies that are predicated
// one by one, ptxas (13.5) makes code in which other lanes of the first warp
// start the last one, too.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/CachePolicy.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

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
Value getBoxAddress(const LLVMBuilder &b, Value converted, Value buffer) {
  auto type = cast<ttg::MemDescType>(buffer.getType());
  MemDesc desc = MemDesc::unpack(b, converted, type);
  Value address = desc.base;
  // Buffers of an array have no start in these dimensions.
  unsigned rank = cast<ttg::LayoutEncodingTrait>(type.getEncoding()).getRank();
  if (type.getShape().size() != rank ||
      type.getAllocShape().take_back(rank) == type.getShape())
    return address;
  for (auto [dim, start] : llvm::enumerate(desc.offsets)) {
    if (Value bytes =
            evaluateLinear(b, start, ttng::getTMAViewBases(type, dim)))
      address = b.gep(address, b.intTy(8), bytes);
  }
  return address;
}

template <typename OpT> struct CopyPattern : TargetPattern<OpT> {
  CopyPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        facts(target.getFacts()) {}

protected:
  const NVIDIATarget &facts;

  /// The copy engine writes padding, but does not skip it. That it gathers rows
  /// or pixels of 4-bit elements is not tried.
  LogicalResult refusePadding(OpT op) const {
    if (ttng::getTMAPacking(
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
    nvt::PTXAsm ptx(b);
    auto there = ptx.output("r"), at = ptx.input(address, "r"),
         block = ptx.input(b.and_(this->target.getBlockInCluster(b), b.i32(~1)),
                           "r");
    ptx << "mapa.shared::cluster.u32 " << there << ", " << at << ", " << block
        << ";";
    return ptx.emit({b.intTy(32)}, nvt::PTXAsm::Pure)[0];
  }

  /// What the blocks of the cluster copy; says why where they cannot. With
  /// `divide`, those that hold the same each copy a part of it.
  FailureOr<ttng::TMACopy> getCopy(OpT op, ttg::MemDescType buffer,
                                   bool divide) const {
    auto desc = cast<TensorDescType>(op.getDesc().getType());
    auto encoding =
        ttng::getTMAEncoding(desc, [&] { return op.emitOpError(); });
    if (failed(encoding))
      return failure();
    auto copy = ttng::getTMACopy(desc.getBlockType(), buffer, divide);
    if (!copy)
      return this->decline(op, "TMA does not lay out blocks as their encoding "
                               "says");
    return *copy;
  }

  /// Moves on to what this block of the cluster copies. With `multicast`, for
  /// all blocks that hold the same.
  void selectPart(const LLVMBuilder &b, OpT op, const ttng::TMACopy &part,
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
                  ArrayRef<ttng::TMABox> boxes, const Twine &name,
                  const nvt::CachePolicy &policy = {}) const {
    nvt::PTXAsm ptx(b);
    ptx << "{ @!" << ptx.input(copy.pred, "b") << " bra DONE; ";
    for (const ttng::TMABox &box : boxes)
      emitCopy(b, ptx, copy, box, name, policy);
    ptx << "DONE: }";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

  void emitCopy(const LLVMBuilder &b, nvt::PTXAsm &ptx, const BlockCopy &copy,
                const ttng::TMABox &box, const Twine &name,
                const nvt::CachePolicy &policy) const {
    SmallVector<Value> coords;
    for (auto [coord, start] : llvm::zip(copy.coords, box.start))
      coords.push_back(start ? b.add(coord, b.i32(start)) : coord);
    if (copy.packing > 1)
      coords.back() = b.mul(coords.back(), b.i32(copy.packing));
    emitInstruction(ptx, copy, coords,
                    b.gep(copy.buffer, b.intTy(8), box.offset), name, policy);
  }

  /// One instruction for the box at `coords`, outermost dimension first.
  void emitInstruction(nvt::PTXAsm &ptx, const BlockCopy &copy,
                       ArrayRef<Value> coords, Value address, const Twine &name,
                       const nvt::CachePolicy &policy) const {
    auto map = ptx.input(copy.map, "l"), buffer = ptx.input(address, "r");
    SmallVector<nvt::PTXAsm::Operand> places;
    for (Value coord : coords)
      places.push_back(ptx.input(coord, "r"));
    // The innermost dimension comes first.
    std::reverse(places.begin(), places.end());
    ptx << name.str() << policy.getQualifier() << " ";
    if (copy.barrier)
      ptx << "[" << buffer << "], ";
    ptx << "[" << map << ", {";
    llvm::interleave(
        places, [&](nvt::PTXAsm::Operand place) { ptx << place; },
        [&] { ptx << ", "; });
    ptx << "}], [";
    if (copy.barrier)
      ptx << ptx.input(copy.barrier, "r") << "]";
    else
      ptx << buffer << "]";
    if (!copy.offsets.empty()) {
      SmallVector<nvt::PTXAsm::Operand> offsets;
      for (Value offset : llvm::reverse(copy.offsets))
        offsets.push_back(ptx.input(offset, "h"));
      ptx << ", {";
      llvm::interleave(
          offsets, [&](nvt::PTXAsm::Operand offset) { ptx << offset; },
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
    nvt::PTXAsm ptx(b);
    ptx << "cp.async.bulk.commit_group;";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
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
    auto part = getCopy(op, cast<ttg::MemDescType>(op.getSrc().getType()),
                        /*divide=*/true);
    if (failed(part))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    BlockCopy copy{adaptor.getDesc(), llvm::to_vector(adaptor.getCoord()),
                   getBoxAddress(b, adaptor.getSrc(), op.getSrc()), Value(),
                   nvt::emitFirstThread(b, this->target, op)};
    selectPart(b, op, *part, /*multicast=*/false, copy);
    emitCopies(b, copy, part->boxes, name,
               nvt::CachePolicy(b, facts, getEviction(op)));
    this->endStore(b, op, rewriter);
    return success();
  }

  static std::string getRank(OpT op) {
    return std::to_string(op.getCoord().size()) + "d";
  }
};

struct LoadPattern : CopyPattern<ttng::AsyncTMACopyGlobalToLocalOp> {
  using CopyPattern::CopyPattern;

  LogicalResult
  matchAndRewrite(ttng::AsyncTMACopyGlobalToLocalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool multicast = op.getMulticast(), isOfPixels = !op.getOffsets().empty();
    auto part = isOfPixels ? getPixelCopy(op, /*divide=*/multicast)
                           : getCopy(op, op.getResult().getType(),
                                     /*divide=*/multicast);
    if (failed(part))
      return failure();
    unsigned shared = ttng::getSharedBlockBits(op.getBarrier().getType());
    if (failed(checkSharing(op, shared)))
      return failure();
    unsigned packing = ttng::getTMAPacking(
        cast<TensorDescType>(op.getDesc().getType()).getBlockType());
    // Both came with sm_100.
    if (packing > 1 && !facts.hasTMARows)
      return decline(op, "its copy engine has no padded 4-bit elements: those "
                         "of sm_100 and later have");
    LLVMBuilder b(op.getLoc(), rewriter);
    Value barrier =
        nvt::getBufferAddress(b, adaptor.getBarrier(), op.getBarrier());
    if (shared)
      barrier = getInFirstOfPair(b, barrier);
    BlockCopy copy{
        adaptor.getDesc(), llvm::to_vector(adaptor.getCoord()),
        getBoxAddress(b, adaptor.getResult(), op.getResult()), barrier,
        b.and_(nvt::emitFirstThread(b, target, op), adaptor.getPred())};
    copy.offsets = llvm::to_vector(adaptor.getOffsets());
    copy.packing = packing;
    selectPart(b, op, *part, multicast, copy);
    emitCopies(b, copy, part->boxes,
               "cp.async.bulk.tensor." + getRank(op) +
                   (shared ? ".cta_group::2" : "") + ".shared::cluster.global" +
                   (isOfPixels ? ".im2col" : "") +
                   ".mbarrier::complete_tx::bytes" +
                   (copy.blocks ? ".multicast::cluster" : ""),
               nvt::CachePolicy(b, facts, op.getEvict()));
    rewriter.eraseOp(op);
    return success();
  }

private:
  FailureOr<ttng::TMACopy> getPixelCopy(ttng::AsyncTMACopyGlobalToLocalOp op,
                                        bool divide) const {
    if (failed(refusePadding(op)))
      return failure();
    auto desc = cast<TensorDescType>(op.getDesc().getType());
    auto encoding =
        ttng::getTMAEncoding(desc, [&] { return op.emitOpError(); });
    if (failed(encoding))
      return failure();
    auto copy =
        ttng::getTMAPixelCopy(desc.getBlockType(), op.getResult().getType(),
                              divide, op.getCoord().size());
    if (!copy)
      return this->decline(op, "TMA does not lay out pixels as the encoding of "
                               "the buffer says: each block of a cluster gets "
                               "all pixels, one behind the other");
    return *copy;
  }
};

struct StorePattern : CopyPattern<ttng::AsyncTMACopyLocalToGlobalOp> {
  using CopyPattern::CopyPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMACopyLocalToGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return storeBlock(op, adaptor, rewriter,
                      "cp.async.bulk.tensor." + getRank(op) +
                          ".global.shared::cta.bulk_group");
  }
};

struct ReducePattern : CopyPattern<ttng::AsyncTMAReduceOp> {
  using CopyPattern::CopyPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMAReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return storeBlock(
        op, adaptor, rewriter,
        "cp.reduce.async.bulk.tensor." + getRank(op) + ".global.shared::cta." +
            stringifyDescriptorReduceKind(op.getKind()) + ".bulk_group");
  }
};

//===----------------------------------------------------------------------===//
// Copies of chosen rows
//===----------------------------------------------------------------------===//

/// An instruction takes four row numbers. They are in registers of the thread
/// that starts it. Threads with other row numbers start other copies.
template <typename OpT> struct RowsPattern : CopyPattern<OpT> {
  using CopyPattern<OpT>::CopyPattern;

protected:
  static constexpr int32_t kRows = 4;

  /// `copy` has the descriptor, the buffer and the barrier.
  LogicalResult copyRows(const LLVMBuilder &b, OpT op,
                         typename OpT::Adaptor adaptor, ttg::MemDescType buffer,
                         BlockCopy copy, const Twine &name) const {
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
    BlockCopy copy{
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
    BlockCopy copy{adaptor.getDesc(),
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

struct StoreWaitPattern : TargetPattern<ttng::AsyncTMAStoreWaitOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::AsyncTMAStoreWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::PTXAsm ptx(b);
    ptx << "cp.async.bulk.wait_group" << (op.getComplete() ? " " : ".read ")
        << std::to_string(op.getPendings()) << ";";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }
};

struct FenceAsyncGlobalPattern : TargetPattern<ttng::FenceAsyncGlobalOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::FenceAsyncGlobalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op,
        NVVM::ProxyKindAttr::get(op.getContext(),
                                 NVVM::ProxyKind::async_global),
        NVVM::SharedSpaceAttr());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// The first warp builds the map in shared memory, field by field, and copies
/// it to where it belongs.
struct CreatePattern : TargetPattern<ttng::TensormapCreateOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::TensormapCreateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasAttr(kAllocationOffsetAttrName))
      return decline(op, "no scratch memory allocated");
    LLVMBuilder b(op.getLoc(), rewriter);
    ThreadIndex index = getThreadIndex(b, target, op);
    Value inFirstWarp = b.ult(index.thread, b.i32(index.threadsPerWarp));
    Value first = b.eq(index.thread, b.i32(0));
    Value scratch = getScratchBase(b, target, op);

    // Stores that still use the map that was here before are from this thread.
    emitAsm(b, "cp.async.bulk.wait_group 0;");
    Value word = b.gep(scratch, b.intTy(32), b.urem(index.thread, b.i32(32)));
    target.storeShared(b, word, {b.i32(0)}, inFirstWarp);
    emitAsm(b, "bar.warp.sync 0xffffffff;");

    auto replace = [&](StringRef field, Value value, int dim = -1) {
      bool isWide = value.getType().getIntOrFloatBitWidth() == 64;
      nvt::PTXAsm ptx(b);
      auto at = ptx.input(scratch, "r");
      auto with = ptx.input(value, isWide ? "l" : "r");
      ptx << "tensormap.replace.tile." << field << ".shared::cta.b1024."
          << (isWide ? "b64" : "b32") << " [" << at << "], ";
      if (dim >= 0)
        ptx << std::to_string(dim) << ", ";
      ptx << with << ";";
      ptx.emit({}, nvt::PTXAsm::SideEffects);
    };
    // These take constants only.
    auto replaceCode = [&](StringRef field, int32_t code) {
      nvt::PTXAsm ptx(b);
      auto at = ptx.input(scratch, "r");
      ptx << "tensormap.replace.tile." << field << ".shared::cta.b1024.b32 ["
          << at << "], " << std::to_string(code) << ";";
      ptx.emit({}, nvt::PTXAsm::SideEffects);
    };
    underPredicate(b, first, [&] {
      replace("global_address",
              b.ptrToInt(b.intTy(64), adaptor.getGlobalAddress()));
      replace("rank", b.i32(op.getBoxDim().size() - 1));
      for (auto [dim, size] : llvm::enumerate(adaptor.getBoxDim()))
        replace("box_dim", size, dim);
      for (auto [dim, size] : llvm::enumerate(adaptor.getGlobalDim()))
        replace("global_dim", size, dim);
      for (auto [dim, stride] : llvm::enumerate(adaptor.getGlobalStride()))
        replace("global_stride", stride, dim);
      for (auto [dim, stride] : llvm::enumerate(adaptor.getElementStride()))
        replace("element_stride", stride, dim);
      replaceCode("elemtype", op.getElemType());
      replaceCode("interleave_layout", op.getInterleaveLayout());
      replaceCode("swizzle_mode", op.getSwizzleMode());
      replaceCode("fill_mode", op.getFillMode());
    });
    // Scratch memory is written before a barrier of the block, and read after.
    blockBarrier(b, op);

    // The whole warp has to execute it together.
    nvt::PTXAsm ptx(b);
    auto pred = ptx.input(inFirstWarp, "b");
    auto to = ptx.input(adaptor.getDescPtr(), "l");
    auto from = ptx.input(scratch, "r");
    ptx << "@" << pred
        << " tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
           ".release.gpu.sync.aligned ["
        << to << "], [" << from << "], 128;";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitAsm(const LLVMBuilder &b, StringRef text) {
    nvt::PTXAsm ptx(b);
    ptx << text;
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }
};

struct AcquirePattern : TargetPattern<ttng::TensormapFenceproxyAcquireOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::TensormapFenceproxyAcquireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::PTXAsm ptx(b);
    ptx << "fence.proxy.tensormap::generic.acquire.gpu ["
        << ptx.input(toGeneric(b, adaptor.getDescPtr()), "l") << "], 128;";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
    rewriter.eraseOp(op);
    return success();
  }

  static Value toGeneric(const LLVMBuilder &b, Value ptr) {
    if (cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace() == 0)
      return ptr;
    return b.create<LLVM::AddrSpaceCastOp>(b.ptrTy(0), ptr);
  }
};

struct ReinterpretPattern : TargetPattern<ttng::ReinterpretTensorDescriptorOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::ReinterpretTensorDescriptorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, AcquirePattern::toGeneric(b, adaptor.getRawDesc()));
    return success();
  }
};
} // namespace

void nvt::populateTMAPatterns(const LoweringContext &context,
                              const TargetInfo &target) {
  context.patterns.add<LoadPattern, GatherPattern, ScatterPattern, StorePattern,
                       ReducePattern>(context, target);
  context.add<StoreWaitPattern, FenceAsyncGlobalPattern, CreatePattern,
              AcquirePattern, ReinterpretPattern>();
}
