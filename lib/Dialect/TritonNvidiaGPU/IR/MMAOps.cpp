//===-- MMAOps.cpp - wgmma and tcgen05 multiplications --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpUtils.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

//===----------------------------------------------------------------------===//
// What both generations of tensor cores ask of shapes and element types
//===----------------------------------------------------------------------===//

static bool isFp8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Checks that a tensor core multiplies elements of these types.
static LogicalResult verifyElementTypes(Operation *op, Type a, Type b, Type d) {
  bool sameOrFp8 = a == b || (isFp8(a) && isFp8(b));
  if (!sameOrFp8)
    return op->emitOpError() << "expected operands of one element type, or "
                                "both of 8-bit floats, found "
                             << a << " and " << b;
  bool fits = false;
  if (a.isF16() || isFp8(a))
    fits = d.isF16() || d.isF32();
  else if (a.isBF16() || a.isF32())
    fits = d.isF32();
  else if (a.isInteger(8))
    fits = d.isInteger(32);
  else
    return op->emitOpError() << "expected operands of f16, bf16, f32 (as "
                                "tf32), f8E4M3FN, f8E5M2 or "
                                "i8, found "
                             << a;
  if (!fits)
    return op->emitOpError()
           << "expected an accumulator that can hold products of " << a
           << ", found " << d;
  return success();
}

/// Checks [M, K] * [K, N] -> [M, N].
static LogicalResult verifyShapes(Operation *op, ArrayRef<int64_t> a,
                                  ArrayRef<int64_t> b, ArrayRef<int64_t> d) {
  if (a.size() != 2 || b.size() != 2 || d.size() != 2)
    return op->emitOpError()
           << "expected matrices as operands and accumulator, found ranks "
           << a.size() << ", " << b.size() << " and " << d.size();
  if (a[1] != b[0])
    return op->emitOpError() << "expected as many rows of b as a has columns, "
                             << a[1] << ", found " << b[0];
  if (d[0] != a[0] || d[1] != b[1])
    return op->emitOpError()
           << "expected an accumulator of " << a[0] << "x" << b[1]
           << " like the product, found " << d[0] << "x" << d[1];
  return success();
}

/// Checks an operand that the tensor core reads from shared memory.
static LogicalResult verifySharedOperand(Operation *op, gpu::MemDescType type,
                                         StringRef what) {
  if (failed(verifySharedMemory(op, type, what)))
    return failure();
  if (isa<gpu::NVMMASharedEncodingAttr, gpu::SharedLinearEncodingAttr>(
          type.getEncoding()))
    return success();
  return op->emitOpError() << "expected " << what
                           << " to have an nvmma_shared (or shared_linear) "
                              "encoding, found "
                           << type.getEncoding();
}

static void addRead(SmallVectorImpl<MemoryEffects::EffectInstance> &effects,
                    OpOperand &operand) {
  auto type = dyn_cast<gpu::MemDescType>(operand.get().getType());
  if (!type)
    return;
  if (isInTensorMemory(type))
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         TensorMemory::get());
  else
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         gpu::SharedMemory::get());
}

/// What wgmma.wait_group may leave unfinished.
static constexpr unsigned kMostPendingProducts = 7;

namespace {
/// The dots that the waits of a thread count.
struct CountedProducts : SideEffects::Resource::Base<CountedProducts> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountedProducts)
  StringRef getName() override { return "CountedProducts"; }
};
} // namespace

//===----------------------------------------------------------------------===//
// WarpGroupDotOp
//===----------------------------------------------------------------------===//

LogicalResult WarpGroupDotOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  if (operands.size() < 3)
    return failure();
  types.push_back(operands[2].getType());
  return success();
}

void WarpGroupDotOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addRead(effects, getAMutable());
  addRead(effects, getBMutable());
  // Waits count them: one that is erased, or merged with another, would make
  // the counts behind it wrong.
  if (getIsAsync())
    effects.emplace_back(MemoryEffects::Write::get(), CountedProducts::get());
}

