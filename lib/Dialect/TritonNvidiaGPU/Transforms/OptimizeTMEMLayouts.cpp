//===-- OptimizeTMEMLayouts.cpp - What is loaded at a time, and how -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Halves of the columns. Programs have only reshape, trans and split (or join)
// to say that they want two halves of the columns of a matrix:
//
//   [M, N] -> [M, 2, N / 2] -> [M, N / 2, 2] -> two of [M, N / 2]
//
// Two parts of the buffer have these halves. Parts of parts are found as well.
//
// Layouts. A matrix that is in tensor memory may come to registers in a few
// layouts. Others then convert it. Where it is known what others want, the
// layout that makes it cheap for them is taken.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-optimize-tmem-layouts"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAOPTIMIZETMEMLAYOUTS
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

//===----------------------------------------------------------------------===//
// Halves of columns
//===----------------------------------------------------------------------===//

Value skipConversions(Value value) {
  while (auto convert = value.getDefiningOp<gpu::ConvertLayoutOp>())
    value = convert.getSrc();
  return value;
}

/// Whether `small`, of rank 3, has the halves of the columns of `matrix` one
/// after the other.
bool hasHalves(RankedTensorType matrix, RankedTensorType small) {
  ArrayRef<int64_t> whole = matrix.getShape(), parts = small.getShape();
  return whole.size() == 2 && parts.size() == 3 && parts[0] == whole[0] &&
         parts[1] == 2 && parts[2] * 2 == whole[1];
}

/// One half of the columns of a buffer, and a layout to move it in.
struct Half {
  gpu::MemDescType memory;
  Attribute layout;
};

/// The layout in which instructions move a buffer, if there is one. A thread
/// has a row, or half of one.
Attribute getPlainLayout(Operation *op, gpu::MemDescType memory) {
  for (TensorShape shape : {TensorShape::L32x32b, TensorShape::L16x32bx2})
    if (std::optional<LinearLayout> layout =
            getTensorMemoryRegisters(memory, gpu::lookupNumWarps(op), shape)) {
      auto encoding = gpu::LinearEncodingAttr::get(op->getContext(), *layout);
      auto tensor = RankedTensorType::get(memory.getShape(),
                                          memory.getElementType(), encoding);
      if (succeeded(getTensorMemoryAccess(tensor, memory)))
        return encoding;
    }
  return {};
}

std::optional<Half> getHalf(Operation *op, gpu::MemDescType type) {
  auto encoding = dyn_cast<TensorMemoryEncodingAttr>(type.getEncoding());
  if (!encoding || type.getRank() != 2 || encoding.getTwoCTAs() ||
      encoding.getCTASplitM() != 1 || encoding.getCTASplitN() != 1 ||
      type.getShape()[0] != encoding.getBlockM())
    return std::nullopt;
  int64_t columns = type.getShape()[1] / 2;
  // A part starts at a column of 32 bits.
  if (columns * type.getElementTypeBitWidth() * encoding.getColStride() % 32)
    return std::nullopt;
  auto memory = gpu::MemDescType::get(
      {type.getShape()[0], columns}, type.getElementType(), encoding,
      type.getMemorySpace(), type.getMutableMemory(), type.getAllocShape());
  Attribute layout = getPlainLayout(op, memory);
  return layout ? std::make_optional(Half{memory, layout}) : std::nullopt;
}

Value getPart(OpBuilder &builder, Location loc, Value buffer, const Half &half,
              int part) {
  int32_t columns = half.memory.getShape()[1];
  return TMEMSubsliceOp::create(builder, loc, half.memory, buffer,
                                part * columns);
}

