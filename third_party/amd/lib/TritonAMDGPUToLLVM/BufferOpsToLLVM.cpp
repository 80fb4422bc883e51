//===-- BufferOpsToLLVM.cpp - Accesses through descriptors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor of the base, in scalar registers, and an offset in bytes for
// each access. Lanes whose mask is false get an offset behind the end.
//
//===----------------------------------------------------------------------===//

#include "amd/BufferAtomics.h"
#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Conversion/TritonGPUToLLVM/OwnedAccessPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amdgpu;

//===----------------------------------------------------------------------===//
// Bases
//===----------------------------------------------------------------------===//

/// On operations whose base LLVM may not see to be the same in all lanes.
static constexpr llvm::StringLiteral kDivergentBaseAttrName =
    "tile.divergent_base";

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

void amd::markDivergentBases(ModuleOp module) {
  module.walk([](Operation *op) {
    Value base = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case<BufferLoadOp, BufferStoreOp, BufferAtomicRMWOp,
                           BufferAtomicCASOp>(
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
template <typename OpT> struct BufferPattern : OwnedAccessPattern<OpT> {
  BufferPattern(const LoweringContext &context, const amd::TargetInfo &target)
      : OwnedAccessPattern<OpT>(context), facts(target.getFacts()) {}

protected:
  LogicalResult checkTarget(OpT op) const {
    return facts.bufferFlags ? success()
                             : this->decline(op, "the target's buffer "
                                                 "descriptors are not built");
  }

  Value makeDescriptor(const LLVMBuilder &b, OpT op, Value base) const {
    // Otherwise LLVM makes a loop over the lanes.
    if (op->hasAttr(kDivergentBaseAttrName))
      base = b.intrinsic(base.getType(), "llvm.amdgcn.readfirstlane", base);
    constexpr unsigned resourceSpace = 8;
    return b.intrinsic(b.ptrTy(resourceSpace), "llvm.amdgcn.make.buffer.rsrc",
                       ValueRange{base, /*stride=*/b.intVal(16, 0),
                                  b.i64(kBufferBytes),
                                  b.i32(facts.bufferFlags)});
  }

  /// In bytes; behind the end where `pred`, if given, is false.
  static Value getByteOffset(const LLVMBuilder &b, Value offset, Type element,
                             Value pred) {
    unsigned bytes = element.getIntOrFloatBitWidth() / 8;
    Value inside = b.mul(offset, b.i32(bytes));
    return pred ? b.select(pred, inside, b.i32(-kBufferBytes)) : inside;
  }

  /// Neighbours that are accessed at once.
  unsigned getVector(OpT op, Type element, Value mask, unsigned maxBits) const {
    unsigned bits = element.getIntOrFloatBitWidth();
    const AxisInfo *base = this->axisInfo.getAxisInfo(op.getPtr());
    int64_t aligned =
        base ? std::max<int64_t>(1, base->getDivisibility(0) * 8 / bits) : 1;
    unsigned vector =
        getAccessVector(this->axisInfo, op.getOffsets(), mask, bits, maxBits);
    return std::min<int64_t>(vector, aligned & -aligned);
  }

  /// How `count` elements travel.
  static Type getAccessType(const LLVMBuilder &b, Type element,
                            unsigned count) {
    unsigned bits = element.getIntOrFloatBitWidth() * count;
    return bits <= 32 ? Type(b.intTy(bits))
                      : LLVMBuilder::vecTy(b.intTy(32), bits / 32);
  }

  SmallVector<Value> unpack(const LLVMBuilder &b, Value converted,
                            Value original) const {
    if (!converted)
      return {};
    return unpackElements(b, converted, original.getType());
  }

  Value getPolicy(const LLVMBuilder &b, CacheModifier cache) const {
    return b.i32(cache == CacheModifier::CS ? facts.streamedPolicy : 0);
  }

  const amd::AMDTarget &facts;
};

Value pack(const LLVMBuilder &b, ArrayRef<Value> values, Type type) {
  SmallVector<Value> elements;
  for (Value value : values)
    elements.push_back(toSharedElement(b, value));
  return b.bitcast(b.packVector(elements), type);
}

/// Zero of any kind, in all elements: what the machine reads behind the end.
bool isZero(Value value) {
  DenseElementsAttr constant;
  if (!value || !matchPattern(value, m_Constant(&constant)) ||
      !constant.isSplat())
    return false;
  Attribute element = constant.getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(element))
    return integer.getValue().isZero();
  auto number = dyn_cast<FloatAttr>(element);
  return number && number.getValue().isPosZero();
}

constexpr unsigned kMaxAccessBits = 128;

struct LoadPattern : BufferPattern<BufferLoadOp> {
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
    unsigned vector = getVector(op, memElement, op.getMask(), kMaxAccessBits);
    AccessGroups groups = groupAccess(type, vector);
    Value descriptor = makeDescriptor(b, op, adaptor.getPtr());
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    SmallVector<Value> others;
    if (!isZero(op.getOther()))
      others = unpack(b, adaptor.getOther(), op.getOther());
    Type accessType = getAccessType(b, memElement, vector);

    SmallVector<Value> results(offsets.size());
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t first = group.front();
      Value pred = masks.empty() ? Value() : masks[first];
      Value offset = getByteOffset(b, offsets[first], memElement, pred);
      Value loaded = b.intrinsic(accessType, "llvm.amdgcn.raw.ptr.buffer.load",
                                 ValueRange{descriptor, offset, b.i32(0),
                                            getPolicy(b, op.getCache())});
      if (!others.empty()) {
        SmallVector<Value> other;
        for (int32_t r : group)
          other.push_back(others[r]);
        loaded = b.select(pred, loaded, pack(b, other, accessType));
      }
      Type packed =
          vector == 1 ? memElement : LLVMBuilder::vecTy(memElement, vector);
      SmallVector<Value> values = b.unpackVector(b.bitcast(loaded, packed));
      for (auto [r, value] : llvm::zip(group, values))
        results[r] = fromSharedElement(b, value, element);
    }
    for (auto [r, same] : llvm::enumerate(groups.representative))
      if (!results[r])
        results[r] = results[same];
    rewriter.replaceOp(op, packElements(b, getConverter(), results, type));
    return success();
  }
};

struct StorePattern : BufferPattern<BufferStoreOp> {
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
    unsigned vector = getVector(op, memElement, op.getMask(), kMaxAccessBits);
    AccessGroups groups = groupAccess(type, vector);
    Value descriptor = makeDescriptor(b, op, adaptor.getPtr());
    SmallVector<Value> offsets =
        unpack(b, adaptor.getOffsets(), op.getOffsets());
    SmallVector<Value> values = unpack(b, adaptor.getValue(), op.getValue());
    SmallVector<Value> masks = unpack(b, adaptor.getMask(), op.getMask());
    Value owner = emitOwnerPredicate(b, target, op, type);
    Type accessType = getAccessType(b, memElement, vector);
    for (ArrayRef<int32_t> group : groups.registers) {
      int32_t first = group.front();
      Value pred = b.andPred(masks.empty() ? Value() : masks[first], owner);
      SmallVector<Value> elements;
      for (int32_t r : group)
        elements.push_back(values[r]);
      Value offset = getByteOffset(b, offsets[first], memElement, pred);
      b.intrinsic({}, "llvm.amdgcn.raw.ptr.buffer.store",
                  ValueRange{pack(b, elements, accessType), descriptor, offset,
                             b.i32(0), getPolicy(b, op.getCache())});
    }
    rewriter.eraseOp(op);
    return success();
  }
};

template <typename OpT> struct AtomicPattern : BufferPattern<OpT> {
  using BufferPattern<OpT>::BufferPattern;

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
    if (!amd::hasBufferAtomic(facts, kind, type.getElementType()))
      return decline(op, "the target has no such buffer operation");
    unsigned vector = getVector(op, element, op.getMask(), bits);

    LLVMBuilder b(op.getLoc(), rewriter);
    AccessGroups groups = groupAccess(type, vector);
    Value descriptor = makeDescriptor(b, op, adaptor.getPtr());
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
      // Floats are exchanged as integers.
      Type operand = kind == RMWOp::XCHG ? Type(b.intTy(bits)) : element;
      Value old =
          b.intrinsic(operand, name,
                      ValueRange{b.bitcast(values[r], operand), descriptor,
                                 offset, b.i32(0), getScopePolicy(op, b)});
      results[r] = b.bitcast(old, element);
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
    Value descriptor = makeDescriptor(b, op, adaptor.getPtr());
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
                     descriptor, offset, b.i32(0), getScopePolicy(op, b)});
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
