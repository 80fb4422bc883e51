//===-- Prefetch.cpp - Operands read one slice ahead ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/Transforms/AsyncWaits.h"

#include "tile/Analysis/Alias.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritongpu-prefetch"

namespace mlir::triton::gpu {
#define GEN_PASS_DEF_TRITONGPUPREFETCH
#include "tile/Dialect/TritonGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// An operand of a dot, on its way from shared memory.
struct Operand {
  LocalLoadOp load;
  /// Conversions of elements between the read and the dot.
  SmallVector<Operation *> conversions;
  /// The dimension of the operand along which the dot adds up.
  int kDim = 0;
};

/// A dot that can be cut, and what it takes.
struct Candidate {
  DotOp dot;
  Operand a, b;
  AsyncWaitOp wait;
  /// What has to be repeated for the next iteration: addresses, and the wait.
  llvm::SetVector<Operation *> addresses;
  int64_t k = 0, sliceK = 0;
};

std::optional<Operand> matchOperand(Value value, int kDim) {
  Operand result;
  result.kDim = kDim;
  while (Operation *def = value.getDefiningOp()) {
    if (!value.hasOneUse() ||
        !isa<DotOperandEncodingAttr>(
            cast<RankedTensorType>(value.getType()).getEncoding()))
      return std::nullopt;
    if (auto load = dyn_cast<LocalLoadOp>(def)) {
      result.load = load;
      std::reverse(result.conversions.begin(), result.conversions.end());
      return result;
    }
    bool converts =
        isa<FpToFpOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
            arith::UIToFPOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
            def);
    if (!converts)
      return std::nullopt;
    result.conversions.push_back(def);
    value = def->getOperand(0);
  }
  return std::nullopt;
}

/// The depth of the slices: what the tile of the layout covers along K.
int64_t getSliceDepth(RankedTensorType a) {
  auto operand = cast<DotOperandEncodingAttr>(a.getEncoding());
  return 8 * operand.getKWidth();
}

class LoopPrefetch {
public:
  explicit LoopPrefetch(scf::ForOp loop) : loop(loop) {}

  std::optional<Candidate> match(DotOp dot) {
    auto type = cast<RankedTensorType>(dot.getType());
    auto mma = dyn_cast_or_null<NvidiaMmaEncodingAttr>(type.getEncoding());
    if (!mma || mma.getVersionMajor() != 2 || type.getRank() != 2)
      return std::nullopt;
    std::optional<Operand> a = matchOperand(dot.getA(), /*kDim=*/1);
    std::optional<Operand> b = matchOperand(dot.getB(), /*kDim=*/0);
    if (!a || !b) {
      LDBG() << "an operand does not come from shared memory: " << dot.getLoc();
      return std::nullopt;
    }
    Candidate result{dot, *a, *b, {}, {}, 0, 0};
    result.k = dot.getA().getType().getShape()[1];
    result.sliceK = getSliceDepth(dot.getA().getType());
    if (result.sliceK != getSliceDepth(dot.getB().getType()) ||
        result.k < 2 * result.sliceK) {
      LDBG() << "not deep enough to be cut: " << dot.getLoc();
      return std::nullopt;
    }
    for (Operand *operand : {&result.a, &result.b}) {
      if (operand->load->getBlock() != loop.getBody())
        return std::nullopt;
      auto wait = operand->load.getToken()
                      ? operand->load.getToken().getDefiningOp<AsyncWaitOp>()
                      : nullptr;
      if (!wait || wait->getBlock() != loop.getBody() ||
          (result.wait && wait != result.wait)) {
        LDBG() << "the operands have no wait in common: " << dot.getLoc();
        return std::nullopt;
      }
      result.wait = wait;
      if (!addAddress(operand->load.getSrc(), result))
        return std::nullopt;
      if (mayBeWrittenBefore(operand->load)) {
        LDBG() << "the iteration may write what it reads: " << dot.getLoc();
        return std::nullopt;
      }
    }
    for (Value token : result.wait.getAsyncToken())
      if (!addAddress(token, result))
        return std::nullopt;
    // The wait moves behind all that needs it now, which is these two reads.
    for (Operation *user : result.wait->getUsers())
      if (user != result.a.load && user != result.b.load)
        return std::nullopt;
    return result;
  }

