//===-- BufferOpsToLLVM.cpp - Accesses through descriptors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor of the base, in scalar registers, and an offset in bytes for
// each access. Lanes whose mask is false get an offset behind the end.
//
//===----------------------------------------------------------------------===//

#include "BufferPattern.h"
#include "amd/BufferAtomics.h"
#include "amd/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

//===----------------------------------------------------------------------===//
// Bases
//===----------------------------------------------------------------------===//

/// Whether LLVM sees that all lanes have the same number: what is computed from
/// arguments of the kernel and from the program's number.
static bool isUniform(Value value, llvm::SmallDenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return true;
  if (Operation *op = value.getDefiningOp()) {
    if (isa<GetProgramIdOp, GetNumProgramsOp>(op))
      return true;
    return (isa<AddPtrOp>(op) || isa<arith::ArithDialect>(op->getDialect())) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isUniform(operand, seen);
           });
  }
  auto arg = cast<BlockArgument>(value);
  Block *block = arg.getOwner();
  if (block->isEntryBlock()) {
    auto function = dyn_cast<FunctionOpInterface>(block->getParentOp());
    return function && isKernel(function);
  }
  for (auto it = block->pred_begin(), end = block->pred_end(); it != end;
       ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    if (!branch)
      return false;
    Value passed =
        branch.getSuccessorOperands(it.getSuccessorIndex())[arg.getArgNumber()];
    if (!passed || !isUniform(passed, seen))
      return false;
  }
  return true;
}

void amd::markUniformity(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto load = dyn_cast<BufferLoadOp>(op); load && load.getMask()) {
      llvm::SmallDenseSet<Value> seen;
      auto mask = load.getMask().getDefiningOp<SplatOp>();
      if (mask && isUniform(mask.getSrc(), seen))
        op->setAttr(kUniformMaskAttrName, UnitAttr::get(op->getContext()));
    }
    Value base = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case<BufferLoadOp, BufferLoadToLocalOp, BufferStoreOp,
                           BufferAtomicRMWOp, BufferAtomicCASOp>(
                         [](auto access) { return access.getPtr(); })
                     .Default([](Operation *) { return Value(); });
    llvm::SmallDenseSet<Value> seen;
    if (base && !isUniform(base, seen))
      op->setAttr(kDivergentBaseAttrName, UnitAttr::get(op->getContext()));
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
Value pack(const LLVMBuilder &b, ArrayRef<Value> values, Type type) {
  SmallVector<Value> elements;
  for (Value value : values)
    elements.push_back(toSharedElement(b, value));
  return b.bitcast(b.packVector(elements), type);
}

struct LoadPattern : amd::BufferPattern<BufferLoadOp> {
  using BufferPattern::BufferPattern;
  LogicalResult
  matchAndRewrite(BufferLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkTarget(op)))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    Type element = getConverter().convertType(type.getElementType());
    Type memElement = getSharedElementType(element);
    VectorPlan plan = planVectors(op, memElement);
    AccessGroups groups = groupAccess(type, plan.size);
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    SmallVector<Value> others;
    if (op.getOther() && !isConstantZero(op.getOther()))
      others = unpack(b, adaptor.getOther(), op.getOther());
    Value condition;
    if (op->hasAttr(amd::kUniformMaskAttrName) && others.empty()) {
      condition = masks.front();
      masks.clear();
    }
    Buffer buffer =
        makeBuffer(b, rewriter, op, adaptor.getPtr(), memElement, condition);
    auto load = [&](Value offset, unsigned count, Value pred,
                    ArrayRef<Value> other) {
      Type accessType = getAccessType(b, memElement, count);
      Value loaded = b.intrinsic(
          accessType, "llvm.amdgcn.raw.ptr.buffer.load",
          ValueRange{buffer.descriptor,
                     getByteOffset(b, offset, memElement, pred),
                     buffer.scalarOffset, getPolicy(b, op.getCache())});
      if (!other.empty() && pred)
        loaded = b.select(pred, loaded, pack(b, other, accessType));
      Type packed =
          count == 1 ? memElement : LLVMBuilder::vecTy(memElement, count);
      return b.unpackVector(b.bitcast(loaded, packed));
    };
    SmallVector<Value> results(offsets.size());
    loadVectors(
        b, plan, groups.registers, masks, /*owner=*/Value(), results,
        [&](ArrayRef<int32_t> group, Value pred) {
          return load(offsets[group.front()], group.size(), pred,
                      gather(group, others));
        },
        [&](ElementOfVector part, Value pred, Value otherwise) {
          Value offset = b.add(offsets[part.first], b.i32(part.index));
          return load(offset, 1, pred, otherwise)[0];
        });
    for (Value &result : results)
      if (result)
        result = fromSharedElement(b, result, element);
    for (auto [r, same] : llvm::enumerate(groups.representative))
      if (!results[r])
        results[r] = results[same];
    rewriter.replaceOp(op, packElements(b, getConverter(), results, type));
    return success();
  }
};

