//===-- LoadStoreOpToLLVM.cpp - Loads and stores of global memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread accesses as many neighbouring elements at once as the axis info of
// the pointers (and the mask) proves, up to the widest access of the target.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/CutVectors.h"
#include "tile/Conversion/TritonGPUToLLVM/OwnedAccessPattern.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/Decisions.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-triton-gpu-to-llvm"

using namespace mlir;
using namespace mlir::triton;

AccessGroups triton::groupAccess(Type pointerType, unsigned vector) {
  AccessGroups groups;
  auto tensor = dyn_cast<RankedTensorType>(pointerType);
  if (!tensor) {
    groups.registers = {{0}};
    groups.representative = {0};
    return groups;
  }
  LinearLayout layout = toLinearLayout(tensor);
  int32_t count = layout.getInDimSize(kRegister);
  int32_t freeMask = layout.getFreeVariableMask(kRegister);
  // A vector is `vector` registers in a row; the free bits among them would
  // have kept the vector from being one.
  for (int32_t r = 0; r < count; r += vector) {
    if (r & freeMask)
      continue;
    SmallVector<int32_t> group;
    for (unsigned v = 0; v < vector; ++v)
      group.push_back(r + v);
    groups.registers.push_back(std::move(group));
  }
  // Which of the accessed registers equals a skipped one.
  llvm::DenseMap<uint64_t, int32_t> at;
  LinearLayout registers =
      layout.sublayout({kRegister}, layout.getOutDimNames());
  for (int32_t r = 0; r < count; ++r)
    groups.representative.push_back(
        at.try_emplace(registers.applyFlat(r), r).first->second);
  return groups;
}

unsigned triton::getAccessVector(const ModuleAxisInfoAnalysis &axisInfo,
                                 Value ptr, Value mask, unsigned elementBits,
                                 unsigned maxBits) {
  auto tensor = dyn_cast<RankedTensorType>(ptr.getType());
  if (!tensor)
    return 1;
  unsigned vector = axisInfo.getContiguity(ptr);
  if (mask)
    vector = std::min(vector, axisInfo.getMaskAlignment(mask));
  vector = std::min(vector, std::max(1u, maxBits / elementBits));
  // The registers of a vector must be neighbours in the layout as well.
  LinearLayout layout = toLinearLayout(tensor);
  SmallVector<unsigned> order = gpu::getOrder(tensor);
  StringRef fastest = kDim(order.front());
  unsigned inRegisters = 1;
  for (unsigned i = 0, e = layout.getInDimSizeLog2(kRegister); i < e; ++i) {
    bool next = true;
    for (StringRef dim : layout.getOutDimNames())
      next &= layout.getBasis(kRegister, i, dim) ==
              (dim == fastest ? static_cast<int32_t>(inRegisters) : 0);
    if (!next)
      break;
    inRegisters *= 2;
  }
  // And other threads must not start in the middle of a vector.
  inRegisters =
      std::min(inRegisters, gpu::getContigPerThread(tensor)[order.front()]);
  return std::max(1u, std::min(vector, inRegisters));
}

/// Whether a value may be another one each time that control comes round in
/// `cycle`.
static bool mayVary(Value value, const llvm::SmallPtrSetImpl<Block *> &cycle,
                    llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!cycle.contains(value.getParentBlock()))
    return false;
  Operation *def = value.getDefiningOp();
  if (!def || !isMemoryEffectFree(def))
    return true;
  return seen.insert(def).second &&
         llvm::any_of(def->getOperands(), [&](Value operand) {
           return mayVary(operand, cycle, seen);
         });
}

void triton::markRepeatedLoads(FunctionOpInterface function) {
  Region &body = function.getFunctionBody();
  if (body.empty() || body.hasOneBlock())
    return;
  for (auto it = llvm::scc_begin(&body); !it.isAtEnd(); ++it) {
    if (!it.hasCycle())
      continue;
    llvm::SmallPtrSet<Block *, 8> cycle((*it).begin(), (*it).end());
    for (Block *block : *it)
      for (auto load : block->getOps<LoadOp>())
        if (llvm::SmallPtrSet<Operation *, 16> seen;
            !mayVary(load.getPtr(), cycle, seen))
          load->setAttr(kStaysInPlaceAttrName,
                        UnitAttr::get(load.getContext()));
  }
}