  void prefetch(Candidate &candidate) {
    DotOp dot = candidate.dot;
    OpBuilder builder(loop);

    // In front of the loop: the wait and the first slices of the first
    // iteration.
    IRMapping first;
    for (auto [arg, init] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
      first.map(arg, init);
    Value wait = builder.clone(*candidate.wait, first)->getResult(0);
    SmallVector<Value> inits = readFirstSlices(builder, candidate, first, wait);
    inits.push_back(wait);

    // In the loop: the wait for the next iteration stands in front of the last
    // dot, after all reads of this one. The reads for the next iteration
    // come last, behind the copies into the buffers that this one has read, so
    // that this one barrier separates everything.
    IRMapping next;
    for (auto [arg, value] :
         llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
      next.map(arg, value);
    builder.setInsertionPoint(dot);
    Operation *nextWait = builder.clone(*candidate.wait, next);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    SmallVector<Value> yields =
        readFirstSlices(builder, candidate, next, nextWait->getResult(0));
    yields.push_back(nextWait->getResult(0));

    unsigned numArgs = loop.getNumRegionIterArgs();
    IRRewriter rewriter(loop);
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
          return yields;
        }));
    auto args = loop.getRegionIterArgs().drop_front(numArgs);

    // Each slice is read before the dot of the one before it.
    builder.setInsertionPoint(nextWait);
    SmallVector<Value, 2> slice{args[0], args[1]};
    std::array<Operand *, 2> operands{&candidate.a, &candidate.b};
    Value sum = dot.getC();
    for (int64_t k = candidate.sliceK; k <= candidate.k;
         k += candidate.sliceK) {
      SmallVector<Value, 2> following;
      bool isLast = k == candidate.k;
      for (Operand *operand : operands)
        if (!isLast)
          following.push_back(readSlice(builder, *operand,
                                        operand->load.getSrc(), args[2], k,
                                        candidate.sliceK));
      if (isLast)
        builder.setInsertionPoint(dot);
      IRMapping map;
      map.map(dot.getA(),
              convert(builder, candidate.a, slice[0], candidate.sliceK));
      map.map(dot.getB(),
              convert(builder, candidate.b, slice[1], candidate.sliceK));
      map.map(dot.getC(), sum);
      sum = builder.clone(*dot, map)->getResult(0);
      slice = following;
    }
    dot.replaceAllUsesWith(sum);
    dot.erase();
    for (Operand *operand : operands) {
      for (Operation *op : llvm::reverse(operand->conversions))
        op->erase();
      operand->load.erase();
    }
    candidate.wait.erase();
  }

  scf::ForOp getLoop() { return loop; }