bool WarpGroupDotOp::needsPartialAccumulator() {
  auto a = cast<ShapedType>(getA().getType());
  auto d = cast<RankedTensorType>(getD().getType());
  return isFp8(a.getElementType()) && d.getElementType().isF32() &&
         getMaxNumImpreciseAcc() < static_cast<uint32_t>(a.getShape().back());
}

LogicalResult WarpGroupDotOp::verify() {
  auto a = cast<ShapedType>(getA().getType());
  gpu::MemDescType b = getB().getType();
  auto d = cast<RankedTensorType>(getD().getType());
  if (failed(verifyShapes(*this, a.getShape(), b.getShape(), d.getShape())) ||
      failed(verifyElementTypes(*this, a.getElementType(), b.getElementType(),
                                d.getElementType())) ||
      failed(verifySharedOperand(*this, b, "b")))
    return failure();

  auto mma = dyn_cast_or_null<gpu::NvidiaMmaEncodingAttr>(d.getEncoding());
  if (!mma || mma.getVersionMajor() != 3)
    return emitOpError() << "expected a result with an nvidia_mma encoding of "
                            "version 3, found "
                         << d;
  // Tensors may be laid out so on any warps.
  if (ArrayRef<unsigned> warps = mma.getWarpsPerCTA();
      warps.size() != 2 || warps[0] % 4 != 0)
    return emitOpError() << "expected a result with groups of 4 warps along M, "
                            "found 'warpsPerCTA' ["
                         << warps << "]";

  if (auto buffer = dyn_cast<gpu::MemDescType>(a))
    return verifySharedOperand(*this, buffer, "a");
  auto operand = dyn_cast_or_null<gpu::DotOperandEncodingAttr>(
      cast<RankedTensorType>(a).getEncoding());
  if (!operand || operand.getOpIdx() != 0 || operand.getParent() != mma)
    return emitOpError()
           << "expected a in registers to be operand 0 of the encoding of "
              "the result, found "
           << a;
  // A register holds neighbours along K.
  unsigned kWidth = 32 / a.getElementTypeBitWidth();
  if (operand.getKWidth() != kWidth)
    return emitOpError() << "expected a in registers with a kWidth of "
                         << kWidth << ", found " << operand.getKWidth();
  return success();
}

LogicalResult WarpGroupDotOp::canonicalize(WarpGroupDotOp op,
                                           PatternRewriter &rewriter) {
  if (!op.getUseC() || !isKnownTrue(op.getUseC()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getUseCMutable().clear(); });
  return success();
}

Value WarpGroupDotOp::getLhs() { return getA(); }
Value WarpGroupDotOp::getRhs() { return getB(); }
OpOperand &WarpGroupDotOp::getAccumulatorMutable() { return getCMutable(); }
Value WarpGroupDotOp::getProduct() { return getD(); }
bool WarpGroupDotOp::canOverwriteAccumulator() { return true; }
Value WarpGroupDotOp::getUseAccumulator() { return getUseC(); }
void WarpGroupDotOp::setUseAccumulator(Value flag) {
  getUseCMutable().assign(flag);
}
bool WarpGroupDotOp::isAsync() { return getIsAsync(); }
void WarpGroupDotOp::setAsync(bool async) { setIsAsync(async); }

bool WarpGroupDotOp::canWaitInOrder() {
  // Halves come in pairs that only the dot keeps together.
  return !needsPartialAccumulator() &&
         !getElementTypeOrSelf(getD().getType()).isF16();
}

Operation *WarpGroupDotOp::createWait(OpBuilder &builder, Location loc,
                                      ValueRange values, unsigned pendings) {
  // To wait for more of them is right, too.
  return WarpGroupDotWaitOp::create(builder, loc, values,
                                    std::min(pendings, kMostPendingProducts));
}

bool WarpGroupDotOp::isWaitedInOrder() { return true; }

bool WarpGroupDotOp::finishesForAllWarps() {
  // Each warp group waits for its own instructions only.
  constexpr int kWarpsOfGroup = 4;
  return gpu::lookupNumWarps(*this) == kWarpsOfGroup;
}

