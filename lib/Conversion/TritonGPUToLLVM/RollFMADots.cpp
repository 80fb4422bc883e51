//===-- RollFMADots.cpp - Large dots without matrix units in a loop -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A dot without a matrix instruction becomes multiply-adds, one after the
// other. The allocators of registers in LLVM and ptxas take more than twice as
// long for twice as many of them. So all dots of a function together have a
// limit. Beyond it, the largest dots become loops over slices of the inner
// dimension. A loop cannot choose a register by its counter, so the slices are
// in shared memory. Each element of the result is the same sum, added up in the
// same order.
//
// Loops were unrolled and overlapped before this pass, so all copies of a dot
// count.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "roll-fma-dots"

namespace mlir::triton {
#define GEN_PASS_DEF_ROLLFMADOTS
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

namespace {
/// The multiply-adds of a thread that all dots of a function may have in
/// straight line. For one warp of gfx1100, a dot of fp32 compiled in 1.5 s with
/// 4,096 of them, and in 3.3 s with 8,192. With 16,384 it took 8.6 to 25 s.
constexpr int64_t kMostOfFunction = 4096;
/// Those of one iteration: the limit is divided among the dots. With fewer, a
/// loop would consist of reads.
constexpr int64_t kMostOfSlice = 1024, kLeastOfSlice = 128;

/// A dot of multiply-adds.
struct Dot {
  DotOp op;
  /// Elements of the result that a thread has, and multiply-adds for each.
  int64_t results, inner;

  int64_t getMultiplyAdds() const { return results * inner; }
  /// How far a slice goes along the inner dimension.
  int64_t getDepth(int64_t multiplyAdds) const {
    return llvm::bit_floor<uint64_t>(
        std::clamp<int64_t>(multiplyAdds / results, 1, inner));
  }
};

/// An operand, and where its elements are before they are laid out for the dot.
struct Operand {
  Value source;
  /// Conversions of elements in the layout of the dot, the last one first.
  SmallVector<Operation *> conversions;
  /// The buffer that brings them into this layout, if there is one. It goes if
  /// nothing else reads it.
  ttg::LocalAllocOp buffer;
  unsigned innerDim = 0;
};
} // namespace

static bool convertsElements(Operation *op) {
  return isa<FpToFpOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
      op);
}

static Operand findSource(Value value, unsigned innerDim) {
  Operand result{.source = value, .innerDim = innerDim};
  SmallVector<Operation *> conversions;
  while (Operation *def = value.getDefiningOp()) {
    if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(def)) {
      result.source = convert.getSrc();
      result.conversions = conversions;
      return result;
    }
    if (auto load = dyn_cast<ttg::LocalLoadOp>(def)) {
      result.source = value;
      result.conversions = conversions;
      auto alloc = load.getSrc().getDefiningOp<ttg::LocalAllocOp>();
      if (alloc && alloc.getSrc() && !alloc.getType().getMutableMemory()) {
        result.buffer = alloc;
        result.source = alloc.getSrc();
      }
      return result;
    }
    if (!convertsElements(def))
      break;
    conversions.push_back(def);
    value = def->getOperand(0);
  }
  return result;
}

namespace {
class Roller {
public:
  Roller(ModuleOp module, FunctionOpInterface function)
      : module(module), function(function) {}

