//===-- OptimizeThreadLocality.cpp - Fewer exchanges between threads ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reduction has two halves: inside each thread, which is free, and between
// threads, which is not. In a loop that adds up reductions of tensors, the
// second half can wait until the end. That is so even where the sum is scaled
// before each addition, as in a softmax whose maximum is still being found.
// Which elements a thread owns is read off the linear layout. The bits of the
// coordinate along the reduced dimension are split by whether they choose a
// register or a thread. So a reshape (which moves nothing) makes dimensions of
// both kinds.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-optimize-thread-locality"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUOPTIMIZETHREADLOCALITY
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

//===----------------------------------------------------------------------===//
// Reductions in loops
//===----------------------------------------------------------------------===//

/// Neighbouring bits of a coordinate that choose a register, or do not.
struct BitRun {
  bool inThread;
  int64_t size;
};

/// Splits the coordinate along `axis` into runs, the most significant first.
/// Nothing if a bit is mixed with others (a swizzle).
std::optional<SmallVector<BitRun>> splitAxis(RankedTensorType type,
                                             unsigned axis) {
  LinearLayout layout = toLinearLayout(type);
  int32_t size = type.getShape()[axis];
  SmallVector<std::optional<bool>> inThread(llvm::Log2_32(size));
  for (auto &[dim, bases] : layout.getBases()) {
    for (const std::vector<int32_t> &basis : bases) {
      int32_t coord = basis[axis];
      if (coord == 0)
        continue;
      bool isAlone =
          llvm::count_if(basis, [](int32_t c) { return c != 0; }) == 1;
      if (!isAlone || !llvm::isPowerOf2_32(coord))
        return std::nullopt;
      std::optional<bool> &bit = inThread[llvm::Log2_32(coord)];
      // Held by several threads, or more than once by one.
      if (bit)
        return std::nullopt;
      bit = dim == kRegister;
    }
  }
  SmallVector<BitRun> runs;
  for (std::optional<bool> bit : llvm::reverse(inThread)) {
    if (!bit)
      return std::nullopt;
    if (runs.empty() || runs.back().inThread != *bit)
      runs.push_back({*bit, 1});
    runs.back().size *= 2;
  }
  return runs;
}

/// A loop-carried value to which each iteration adds a reduction, scaled before
/// if there is a `scaling` (the sums of a softmax in one pass).
struct Accumulation {
  ReduceOp reduce;
  arith::MulFOp scaling;
  Operation *update;
  unsigned index;
  TypedAttr neutral;
  SmallVector<BitRun> runs;
};

Value buildReduce(OpBuilder &builder, ReduceOp like, Value source,
                  unsigned axis) {
  auto reduce =
      ReduceOp::create(builder, like.getLoc(), ValueRange{source}, axis);
  IRMapping mapping;
  like.getCombineOp().cloneInto(&reduce.getCombineOp(), mapping);
  return reduce.getResult()[0];
}