//===----------------------------------------------------------------------===//
// WarpGroupDotWaitOp
//===----------------------------------------------------------------------===//

LogicalResult WarpGroupDotWaitOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

unsigned WarpGroupDotWaitOp::getMaxPendings() { return getPendings(); }

LogicalResult WarpGroupDotWaitOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected the results to wait for, found none");
  if (getPendings() > kMostPendingProducts)
    return emitOpError("expected 'pendings' to be at most ")
           << kMostPendingProducts << ", found " << getPendings();
  return success();
}

//===----------------------------------------------------------------------===//
// What TCGen5MMAOp and TCGen5MMAScaledOp share
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyMMAv5(OpTy op) {
  gpu::MemDescType a = op.getA().getType(), b = op.getB().getType(),
                   d = op.getD().getType();
  if (isInTensorMemory(a)) {
    if (failed(verifyTensorMemory(op, a, "a")))
      return failure();
    if (!isa<TensorMemoryEncodingAttr>(a.getEncoding()))
      return op.emitOpError() << "expected a in tensor memory to have a "
                                 "tensor_memory_encoding, found "
                              << a.getEncoding();
  } else if (failed(verifySharedOperand(op, a, "a"))) {
    return failure();
  }
  if (failed(verifySharedOperand(op, b, "b")) ||
      failed(verifyTensorMemory(op, d, "accumulator")) ||
      failed(verifyMutable(op, d, "accumulator")))
    return failure();

  auto encoding = dyn_cast<TensorMemoryEncodingAttr>(d.getEncoding());
  if (!encoding)
    return op.emitOpError()
           << "expected the accumulator to have a tensor_memory_encoding, "
              "found "
           << d.getEncoding();
  if (encoding.getFp4Padded())
    return op.emitOpError()
           << "expected an accumulator without fp4Padded, found "
           << d.getEncoding();
  unsigned minN = encoding.getBlockM() == 64 ? 8 : 16;
  if (encoding.getBlockN() < minN || encoding.getBlockN() > 256)
    return op.emitOpError()
           << "expected blockN of the accumulator to be from " << minN
           << " to 256 where blockM is " << encoding.getBlockM() << ", found "
           << encoding.getBlockN();
  if (encoding.getTwoCTAs() != op.getTwoCtas())
    return op.emitOpError()
           << "expected two_ctas as the accumulator's encoding has it, "
           << encoding.getTwoCTAs() << ", found " << op.getTwoCtas();

  if (op.getBarriers().size() != op.getBarrierPreds().size())
    return op.emitOpError()
           << "expected a predicate for each of " << op.getBarriers().size()
           << " barriers, found " << op.getBarrierPreds().size();
  for (Value barrier : op.getBarriers())
    if (failed(
            verifyBarrierType(op, cast<gpu::MemDescType>(barrier.getType()))))
      return failure();
  if (!op.getIsAsync() && !op.getBarriers().empty())
    return op.emitOpError(
        "expected is_async where there are barriers to arrive at, found none");
  return verifyTokens(op, op.getAccDep(), op.getToken());
}

/// One instruction multiplies 32 bytes of each row of `a`.
static LogicalResult verifyReductionSize(Operation *op, int64_t k,
                                         unsigned bitWidth) {
  if (k * bitWidth % 256 == 0)
    return success();
  return op->emitOpError()
         << "expected rows of a to be a multiple of 32 bytes, found " << k
         << " elements of " << bitWidth << " bits";
}

template <typename OpTy>
static void
getMMAv5Effects(OpTy op,
                SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addRead(effects, op.getAMutable());
  addRead(effects, op.getBMutable());
  // Also where useD is false: an asynchronous write is ordered by the same
  // means as the accumulation.
  effects.emplace_back(MemoryEffects::Read::get(), &op.getDMutable(),
                       TensorMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), &op.getDMutable(),
                       TensorMemory::get());
  for (OpOperand &barrier : op.getBarriersMutable()) {
    effects.emplace_back(MemoryEffects::Read::get(), &barrier,
                         gpu::SharedMemory::get());
    effects.emplace_back(MemoryEffects::Write::get(), &barrier,
                         gpu::SharedMemory::get());
  }
}