  /// Returns how many dots are loops now.
  FailureOr<unsigned> run() {
    SmallVector<Dot> dots;
    int64_t total = 0;
    function.walk([&](DotOp op) {
      RankedTensorType type = op.getType();
      // A dot without a layout is not lowered yet.
      if (!type.getEncoding() || isa<ttg::MmaEncodingTrait>(type.getEncoding()))
        return;
      dots.push_back({op, ttg::getTotalElemsPerThread(type),
                      op.getA().getType().getShape().back()});
      total += dots.back().getMultiplyAdds();
    });
    LDBG() << total << " multiply-adds of " << dots.size() << " dots";
    if (total <= kMostOfFunction)
      return 0;
    // Their memory is counted below.
    if (failed(ttg::checkTensorsHaveLayouts(module)))
      return failure();
    int64_t ofSlice = std::clamp<int64_t>(kMostOfFunction / dots.size(),
                                          kLeastOfSlice, kMostOfSlice);
    // Of dots as large, the first comes first.
    auto order = llvm::to_vector(llvm::make_pointer_range(dots));
    llvm::sort(order, [](const Dot *lhs, const Dot *rhs) {
      return std::pair(-lhs->getMultiplyAdds(), lhs) <
             std::pair(-rhs->getMultiplyAdds(), rhs);
    });
    unsigned rolled = 0;
    for (Dot *next : order) {
      Dot &dot = *next;
      if (total <= kMostOfFunction)
        break;
      int64_t depth = dot.getDepth(ofSlice);
      if (depth == dot.inner)
        continue;
      int64_t saved = dot.getMultiplyAdds() - dot.results * depth;
      FailureOr<bool> isRolled = roll(dot, depth);
      if (failed(isRolled))
        return failure();
      if (!*isRolled)
        continue;
      total -= saved;
      ++rolled;
    }
    return rolled;
  }

private:
  /// Returns false, without having changed anything, where there is no memory
  /// for the operands.
  FailureOr<bool> roll(const Dot &dot, int64_t depth) {
    DotOp op = dot.op;
    unsigned rank = op.getType().getRank();
    Operand a = findSource(op.getA(), rank - 1),
            b = findSource(op.getB(), rank - 2);
    if (ttg::lookupNumCTAs(op) > 1) {
      LDBG() << "blocks of a cluster share it: " << op;
      return false;
    }
    FailureOr<bool> fits = hasMemory(op, a, b, depth);
    if (failed(fits) || !*fits)
      return fits;
    Value aSlices = store(op, a, depth), bSlices = store(op, b, depth);
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto number = [&](int64_t value) {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getI32IntegerAttr(value));
    };
    auto loop = scf::ForOp::create(
        builder, loc, number(0), number(dot.inner / depth), number(1),
        op.getC(),
        [&](OpBuilder &body, Location loc, Value index, ValueRange sums) {
          IRMapping mapping;
          mapping.map(op.getA(), read(body, loc, aSlices, index, op.getA(), a));
          mapping.map(op.getB(), read(body, loc, bSlices, index, op.getB(), b));
          mapping.map(op.getC(), sums.front());
          Operation *sum = body.clone(*op, mapping);
          scf::YieldOp::create(body, loc, sum->getResults());
        });
    llvm::SetVector<Operation *> unused;
    addSources(op, unused);
    op.replaceAllUsesWith(loop.getResult(0));
    op.erase();
    while (!unused.empty())
      eraseIfUnused(unused.pop_back_val(), unused);
    return true;
  }

  static int64_t countBytes(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getNumElements() *
           llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }

  /// Whether nothing but the dot reads what `alloc` holds.
  static bool isOf(ttg::LocalAllocOp alloc, DotOp dot) {
    SmallVector<Operation *> users(alloc->getUsers());
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      if (user == dot || isa<ttg::LocalDeallocOp>(user))
        continue;
      if (!isa<ttg::LocalLoadOp>(user) && !convertsElements(user))
        return false;
      llvm::append_range(users, user->getUsers());
    }
    return true;
  }

  /// Whether a block has memory for the slices. Buffers that go were alive as
  /// long.
  FailureOr<bool> hasMemory(DotOp dot, const Operand &a, const Operand &b,
                            int64_t depth) {
    auto allocation = ModuleAllocation::compute(module);
    if (failed(allocation))
      return failure();
    int64_t more = 0;
    for (Operand operand : {a, b}) {
      if (!stored.contains({operand.buffer, operand.innerDim, depth}))
        more += countBytes(operand.source);
      if (operand.buffer && isOf(operand.buffer, dot))
        more -= getBufferSize(operand.buffer);
    }
    int64_t size =
        allocation->getSharedMemorySize() + std::max<int64_t>(more, 0);
    int64_t most = ttg::getTargetModel(module).getMaxSharedMemory();
    if (size <= most)
      return true;
    LDBG() << "its slices do not fit into shared memory: " << dot;
    return false;
  }

  static ttg::SwizzledSharedEncodingAttr getRowMajor(MLIRContext *context,
                                                     unsigned rank) {
    return ttg::SwizzledSharedEncodingAttr::get(context, rank);
  }

  /// The operand as it is stored: in a layout in which threads do not repeat
  /// what others have.
  static Value getStored(OpBuilder &builder, DotOp dot,
                         const Operand &operand) {
    auto load = operand.source.getDefiningOp<ttg::LocalLoadOp>();
    auto type = cast<RankedTensorType>(operand.source.getType());
    if (!load || !isa<ttg::DotOperandEncodingAttr>(type.getEncoding()))
      return operand.source;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(load);
    auto layout = ttg::getDefaultBlockedEncoding(
        builder.getContext(), type.getShape(), ttg::lookupNumWarps(dot),
        ttg::lookupThreadsPerWarp(dot), /*numCTAs=*/1);
    return ttg::LocalLoadOp::create(builder, load.getLoc(),
                                    type.cloneWithEncoding(layout),
                                    load.getSrc(), load.getToken());
  }

  /// The slices of an operand. Dots that read one buffer share those, too.
  Value store(DotOp dot, const Operand &operand, int64_t depth) {
    OpBuilder builder(dot);
    if (!operand.buffer)
      return store(builder, dot, operand, depth);
    Value &slices = stored[{operand.buffer, operand.innerDim, depth}];
    if (!slices) {
      // Registers are free as early as they were.
      builder.setInsertionPoint(operand.buffer);
      slices = store(builder, dot, operand, depth);
    }
    return slices;
  }

  /// An array of slices in shared memory, one after the other, each with its
  /// rows one after the other.
  static Value store(OpBuilder &builder, DotOp dot, const Operand &operand,
                     int64_t depth) {
    Location loc = dot.getLoc();
    Value tensor = getStored(builder, dot, operand);
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> slice(type.getShape());
    int64_t count = slice[operand.innerDim] / depth;
    slice[operand.innerDim] = depth;
    SmallVector<int64_t> slices = {count};
    llvm::append_range(slices, slice);
    SmallVector<int64_t> rows = {type.getNumElements() / slice.back(),
                                 slice.back()};
    if (operand.innerDim > 0) {
      // The number of the slice comes to the front.
      SmallVector<int64_t> cut(slice);
      cut.insert(cut.begin() + operand.innerDim, count);
      SmallVector<int32_t> order = {int32_t(operand.innerDim)};
      for (int32_t dim = 0, e = cut.size(); dim < e; ++dim)
        if (dim != int32_t(operand.innerDim))
          order.push_back(dim);
      tensor = ReshapeOp::create(builder, loc, cut, tensor);
      tensor = TransOp::create(builder, loc, tensor, order);
    }
    if (cast<RankedTensorType>(tensor.getType()).getShape() != ArrayRef(rows))
      tensor = ReshapeOp::create(builder, loc, rows, tensor);
    auto getType = [&](ArrayRef<int64_t> shape, unsigned rank) {
      MLIRContext *context = builder.getContext();
      return ttg::MemDescType::get(
          shape, type.getElementType(), getRowMajor(context, rank),
          ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/false);
    };
    Value buffer = ttg::LocalAllocOp::create(
        builder, loc, getType(rows, rows.size()), tensor);
    return ttg::MemDescReinterpretOp::create(
        builder, loc, getType(slices, slice.size()), buffer);
  }

  /// Slice number `index`, as `operand` is laid out.
  static Value read(OpBuilder &builder, Location loc, Value slices, Value index,
                    Value operand, const Operand &from) {
    auto array = cast<ttg::MemDescType>(slices.getType());
    ArrayRef<int64_t> shape = array.getShape().drop_front();
    auto view = ttg::MemDescType::get(
        shape, array.getElementType(), array.getEncoding(),
        array.getMemorySpace(), array.getMutableMemory());
    Value slice =
        ttg::MemDescIndexOp::create(builder, loc, view, slices, index);
    Attribute layout = cast<RankedTensorType>(operand.getType()).getEncoding();
    Value value = ttg::LocalLoadOp::create(
        builder, loc,
        RankedTensorType::get(shape, array.getElementType(), layout), slice);
    for (Operation *conversion : llvm::reverse(from.conversions)) {
      auto type = cast<RankedTensorType>(conversion->getResult(0).getType());
      IRMapping mapping;
      mapping.map(conversion->getOperand(0), value);
      Operation *converted = builder.clone(*conversion, mapping);
      converted->getResult(0).setType(type.clone(shape));
      value = converted->getResult(0);
    }
    return value;
  }

  static void addSources(Operation *op, llvm::SetVector<Operation *> &sources) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        sources.insert(def);
  }

  /// Erases `op` if nothing needs it any more. What it was made of may be
  /// unused then.
  static void eraseIfUnused(Operation *op,
                            llvm::SetVector<Operation *> &unused) {
    bool isBuffer = isa<ttg::LocalAllocOp>(op);
    if (isBuffer &&
        llvm::all_of(op->getUsers(), llvm::IsaPred<ttg::LocalDeallocOp>))
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        user->erase();
    if (!op->use_empty() ||
        !(isBuffer || isa<ttg::LocalLoadOp>(op) || isPure(op)))
      return;
    addSources(op, unused);
    op->erase();
  }

  ModuleOp module;
  FunctionOpInterface function;
  /// By the buffer that an operand had, its inner dimension and the depth of a
  /// slice. A buffer that is erased has no reader left who could ask.
  llvm::DenseMap<std::tuple<Operation *, unsigned, int64_t>, Value> stored;
};

struct RollFMADots : triton::impl::RollFMADotsBase<RollFMADots> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      FailureOr<unsigned> rolled = Roller(getOperation(), function).run();
      if (failed(rolled))
        return signalPassFailure();
      numRolled += *rolled;
    }
  }
};
} // namespace