struct StorePattern : amd::BufferPattern<BufferStoreOp> {
  using BufferPattern::BufferPattern;
  LogicalResult
  matchAndRewrite(BufferStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkTarget(op)))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    RankedTensorType type = op.getValue().getType();
    Type memElement =
        getSharedElementType(getConverter().convertType(type.getElementType()));
    VectorPlan plan = planVectors(op, memElement);
    AccessGroups groups = groupAccess(type, plan.size);
    Buffer buffer = makeBuffer(b, rewriter, op, adaptor.getPtr(), memElement);
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> values = unpack(b, adaptor.getValue(), op.getValue());
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    Value owner = emitOwnerPredicate(b, target, op, type);
    auto store = [&](Value offset, ArrayRef<Value> elements, Value pred) {
      Type accessType = getAccessType(b, memElement, elements.size());
      b.intrinsic({}, "llvm.amdgcn.raw.ptr.buffer.store",
                  ValueRange{pack(b, elements, accessType), buffer.descriptor,
                             getByteOffset(b, offset, memElement, pred),
                             buffer.scalarOffset, getPolicy(b, op.getCache())});
    };
    storeVectors(
        b, plan, groups.registers, masks, owner,
        [&](ArrayRef<int32_t> group, Value pred) {
          store(offsets[group.front()], gather(group, values), pred);
        },
        [&](ElementOfVector part, Value pred) {
          store(b.add(offsets[part.first], b.i32(part.index)),
                values[part.getRegister()], pred);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

template <typename OpT> struct AtomicPattern : amd::BufferPattern<OpT> {
  using amd::BufferPattern<OpT>::BufferPattern;

  LogicalResult checkOperation(OpT op) const {
    if (failed(this->checkTarget(op)) || failed(this->checkResult(op)))
      return failure();
    if (!op.getResult().use_empty() &&
        repeatsAcrossThreads(cast<RankedTensorType>(op.getType())))
      return this->decline(op, "several threads hold the same elements, and "
                               "the old values are used");
    return success();
  }

  /// What comes before and after the operations themselves.
  void fence(OpT op, const LLVMBuilder &b, bool before) const {
    MemSemantic semantic = op.getSem();
    bool both = semantic == MemSemantic::ACQUIRE_RELEASE;
    MemSemantic own = before ? MemSemantic::RELEASE : MemSemantic::ACQUIRE;
    if (both || semantic == own)
      b.create<LLVM::FenceOp>(before ? LLVM::AtomicOrdering::release
                                     : LLVM::AtomicOrdering::acquire,
                              amd::getSyncScope(op.getScope()));
  }

  /// Who sees it.
  Value getScopePolicy(OpT op, const LLVMBuilder &b) const {
    return b.i32(op.getScope() == MemSyncScope::SYSTEM
                     ? this->facts.systemAtomicPolicy
                     : this->facts.gpuAtomicPolicy);
  }

  void replace(OpT op, const LLVMBuilder &b,
               ConversionPatternRewriter &rewriter, const AccessGroups &groups,
               SmallVectorImpl<Value> &results) const {
    for (auto [r, same] : llvm::enumerate(groups.representative))
      if (!results[r])
        results[r] = results[same];
    rewriter.replaceOp(
        op, packElements(b, this->getConverter(), results, op.getType()));
  }
};

struct RMWPattern : AtomicPattern<BufferAtomicRMWOp> {
  using AtomicPattern::AtomicPattern;

  static StringRef getName(RMWOp kind) {
    switch (kind) {
    case RMWOp::AND:
      return "and";
    case RMWOp::OR:
      return "or";
    case RMWOp::XOR:
      return "xor";
    case RMWOp::ADD:
      return "add";
    case RMWOp::FADD:
      return "fadd";
    case RMWOp::MAX:
      return "smax";
    case RMWOp::MIN:
      return "smin";
    case RMWOp::UMAX:
      return "umax";
    case RMWOp::UMIN:
      return "umin";
    case RMWOp::XCHG:
      return "swap";
    }
    llvm_unreachable("unknown operation");
  }

  LogicalResult
  matchAndRewrite(BufferAtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkOperation(op)))
      return failure();
    RankedTensorType type = cast<RankedTensorType>(op.getType());
    Type element = getConverter().convertType(type.getElementType());
    unsigned bits = element.getIntOrFloatBitWidth();
    RMWOp kind = op.getAtomicRmwOp();
    bool inPairs = amd::addsPairsInBuffers(facts, kind, type.getElementType());
    if (!inPairs && !amd::hasBufferAtomic(facts, kind, type.getElementType()))
      return decline(op, "the target has no such buffer operation");
    unsigned vector =
        getVector(op, element, op.getMask(), inPairs ? 2 * bits : bits);
    if (inPairs && vector < 2)
      return decline(op, "the target adds 16-bit floats in buffers in pairs "
                         "that begin at a multiple of 4 bytes; the offsets, "
                         "the mask or the layout do not keep neighbours "
                         "together");

    LLVMBuilder b(op.getLoc(), rewriter);
    AccessGroups groups = groupAccess(type, vector);
    Buffer buffer = makeBuffer(b, rewriter, op, adaptor.getPtr(), element);
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> values = unpack(b, adaptor.getValue(), op.getValue());
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    Value owner = emitOwnerPredicate(b, target, op, type);
    std::string name =
        ("llvm.amdgcn.raw.ptr.buffer.atomic." + getName(kind)).str();
    fence(op, b, /*before=*/true);
    SmallVector<Value> results(offsets.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t r = group.front();
      Value pred = b.andPred(masks.empty() ? Value() : masks[r], owner);
      Value offset = getByteOffset(b, offsets[r], element, pred);
      SmallVector<Value> operands;
      for (int32_t in : group)
        operands.push_back(values[in]);
      Value operand = b.packVector(operands);
      Type plain = operand.getType();
      // Floats are exchanged as integers.
      Type accessed = kind == RMWOp::XCHG ? Type(b.intTy(bits)) : plain;
      Value old = b.intrinsic(
          accessed, name,
          ValueRange{b.bitcast(operand, accessed), buffer.descriptor, offset,
                     buffer.scalarOffset, getScopePolicy(op, b)});
      for (auto [in, value] :
           llvm::zip(group, b.unpackVector(b.bitcast(old, plain))))
        results[in] = value;
    }
    fence(op, b, /*before=*/false);
    replace(op, b, rewriter, groups, results);
    return success();
  }
};