namespace {
unsigned getPointeeBits(Type ptrType) {
  auto pointer = cast<triton::PointerType>(getTensorElementOrSelf(ptrType));
  Type pointee = pointer.getPointeeType();
  if (isa<triton::PointerType>(pointee))
    return 64;
  return std::max(8u, pointee.getIntOrFloatBitWidth());
}

template <typename OpT> struct MemoryPattern : OwnedAccessPattern<OpT> {
  using OwnedAccessPattern<OpT>::OwnedAccessPattern;

  VectorPlan planVectors(OpT op, unsigned bits) const {
    unsigned whole =
        getAccessVector(this->axisInfo, op.getPtr(), /*mask=*/Value(), bits,
                        this->target.getModel().getMaxGlobalAccessBits());
    return triton::planVectors(this->axisInfo, op.getPtr(), op.getMask(),
                               whole);
  }

  /// Elements in memory: i1 as i8, pointers as integers.
  SmallVector<Value> unpackOptional(const LLVMBuilder &b, Value converted,
                                    Value original) const {
    if (!converted)
      return {};
    return unpackElements(b, converted, original.getType());
  }

  static SmallVector<Value> getInMemory(const LLVMBuilder &b,
                                        SmallVector<Value> values) {
    for (Value &value : values)
      value = toSharedElement(b, value);
    return values;
  }
};

struct LoadPattern : MemoryPattern<LoadOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    Type element =
        getConverter().convertType(getTensorElementOrSelf(op.getType()));
    if (!element || op.getBoundaryCheck().size())
      return this->decline(op, "block pointers were not rewritten");
    Type memElement = getSharedElementType(element);
    unsigned bits = getPointeeBits(op.getPtr().getType());
    VectorPlan plan = planVectors(op, bits);
    LDBG() << "load of vectors of " << plan.size << " x " << bits << " bits";
    AccessGroups groups = groupAccess(op.getPtr().getType(), plan.size);
    SmallVector<Value> ptrs =
        unpackElements(b, adaptor.getPtr(), op.getPtr().getType());
    SmallVector<Value> masks =
        unpackOptional(b, adaptor.getMask(), op.getMask());
    TargetInfo::CacheHints hints{op.getCache(), op.getEvict(),
                                 op.getIsVolatile(),
                                 op->hasAttr(kStaysInPlaceAttrName)};
    // LLVM would merge accesses with gaps between them into wider ones, which
    // may read beyond the end of an array.
    if (plan.size * bits < target.getModel().getMaxGlobalAccessBits() &&
        groups.registers.size() > 1)
      hints.staysInPlace = true;
    // All threads must find the same in memory that others write meanwhile.
    Value owner;
    if (isLoadedOnce(op)) {
      if (failed(checkResult(op)))
        return failure();
      owner = emitOwnerPredicate(b, target, op, op.getPtr().getType());
    }
    SmallVector<Value> others =
        getInMemory(b, unpackOptional(b, adaptor.getOther(), op.getOther()));
    SmallVector<Value> results(ptrs.size());
    loadVectors(
        b, plan, groups.registers, masks, owner, results,
        [&](ArrayRef<int32_t> group, Value pred) {
          return target.loadGlobal(b, ptrs[group.front()], memElement,
                                   group.size(), pred, gather(group, others),
                                   hints);
        },
        [&](ElementOfVector part, Value pred, Value otherwise) {
          return target.loadGlobal(
              b, b.gep(ptrs[part.first], memElement, part.index), memElement, 1,
              pred, otherwise, hints)[0];
        });
    for (Value &result : results)
      if (result)
        result = fromSharedElement(b, result, element);
    if (owner && !op.getResult().use_empty())
      return replaceWithOwned(op, b, rewriter, groups, results, owner);
    for (auto [r, same] : llvm::enumerate(groups.representative))
      if (!results[r])
        results[r] = results[same];
    rewriter.replaceOp(op,
                       packElements(b, getConverter(), results, op.getType()));
    return success();
  }
};

struct StorePattern : MemoryPattern<StoreOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    if (op.getBoundaryCheck().size())
      return this->decline(op, "block pointers were not rewritten");
    Type ptrType = op.getPtr().getType();
    unsigned bits = getPointeeBits(ptrType);
    VectorPlan plan = planVectors(op, bits);
    LDBG() << "store of vectors of " << plan.size << " x " << bits << " bits";
    AccessGroups groups = groupAccess(ptrType, plan.size);
    SmallVector<Value> ptrs = unpackElements(b, adaptor.getPtr(), ptrType);
    SmallVector<Value> values = getInMemory(
        b, unpackElements(b, adaptor.getValue(), op.getValue().getType()));
    SmallVector<Value> masks =
        unpackOptional(b, adaptor.getMask(), op.getMask());
    TargetInfo::CacheHints hints{op.getCache(), op.getEvict(), false};
    Value unique = emitOwnerPredicate(b, target, op, ptrType);
    storeVectors(
        b, plan, groups.registers, masks, unique,
        [&](ArrayRef<int32_t> group, Value pred) {
          target.storeGlobal(b, ptrs[group.front()], gather(group, values),
                             pred, hints);
        },
        [&](ElementOfVector part, Value pred) {
          Value value = values[part.getRegister()];
          target.storeGlobal(
              b, b.gep(ptrs[part.first], value.getType(), part.index), value,
              pred, hints);
        });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

Value triton::emitOwnerPredicate(const LLVMBuilder &b, const TargetInfo &target,
                                 Operation *op, Type type) {
  ThreadIndex index = getThreadIndex(b, target, op);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    return emitUniqueThreadPredicate(b, toLinearLayout(tensor), index);
  // A scalar is held by everybody: the first thread acts.
  Value pred = b.eq(index.thread, b.i32(0));
  if (index.block)
    pred = b.and_(pred, b.eq(index.block, b.i32(0)));
  return pred;
}

void triton::populateLoadStorePatterns(const LoweringContext &context) {
  context.patterns.add<LoadPattern, StorePattern>(context);
}