/// An arrival whose predicate is known to be false does not happen.
template <typename OpTy>
static LogicalResult dropDeadBarriers(OpTy op, PatternRewriter &rewriter) {
  SmallVector<Value> barriers, predicates;
  for (auto [barrier, predicate] :
       llvm::zip(op.getBarriers(), op.getBarrierPreds())) {
    if (isKnownFalse(predicate))
      continue;
    barriers.push_back(barrier);
    predicates.push_back(predicate);
  }
  if (barriers.size() == op.getBarriers().size())
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getBarriersMutable().assign(barriers);
    op.getBarrierPredsMutable().assign(predicates);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// TCGen5MMAOp
//===----------------------------------------------------------------------===//

void TCGen5MMAOp::build(OpBuilder &builder, OperationState &state, Type token,
                        Value a, Value b, Value d, Value accDep, Value useD,
                        Value pred, bool isAsync, bool twoCTAs,
                        ValueRange barriers, ValueRange barrierPreds) {
  state.addOperands({a, b, d});
  if (accDep)
    state.addOperands(accDep);
  state.addOperands({useD, pred});
  state.addOperands(barriers);
  state.addOperands(barrierPreds);
  Properties &properties = state.getOrAddProperties<Properties>();
  llvm::copy(ArrayRef<int32_t>({1, 1, 1, accDep ? 1 : 0, 1, 1,
                                static_cast<int32_t>(barriers.size()),
                                static_cast<int32_t>(barrierPreds.size())}),
             properties.operandSegmentSizes.begin());
  if (isAsync)
    properties.setIsAsync(builder.getUnitAttr());
  if (twoCTAs)
    properties.setTwoCtas(builder.getUnitAttr());
  if (token)
    state.addTypes(token);
}

LogicalResult TCGen5MMAOp::verify() {
  gpu::MemDescType a = getA().getType(), b = getB().getType(),
                   d = getD().getType();
  if (failed(verifyShapes(*this, a.getShape(), b.getShape(), d.getShape())) ||
      failed(verifyElementTypes(*this, a.getElementType(), b.getElementType(),
                                d.getElementType())) ||
      failed(verifyReductionSize(*this, a.getShape()[1],
                                 a.getElementTypeBitWidth())))
    return failure();
  int numSigns = getIsUnsigned() + getAIsUnsigned() + getBIsUnsigned();
  if (numSigns && !a.getElementType().isInteger(8))
    return emitOpError() << "expected operands of i8, as it says that they "
                            "have no sign, found "
                         << a.getElementType();
  if (numSigns > 1)
    return emitOpError("expected one attribute at most that says which "
                       "operands have no sign");
  return verifyMMAv5(*this);
}

void TCGen5MMAOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getMMAv5Effects(*this, effects);
}

LogicalResult TCGen5MMAOp::canonicalize(TCGen5MMAOp op,
                                        PatternRewriter &rewriter) {
  if (succeeded(eraseIfNeverRuns(op, op.getAccDep(), rewriter)))
    return success();
  return dropDeadBarriers(op, rewriter);
}

//===----------------------------------------------------------------------===//
// TCGen5MMAScaledOp
//===----------------------------------------------------------------------===//