private:
  /// True if the iteration may write what `load` reads before it does so, other
  /// than by copies, which the wait is for.
  bool mayBeWrittenBefore(LocalLoadOp load) {
    SharedMemoryAliasAnalysis aliases(
        loop->getParentOfType<FunctionOpInterface>());
    const auto &roots = aliases.getRoots(load.getSrc());
    auto mayWrite = [&](Operation *op) {
      if (isa<AsyncCopyGlobalToLocalOp, AsyncWaitOp>(op))
        return false;
      if (isa<CallOpInterface>(op))
        return true;
      auto interface = dyn_cast<MemoryEffectOpInterface>(op);
      if (!interface)
        return false;
      SmallVector<MemoryEffects::EffectInstance> effects;
      interface.getEffects(effects);
      return llvm::any_of(
          effects, [&](const MemoryEffects::EffectInstance &effect) {
            Value value = effect.getValue();
            return isa<MemoryEffects::Write>(effect.getEffect()) && value &&
                   isa<MemDescType>(value.getType()) &&
                   llvm::any_of(aliases.getRoots(value), [&](Value root) {
                     return roots.contains(root) || isa<BlockArgument>(root);
                   });
          });
    };
    for (Operation &op : *loop.getBody()) {
      if (&op == load)
        return false;
      if (op.walk([&](Operation *nested) {
              return mayWrite(nested) ? WalkResult::interrupt()
                                      : WalkResult::advance();
            }).wasInterrupted())
        return true;
    }
    return false;
  }

  /// Adds what `value` depends on in the body. Fails if the value of the next
  /// iteration is not known in time, or has effects.
  bool addAddress(Value value, Candidate &candidate) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (arg.getOwner() != loop.getBody())
        return true;
      if (arg == loop.getInductionVar())
        return false;
      Value next = loop.getTiedLoopYieldedValue(arg)->get();
      Operation *def = next.getDefiningOp();
      if (def && def->getBlock() == loop.getBody() &&
          !def->isBeforeInBlock(candidate.dot)) {
        LDBG() << "filled only at the end of the iteration: "
               << candidate.dot.getLoc();
        return false;
      }
      return true;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() != loop.getBody())
      return !loop->isProperAncestor(def);
    if (!isa<MemDescIndexOp, MemDescTransOp, MemDescReshapeOp,
             MemDescSubsliceOp>(def) &&
        !(isMemoryEffectFree(def) && def->getNumRegions() == 0))
      return false;
    if (!candidate.addresses.insert(def))
      return true;
    return llvm::all_of(def->getOperands(), [&](Value operand) {
      return addAddress(operand, candidate);
    });
  }

  /// Clones the addresses, with the arguments of the loop as in `map`, and
  /// reads the first slices of both operands there.
  SmallVector<Value> readFirstSlices(OpBuilder &builder, Candidate &candidate,
                                     IRMapping &map, Value wait) {
    SmallVector<Operation *> addresses(candidate.addresses.begin(),
                                       candidate.addresses.end());
    llvm::sort(addresses, [](Operation *lhs, Operation *rhs) {
      return lhs->isBeforeInBlock(rhs);
    });
    for (Operation *op : addresses)
      builder.clone(*op, map);
    SmallVector<Value> result;
    for (Operand *operand : {&candidate.a, &candidate.b}) {
      Value source = map.lookupOrDefault(operand->load.getSrc());
      result.push_back(
          readSlice(builder, *operand, source, wait, 0, candidate.sliceK));
    }
    return result;
  }

  static RankedTensorType getSliceType(Type type, int kDim, int64_t size) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[kDim] = size;
    return tensor.clone(shape);
  }

  static LocalLoadOp readSlice(OpBuilder &builder, Operand &operand,
                               Value source, Value token, int64_t k,
                               int64_t size) {
    Location loc = operand.load.getLoc();
    auto type = cast<MemDescType>(source.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[operand.kDim] = size;
    SmallVector<int32_t> offsets(shape.size(), 0);
    offsets[operand.kDim] = k;
    auto sliceType = MemDescType::get(
        shape, type.getElementType(), type.getEncoding(), type.getMemorySpace(),
        type.getMutableMemory(), type.getAllocShape());
    Value slice =
        MemDescSubsliceOp::create(builder, loc, sliceType, source, offsets);
    return LocalLoadOp::create(
        builder, loc, getSliceType(operand.load.getType(), operand.kDim, size),
        slice, token);
  }

  static Value convert(OpBuilder &builder, Operand &operand, Value slice,
                       int64_t size) {
    for (Operation *op : operand.conversions) {
      IRMapping map;
      map.map(op->getOperand(0), slice);
      Operation *converted = builder.clone(*op, map);
      converted->getResult(0).setType(
          getSliceType(op->getResult(0).getType(), operand.kDim, size));
      slice = converted->getResult(0);
    }
    return slice;
  }

  scf::ForOp loop;
};

struct TritonGPUPrefetch
    : public gpu::impl::TritonGPUPrefetchBase<TritonGPUPrefetch> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      LoopPrefetch prefetch(loop);
      SmallVector<DotOp> dots(loop.getBody()->getOps<DotOp>());
      bool changed = false;
      for (DotOp dot : dots) {
        std::optional<Candidate> candidate = prefetch.match(dot);
        if (!candidate)
          continue;
        prefetch.prefetch(*candidate);
        ++numPrefetched;
        changed = true;
      }
      if (changed)
        updateWaitCounts(prefetch.getLoop());
    }
  }
};

} // namespace