/// Matches `yield(update(iter_arg, reduce))`, where the update is what the
/// reduction does, and nothing else looks at any of the three; for sums also
/// with `mulf(iter_arg, factor)`.
std::optional<Accumulation> match(ReduceOp reduce, scf::ForOp loop) {
  if (reduce.getSrcs().size() != 1 || !reduce->hasOneUse() ||
      reduce->getParentOp() != loop.getOperation())
    return std::nullopt;
  Value result = reduce.getResult()[0];
  if (!isa<RankedTensorType>(result.getType())) {
    LDBG() << "to a scalar: " << reduce;
    return std::nullopt;
  }
  Operation *combiner = reduce.getSingleCombiner();
  Operation *update = *reduce->getUsers().begin();
  if (!combiner || combiner->getName() != update->getName() ||
      update->getNumOperands() != 2 || !update->hasOneUse() ||
      update->getBlock() != loop.getBody() ||
      combiner->getDiscardableAttrDictionary() !=
          update->getDiscardableAttrDictionary())
    return std::nullopt;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  if (!neutral) {
    LDBG() << "no neutral element: " << *combiner;
    return std::nullopt;
  }
  // Adding 0.0 would turn a sum of -0.0 into 0.0.
  if (isa<arith::AddFOp>(combiner))
    if (auto zero = dyn_cast<FloatAttr>(*neutral))
      neutral = FloatAttr::get(
          zero.getType(),
          APFloat::getZero(zero.getValue().getSemantics(), /*Negative=*/true));
  Value carried = update->getOperand(update->getOperand(0) == result ? 1 : 0);
  auto scaling = carried.getDefiningOp<arith::MulFOp>();
  if (scaling && !(isa<arith::AddFOp>(combiner) && scaling->hasOneUse()))
    return std::nullopt;
  if (scaling)
    carried = isa<BlockArgument>(scaling.getLhs()) ? scaling.getLhs()
                                                   : scaling.getRhs();
  auto arg = dyn_cast<BlockArgument>(carried);
  if (!arg || arg.getOwner() != loop.getBody() || arg.getArgNumber() == 0 ||
      !arg.hasOneUse())
    return std::nullopt;
  unsigned index = arg.getArgNumber() - 1;
  OpOperand &yielded = *update->getUses().begin();
  if (yielded.getOwner() != loop.getBody()->getTerminator() ||
      yielded.getOperandNumber() != index)
    return std::nullopt;

  auto type = cast<RankedTensorType>(reduce.getSrcs()[0].getType());
  std::optional<SmallVector<BitRun>> runs = splitAxis(type, reduce.getAxis());
  if (!runs) {
    LDBG() << "threads share elements along the axis: " << type;
    return std::nullopt;
  }
  bool anyInThread = false, anyAcross = false;
  for (BitRun run : *runs)
    (run.inThread ? anyInThread : anyAcross) = true;
  if (!anyAcross) {
    LDBG() << "nothing to exchange: " << type;
    return std::nullopt;
  }
  // With nothing to reduce inside a thread, the running value would take as
  // many registers as the tensor.
  if (!anyInThread) {
    LDBG() << "a thread owns one element: " << type;
    return std::nullopt;
  }
  if (scaling) {
    // The parts are spread over one dimension, and start from shares.
    if (llvm::count_if(*runs, [](BitRun run) { return !run.inThread; }) != 1 ||
        type.getElementTypeBitWidth() < 32) {
      LDBG() << "no sum to scale in parts: " << type;
      return std::nullopt;
    }
  }
  return Accumulation{reduce, scaling,  update,
                      index,  *neutral, std::move(*runs)};
}

/// The half of the reduction inside each thread.
Value reduceInThread(OpBuilder &builder, ReduceOp reduce,
                     ArrayRef<BitRun> runs) {
  Value source = reduce.getSrcs()[0];
  auto type = cast<RankedTensorType>(source.getType());
  unsigned axis = reduce.getAxis();
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  for (BitRun run : runs)
    shape.push_back(run.size);
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  if (runs.size() > 1)
    source = ReshapeOp::create(
        builder, reduce.getLoc(),
        RankedTensorType::get(
            shape, type.getElementType(),
            nameLinearLayout(type.getContext(), shape,
                             reshapeOuts(toLinearLayout(type), shape))),
        source, /*allowReorder=*/false);
  for (unsigned i = runs.size(); i-- > 0;)
    if (runs[i].inThread)
      source = buildReduce(builder, reduce, source, axis + i);
  return source;
}

/// The half between threads.
Value reduceAcross(OpBuilder &builder, ReduceOp reduce, ArrayRef<BitRun> runs,
                   Value partial) {
  for (BitRun run : runs)
    if (!run.inThread)
      partial = buildReduce(builder, reduce, partial, reduce.getAxis());
  return partial;
}

/// A value for each of the parts of a sum that threads have, whose types are
/// `type`.
Value spread(OpBuilder &builder, Accumulation &acc, Value value,
             RankedTensorType type) {
  Location loc = acc.reduce.getLoc();
  unsigned axis = acc.reduce.getAxis();
  auto without = RankedTensorType::get(
      cast<RankedTensorType>(value.getType()).getShape(), type.getElementType(),
      SliceEncodingAttr::get(type.getContext(), axis, type.getEncoding()));
  if (value.getType() != without)
    value = ConvertLayoutOp::create(builder, loc, without, value);
  value = ExpandDimsOp::create(builder, loc, value, axis);
  return BroadcastOp::create(builder, loc, type, value);
}