void TCGen5MMAScaledOp::build(OpBuilder &builder, OperationState &state,
                              Type token, Value a, Value b, Value d,
                              Value accDep, Value aScale, Value bScale,
                              ScaleDotElemType aType, ScaleDotElemType bType,
                              Value useD, Value pred, bool isAsync,
                              bool twoCTAs, ValueRange barriers,
                              ValueRange barrierPreds) {
  state.addOperands({a, b, d});
  if (accDep)
    state.addOperands(accDep);
  state.addOperands({aScale, bScale, useD, pred});
  state.addOperands(barriers);
  state.addOperands(barrierPreds);
  Properties &properties = state.getOrAddProperties<Properties>();
  llvm::copy(ArrayRef<int32_t>({1, 1, 1, accDep ? 1 : 0, 1, 1, 1, 1,
                                static_cast<int32_t>(barriers.size()),
                                static_cast<int32_t>(barrierPreds.size())}),
             properties.operandSegmentSizes.begin());
  MLIRContext *context = builder.getContext();
  properties.setAType(ScaleDotElemTypeAttr::get(context, aType));
  properties.setBType(ScaleDotElemTypeAttr::get(context, bType));
  if (isAsync)
    properties.setIsAsync(builder.getUnitAttr());
  if (twoCTAs)
    properties.setTwoCtas(builder.getUnitAttr());
  if (token)
    state.addTypes(token);
}

static int64_t elementsPerStored(ScaleDotElemType type) {
  return type == ScaleDotElemType::E2M1 ? 2 : 1;
}

int64_t TCGen5MMAScaledOp::getBlockM() {
  return getA().getType().getShape()[0];
}
int64_t TCGen5MMAScaledOp::getBlockN() {
  return getB().getType().getShape()[1];
}
int64_t TCGen5MMAScaledOp::getBlockK() {
  return getA().getType().getShape()[1] * elementsPerStored(getAType());
}

/// Checks that elements of a format are multiplied with scales. Whether the
/// types of the operands and the number of scales suit it, the lowering asks:
/// until then, passes may give them other types.
static LogicalResult verifyFormat(Operation *op, ScaleDotElemType format,
                                  StringRef what) {
  switch (format) {
  case ScaleDotElemType::E4M3:
  case ScaleDotElemType::E5M2:
  case ScaleDotElemType::E2M1:
  case ScaleDotElemType::E2M3:
  case ScaleDotElemType::E3M2:
    return success();
  default:
    return op->emitOpError() << "expected a format of " << what
                             << " that is multiplied with scales, found "
                             << stringifyScaleDotElemType(format);
  }
}

/// Checks that a buffer can hold scales.
static LogicalResult verifyScales(Operation *op, gpu::MemDescType type,
                                  StringRef what) {
  if (isInTensorMemory(type)) {
    if (failed(verifyTensorMemory(op, type, what)))
      return failure();
    if (!isa<TensorMemoryScalesEncodingAttr>(type.getEncoding()))
      return op->emitOpError()
             << "expected " << what
             << " to have a tensor_memory_scales_encoding, found "
             << type.getEncoding();
  } else if (!isInSharedMemory(type)) {
    return op->emitOpError() << "expected " << what
                             << " in tensor or shared memory, found " << type;
  }
  if (!type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() != 8)
    return op->emitOpError()
           << "expected " << what << " to have 8-bit elements, found "
           << type.getElementType();
  return success();
}

/// What an element takes: a byte of two 4-bit numbers may take two.
static unsigned countBitsInMemory(gpu::MemDescType type) {
  auto tensor = dyn_cast<TensorMemoryEncodingAttr>(type.getEncoding());
  auto shared = dyn_cast<gpu::NVMMASharedEncodingAttr>(type.getEncoding());
  bool isPadded =
      (tensor && tensor.getFp4Padded()) || (shared && shared.getFp4Padded());
  return type.getElementTypeBitWidth() * (isPadded ? 2 : 1);
}