struct CASPattern : AtomicPattern<BufferAtomicCASOp> {
  using AtomicPattern::AtomicPattern;
  LogicalResult
  matchAndRewrite(BufferAtomicCASOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(checkOperation(op)))
      return failure();
    RankedTensorType type = cast<RankedTensorType>(op.getType());
    Type element = getConverter().convertType(type.getElementType());
    LLVMBuilder b(op.getLoc(), rewriter);
    AccessGroups groups = groupAccess(type, 1);
    Buffer buffer = makeBuffer(b, rewriter, op, adaptor.getPtr(), element);
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> compares = unpack(b, adaptor.getCmp(), op.getCmp());
    SmallVector<Value> values = unpack(b, adaptor.getVal(), op.getVal());
    Value owner = emitOwnerPredicate(b, target, op, type);
    Type word = b.intTy(element.getIntOrFloatBitWidth());
    fence(op, b, /*before=*/true);
    SmallVector<Value> results(offsets.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t r = group.front();
      Value offset = getByteOffset(b, offsets[r], element, owner);
      Value old = b.intrinsic(
          word, "llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap",
          ValueRange{b.bitcast(values[r], word), b.bitcast(compares[r], word),
                     buffer.descriptor, offset, buffer.scalarOffset,
                     getScopePolicy(op, b)});
      results[r] = b.bitcast(old, element);
    }
    fence(op, b, /*before=*/false);
    replace(op, b, rewriter, groups, results);
    return success();
  }
};
} // namespace

void amd::populateBufferPatterns(const LoweringContext &context,
                                 const TargetInfo &target) {
  context.patterns.add<LoadPattern, StorePattern, RMWPattern, CASPattern>(
      context, target);
}