void rewrite(scf::ForOp loop, Accumulation &acc) {
  OpBuilder builder(acc.update);
  Location loc = acc.reduce.getLoc();
  Value partial = reduceInThread(builder, acc.reduce, acc.runs);
  auto partialType = cast<RankedTensorType>(partial.getType());

  // The running value changes its type in place: nothing else uses it.
  BlockArgument arg = loop.getRegionIterArg(acc.index);
  arg.setType(partialType);
  Value result = acc.reduce.getResult()[0];
  IRMapping mapping;
  mapping.map(result, partial);
  if (acc.scaling) {
    Value factor = acc.scaling.getLhs() == arg ? acc.scaling.getRhs()
                                               : acc.scaling.getLhs();
    factor = spread(builder, acc, factor, partialType);
    mapping.map(acc.scaling.getResult(),
                arith::MulFOp::create(builder, acc.scaling.getLoc(), arg,
                                      factor, acc.scaling.getFastmath()));
  }
  Operation *update = builder.clone(*acc.update, mapping);
  update->getResult(0).setType(partialType);
  acc.update->replaceAllUsesWith(update);
  acc.update->erase();
  if (acc.scaling)
    acc.scaling->erase();

  builder.setInsertionPoint(loop);
  Value init = loop.getInitArgs()[acc.index];
  Type resultType = init.getType();
  Value first;
  if (acc.scaling) {
    // What the loop starts from is scaled, too: each part has the same of it.
    // Their number is a power of 2.
    int64_t numParts = partialType.getDimSize(acc.reduce.getAxis());
    Value share = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            cast<ShapedType>(resultType),
            builder.getFloatAttr(partialType.getElementType(), 1. / numParts)));
    first =
        spread(builder, acc, arith::MulFOp::create(builder, loc, init, share),
               partialType);
  } else {
    first = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(partialType, Attribute(acc.neutral)));
  }
  loop.getInitArgsMutable()[acc.index].assign(first);

  builder.setInsertionPointAfter(loop);
  OpResult carried = loop->getResult(acc.index);
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(carried.getUses()));
  carried.setType(partialType);
  Value total = reduceAcross(builder, acc.reduce, acc.runs, carried);
  if (total.getType() != resultType)
    total = ConvertLayoutOp::create(builder, loc, resultType, total);
  if (!acc.scaling) {
    Operation *final = builder.clone(*update);
    final->setOperands({init, total});
    final->getResult(0).setType(resultType);
    total = final->getResult(0);
  }
  for (OpOperand *use : uses)
    use->set(total);
  acc.reduce->erase();
}

//===----------------------------------------------------------------------===//
// Reductions of several tensors
//===----------------------------------------------------------------------===//

/// A reduction whose result `value` is, in another layout maybe, and that
/// combines elements as `update` combines its operands. Nothing else uses it.
ReduceOp getReduction(Value value, Operation *update) {
  while (auto convert = value.getDefiningOp<ConvertLayoutOp>()) {
    if (!convert->hasOneUse())
      return {};
    value = convert.getSrc();
  }
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getSrcs().size() != 1 || !reduce->hasOneUse() ||
      reduce->getBlock() != update->getBlock())
    return {};
  Operation *combiner = reduce.getSingleCombiner();
  bool isAlike = combiner && combiner->getName() == update->getName() &&
                 combiner->getAttrDictionary() == update->getAttrDictionary();
  return isAlike ? reduce : ReduceOp();
}

SmallVector<int64_t> getSizesAcross(ArrayRef<BitRun> runs) {
  SmallVector<int64_t> sizes;
  for (BitRun run : runs)
    if (!run.inThread)
      sizes.push_back(run.size);
  return sizes;
}