LogicalResult TCGen5MMAScaledOp::verify() {
  gpu::MemDescType a = getA().getType(), b = getB().getType(),
                   d = getD().getType();
  if (a.getRank() != 2 || b.getRank() != 2 || d.getRank() != 2)
    return emitOpError()
           << "expected matrices as operands and accumulator, found ranks "
           << a.getRank() << ", " << b.getRank() << " and " << d.getRank();
  if (failed(verifyFormat(*this, getAType(), "a")) ||
      failed(verifyFormat(*this, getBType(), "b")))
    return failure();
  int64_t m = getBlockM(), n = getBlockN(), k = getBlockK();
  int64_t bRows = b.getShape()[0] * elementsPerStored(getBType());
  if (failed(verifyShapes(*this, {m, k}, {bRows, n}, d.getShape())))
    return failure();
  if (!d.getElementType().isF32())
    return emitOpError() << "expected accumulation in f32, found "
                         << d.getElementType();
  if (failed(
          verifyReductionSize(*this, a.getShape()[1], countBitsInMemory(a))) ||
      failed(verifyScales(*this, getAScale().getType(), "a_scale")) ||
      failed(verifyScales(*this, getBScale().getType(), "b_scale")))
    return failure();
  return verifyMMAv5(*this);
}

void TCGen5MMAScaledOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getMMAv5Effects(*this, effects);
  addRead(effects, getAScaleMutable());
  addRead(effects, getBScaleMutable());
}

LogicalResult TCGen5MMAScaledOp::canonicalize(TCGen5MMAScaledOp op,
                                              PatternRewriter &rewriter) {
  if (succeeded(eraseIfNeverRuns(op, op.getAccDep(), rewriter)))
    return success();
  return dropDeadBarriers(op, rewriter);
}

//===----------------------------------------------------------------------===//
// The interfaces, the same for both
//===----------------------------------------------------------------------===//

#define TILE_DEFINE_MMAV5_INTERFACE(OP)                                        \
  Value OP::getLhs() { return getA(); }                                        \
  Value OP::getRhs() { return getB(); }                                        \
  OpOperand &OP::getAccumulatorMutable() { return getDMutable(); }             \
  Value OP::getProduct() { return {}; }                                        \
  bool OP::canOverwriteAccumulator() { return true; }                          \
  Value OP::getUseAccumulator() { return getUseD(); }                          \
  void OP::setUseAccumulator(Value flag) { getUseDMutable().assign(flag); }    \
  Value OP::getPredicate() { return getPred(); }                               \
  void OP::setPredicate(Value value) { getPredMutable().assign(value); }       \
  Value OP::getAccumulatorDependency() { return getAccDep(); }                 \
  void OP::setAccumulatorDependency(Value token) {                             \
    if (token)                                                                 \
      getAccDepMutable().assign(token);                                        \
    else                                                                       \
      getAccDepMutable().clear();                                              \
  }                                                                            \
  Value OP::getAccumulatorToken() { return getToken(); }                       \
  OperandRange OP::getCompletionBarriers() { return getBarriers(); }           \
  OperandRange OP::getCompletionBarrierPredicates() {                          \
    return getBarrierPreds();                                                  \
  }                                                                            \
  void OP::addCompletionBarrier(Value barrier, Value predicate) {              \
    getBarriersMutable().append(barrier);                                      \
    getBarrierPredsMutable().append(predicate);                                \
  }                                                                            \
  bool OP::isAsync() { return getIsAsync(); }                                  \
  void OP::setAsync(bool async) { setIsAsync(async); }                         \
  bool OP::usesTwoCTAs() { return getTwoCtas(); }

SmallVector<Value> TCGen5MMAScaledOp::getFactors() {
  return {getA(), getB(), getAScale(), getBScale()};
}

TILE_DEFINE_MMAV5_INTERFACE(TCGen5MMAOp)
TILE_DEFINE_MMAV5_INTERFACE(TCGen5MMAScaledOp)
#undef TILE_DEFINE_MMAV5_INTERFACE

//===----------------------------------------------------------------------===//
// TCGen5CommitOp
//===----------------------------------------------------------------------===//

LogicalResult TCGen5CommitOp::verify() {
  for (Value operand : getDescs())
    if (failed(verifySharedMemory(
            *this, cast<gpu::MemDescType>(operand.getType()), "operand")))
      return failure();
  return verifyBarrierType(*this, getBarrier().getType());
}

LogicalResult TCGen5CommitOp::canonicalize(TCGen5CommitOp op,
                                           PatternRewriter &rewriter) {
  return simplifyOptionalPredicate(op, rewriter);
}