/// A load that a split takes apart becomes two.
struct SplitLoad : OpRewritePattern<SplitOp> {
  SplitLoad(MLIRContext *context, PassStatistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(SplitOp split,
                                PatternRewriter &rewriter) const override {
    auto trans = skipConversions(split.getSrc()).getDefiningOp<TransOp>();
    if (!trans || trans.getOrder() != ArrayRef<int32_t>{0, 2, 1})
      return failure();
    auto reshape = skipConversions(trans.getSrc()).getDefiningOp<ReshapeOp>();
    if (!reshape || reshape.getAllowReorder() ||
        !hasHalves(reshape.getSrc().getType(), reshape.getType()))
      return failure();
    auto load = skipConversions(reshape.getSrc()).getDefiningOp<TMEMLoadOp>();
    if (!load || load.getRedOp() || load.getDep() || load.getToken() ||
        !isOnlyFor(load, split))
      return failure();
    std::optional<Half> half = getHalf(load, load.getSrc().getType());
    if (!half)
      return failure();
    // Others may write to the buffer behind the load.
    rewriter.setInsertionPoint(load);
    Location loc = load.getLoc();
    auto type = cast<RankedTensorType>(split.getOutLHS().getType());
    SmallVector<Value> halves;
    for (int part : {0, 1}) {
      Value view = getPart(rewriter, loc, load.getSrc(), *half, part);
      auto loaded = gpu::cloneWithEncoding(type, half->layout);
      Value value = TMEMLoadOp::create(rewriter, loc, loaded, view).getResult();
      halves.push_back(
          gpu::convertTo(rewriter, loc, value, type.getEncoding()));
    }
    rewriter.replaceOp(split, halves);
    ++count;
    return success();
  }

private:
  /// Whether nobody but `split` uses what is loaded.
  static bool isOnlyFor(TMEMLoadOp load, SplitOp split) {
    Value value = load.getResult();
    while (value.hasOneUse() && *value.user_begin() != split)
      value = (*value.user_begin())->getResult(0);
    return value.hasOneUse();
  }

  PassStatistic &count;
};

/// A store of two halves that are joined becomes two.
struct JoinStore : OpRewritePattern<TMEMStoreOp> {
  JoinStore(MLIRContext *context, PassStatistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(TMEMStoreOp store,
                                PatternRewriter &rewriter) const override {
    if (store.getDep() || store.getToken())
      return failure();
    auto reshape = skipConversions(store.getSrc()).getDefiningOp<ReshapeOp>();
    if (!reshape || reshape.getAllowReorder() ||
        !hasHalves(reshape.getType(), reshape.getSrc().getType()))
      return failure();
    auto trans = skipConversions(reshape.getSrc()).getDefiningOp<TransOp>();
    if (!trans || trans.getOrder() != ArrayRef<int32_t>{0, 2, 1})
      return failure();
    auto join = skipConversions(trans.getSrc()).getDefiningOp<JoinOp>();
    if (!join)
      return failure();
    std::optional<Half> half = getHalf(store, store.getDst().getType());
    if (!half)
      return failure();
    Location loc = store.getLoc();
    Value values[] = {join.getLhs(), join.getRhs()};
    for (int part : {0, 1}) {
      Value view = getPart(rewriter, loc, store.getDst(), *half, part);
      Value value = gpu::convertTo(rewriter, loc, values[part], half->layout);
      TMEMStoreOp::create(rewriter, loc, view, value, store.getPred());
    }
    rewriter.eraseOp(store);
    ++count;
    return success();
  }

private:
  PassStatistic &count;
};

//===----------------------------------------------------------------------===//
// What others do with the elements
//===----------------------------------------------------------------------===//

/// Whether `op` makes each element from the elements at the same place.
bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         (op->hasTrait<mlir::OpTrait::Elementwise>() ||
          isa<gpu::ConvertLayoutOp, FpToFpOp, BitcastOp>(op));
}

bool isTransposition(Operation *op) {
  auto trans = dyn_cast<TransOp>(op);
  return trans && trans.getOrder() == ArrayRef<int32_t>{1, 0};
}

/// A value, and whether its dimensions are exchanged.
using Seen = std::pair<Value, unsigned>;

/// Calls `visit` for `start` and for what follows from it element by element,
/// or leads to it where `goesBack`, until it says yes. What it is asked about
/// has its dimensions exchanged, or not.
bool anyElementwise(Value start, bool goesBack,
                    function_ref<bool(Value, bool isTransposed)> visit) {
  llvm::SmallDenseSet<Seen, 16> seen;
  SmallVector<Seen> next{Seen(start, false)};
  auto follow = [&](Operation *op, ValueRange values, bool isTransposed) {
    bool turns = isTransposition(op);
    if (!turns && !isElementwise(op))
      return;
    for (Value value : values)
      if (isa<RankedTensorType>(value.getType()))
        next.push_back(Seen(value, isTransposed != turns));
  };
  while (!next.empty()) {
    Seen here = next.pop_back_val();
    if (!seen.insert(here).second)
      continue;
    Value value = here.first;
    if (visit(value, here.second))
      return true;
    if (!goesBack) {
      for (Operation *user : value.getUsers())
        follow(user, user->getResults(), here.second);
    } else if (Operation *def = value.getDefiningOp()) {
      follow(def, def->getOperands(), here.second);
    }
  }
  return false;
}

/// Whether all that becomes of `value` is that its rows are reduced, possibly
/// after something was done to each element. Others would want the elements in
/// their own layout, and have them exchanged through shared memory.
bool isOnlyReducedByRows(Value value) {
  bool isReduced = false;
  bool hasOthers = anyElementwise(
      value, /*goesBack=*/false, [&](Value here, bool isTransposed) {
        return llvm::any_of(here.getUsers(), [&](Operation *user) {
          if (isElementwise(user))
            return false;
          auto reduce = dyn_cast<ReduceOp>(user);
          bool isByRows = reduce && !isTransposed && reduce.getAxis() == 1;
          isReduced |= isByRows;
          return !isByRows;
        });
      });
  return isReduced && !hasOthers;
}

/// Whether `value` goes to shared memory with its dimensions exchanged.
bool goesToTransposedBuffer(Value value) {
  return anyElementwise(
      value, /*goesBack=*/false, [](Value here, bool isTransposed) {
        return isTransposed &&
               llvm::any_of(
                   here.getUsers(),
                   llvm::IsaPred<gpu::LocalStoreOp, gpu::LocalAllocOp>);
      });
}

/// Whether `value` comes from shared memory with its dimensions exchanged.
bool comesFromTransposedBuffer(Value value) {
  return anyElementwise(
      value, /*goesBack=*/true, [](Value here, bool isTransposed) {
        return isTransposed && here.getDefiningOp<gpu::LocalLoadOp>();
      });
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Whether warps have parts of rows.
bool dividesRows(RankedTensorType type) {
  LinearLayout layout = gpu::toLinearLayout(type);
  for (unsigned bit = 0; bit < layout.getInDimSizeLog2(kWarp); ++bit)
    if (layout.getBasis(kWarp, bit, kDim(1)))
      return true;
  return false;
}

/// `type` in the layout for instructions of this shape, if they can move it,
/// and if it has another one.
std::optional<RankedTensorType> getOther(RankedTensorType type,
                                         gpu::MemDescType memory, Operation *op,
                                         TensorShape shape) {
  std::optional<LinearLayout> layout =
      getTensorMemoryRegisters(memory, gpu::lookupNumWarps(op), shape);
  if (!layout || *layout == gpu::toLinearLayout(type))
    return std::nullopt;
  auto other = gpu::cloneWithEncoding(
      type, gpu::LinearEncodingAttr::get(type.getContext(), *layout));
  if (failed(getTensorMemoryAccess(other, memory)))
    return std::nullopt;
  return other;
}

class OptimizeTMEMLayoutsPass
    : public nvidia_gpu::impl::TritonNvidiaOptimizeTMEMLayoutsBase<
          OptimizeTMEMLayoutsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitLoad, JoinStore>(&getContext(), numParted);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([&](TMEMLoadOp load) { choose(load); });
    getOperation().walk([&](TMEMStoreOp store) { choose(store); });
  }

private:
  void choose(TMEMLoadOp load) {
    RankedTensorType type = load.getResult().getType();
    gpu::MemDescType memory = load.getSrc().getType();
    if (load.getRedOp() || type.getRank() != 2)
      return;
    std::optional<RankedTensorType> other;
    if (dividesRows(type) && isOnlyReducedByRows(load.getResult())) {
      other = getOther(type, memory, load, TensorShape::L16x32bx2);
      if (!other || dividesRows(*other))
        return;
      ++numWholeRows;
    } else if (goesToTransposedBuffer(load.getResult())) {
      other = getOther(type, memory, load, TensorShape::L16x256b);
      if (!other)
        return;
      ++numTurned;
    } else {
      return;
    }
    LDBG() << *load << " gets another layout, " << other->getEncoding();
    load.getResult().setType(*other);
    OpBuilder builder(load);
    builder.setInsertionPointAfter(load);
    auto convert = gpu::ConvertLayoutOp::create(builder, load.getLoc(), type,
                                                load.getResult());
    load.getResult().replaceAllUsesExcept(convert, convert);
  }

  void choose(TMEMStoreOp store) {
    auto type = cast<RankedTensorType>(store.getSrc().getType());
    if (type.getRank() != 2 || !comesFromTransposedBuffer(store.getSrc()))
      return;
    std::optional<RankedTensorType> other =
        getOther(type, store.getDst().getType(), store, TensorShape::L16x256b);
    if (!other)
      return;
    OpBuilder builder(store);
    store.getSrcMutable().assign(gpu::convertTo(
        builder, store.getLoc(), store.getSrc(), other->getEncoding()));
    ++numTurned;
  }
};

} // namespace