/// Combines the parts that each thread has of two reductions, and exchanges
/// once.
bool mergeReductions(Operation *update) {
  if (!update->hasTrait<mlir::OpTrait::IsCommutative>() ||
      update->getNumOperands() != 2 || update->getNumResults() != 1)
    return false;
  ReduceOp lhs = getReduction(update->getOperand(0), update);
  ReduceOp rhs = getReduction(update->getOperand(1), update);
  if (!lhs || !rhs || lhs == rhs || lhs.getAxis() != rhs.getAxis())
    return false;
  auto getRuns = [](ReduceOp reduce) {
    return splitAxis(cast<RankedTensorType>(reduce.getSrcs()[0].getType()),
                     reduce.getAxis());
  };
  std::optional<SmallVector<BitRun>> lhsRuns = getRuns(lhs);
  std::optional<SmallVector<BitRun>> rhsRuns = getRuns(rhs);
  if (!lhsRuns || !rhsRuns || getSizesAcross(*lhsRuns).empty() ||
      getSizesAcross(*lhsRuns) != getSizesAcross(*rhsRuns)) {
    LDBG() << "spread over threads in different ways: " << *update;
    return false;
  }

  OpBuilder builder(update);
  Value part = reduceInThread(builder, lhs, *lhsRuns);
  Value other = reduceInThread(builder, rhs, *rhsRuns);
  auto type = cast<RankedTensorType>(part.getType());
  auto otherType = cast<RankedTensorType>(other.getType());
  if (toLinearLayout(type) != toLinearLayout(otherType)) {
    LDBG() << "parts are in different threads: " << *update;
    return false;
  }
  if (type != otherType)
    other = ConvertLayoutOp::create(builder, update->getLoc(), type, other);
  Operation *both = builder.clone(*update);
  both->setOperands({part, other});
  both->getResult(0).setType(type);
  Value total = reduceAcross(builder, lhs, *lhsRuns, both->getResult(0));
  if (total.getType() != update->getResult(0).getType())
    total = ConvertLayoutOp::create(builder, update->getLoc(),
                                    update->getResult(0).getType(), total);
  update->replaceAllUsesWith(ValueRange(total));
  update->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// A layout in which the threads of a warp, and no other, hold the dimension
/// along which indices refer to elements.
BlockedEncodingAttr getGatherEncoding(GatherOp op) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  auto result = cast<RankedTensorType>(op.getType());
  unsigned rank = source.getRank(), axis = op.getAxis();
  unsigned numWarps = lookupNumWarps(op);
  unsigned threadsPerWarp = lookupThreadsPerWarp(op);
  SmallVector<unsigned> order = {axis}, sizePerThread(rank, 1), warps(rank, 1),
                        threads(rank, 1);
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != axis)
      order.push_back(dim);

  int64_t length = source.getShape()[axis];
  threads[axis] = std::min<int64_t>(threadsPerWarp, length);
  sizePerThread[axis] = length / threads[axis];
  unsigned threadsLeft = threadsPerWarp / threads[axis], warpsLeft = numWarps;
  for (unsigned dim : ArrayRef(order).drop_front()) {
    bool isLast = dim == order.back();
    unsigned size = result.getShape()[dim];
    threads[dim] = isLast ? threadsLeft : std::min(threadsLeft, size);
    threadsLeft /= threads[dim];
    warps[dim] = isLast
                     ? warpsLeft
                     : std::min(warpsLeft, std::max(1u, size / threads[dim]));
    warpsLeft /= warps[dim];
  }
  // In one dimension all warps hold the same: more of them than elements.
  if (rank == 1) {
    warps[axis] = numWarps;
    threads[axis] = threadsPerWarp;
  }
  return BlockedEncodingAttr::get(op.getContext(), sizePerThread, threads,
                                  warps, order,
                                  getCTALayout(source.getEncoding()));
}

bool optimizeGather(GatherOp op) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  if (op.getEfficientLayout() || !source.getEncoding())
    return false;
  // Blocks that split the axis could not reach each other's elements.
  if (getCTASplitNum(source.getEncoding())[op.getAxis()] != 1) {
    LDBG() << "the axis is split over blocks: " << op;
    return false;
  }
  BlockedEncodingAttr encoding = getGatherEncoding(op);
  OpBuilder builder(op);
  auto convert = [&](Value value, Attribute to) -> Value {
    auto type = cloneWithEncoding(cast<RankedTensorType>(value.getType()), to);
    if (type == value.getType())
      return value;
    return ConvertLayoutOp::create(builder, op.getLoc(), type, value);
  };
  auto type = cast<RankedTensorType>(op.getType());
  auto gather = GatherOp::create(
      builder, op.getLoc(), cloneWithEncoding(type, encoding),
      convert(op.getSrc(), encoding), convert(op.getIndices(), encoding),
      op.getAxis(), /*efficient_layout=*/true);
  op.replaceAllUsesWith(convert(gather, type.getEncoding()));
  op.erase();
  return true;
}

struct TritonGPUOptimizeThreadLocality
    : gpu::impl::TritonGPUOptimizeThreadLocalityBase<
          TritonGPUOptimizeThreadLocality> {
  using Base::Base;

  void runOnOperation() override {
    // A result may be an operand of the next pair.
    getOperation()->walk([&](Operation *op) {
      if (mergeReductions(op))
        ++numMerged;
    });
    SmallVector<ReduceOp> reductions;
    SmallVector<GatherOp> gathers;
    getOperation()->walk([&](Operation *op) {
      if (auto reduce = dyn_cast<ReduceOp>(op))
        reductions.push_back(reduce);
      else if (auto gather = dyn_cast<GatherOp>(op))
        gathers.push_back(gather);
    });
    for (ReduceOp reduce : reductions) {
      auto loop = dyn_cast<scf::ForOp>(reduce->getParentOp());
      if (!loop)
        continue;
      if (std::optional<Accumulation> acc = match(reduce, loop)) {
        rewrite(loop, *acc);
        ++numReductions;
      }
    }
    for (GatherOp gather : gathers)
      if (optimizeGather(gather))
        ++numGathers;
  }
};

} // namespace
