//===-- ExpandOps.cpp - tritonamdgpu-expand-ops ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/ConvertTo.h"
#include "tile/Dialect/TritonGPU/Transforms/MicroscalingScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUEXPANDOPS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {
class Expander {
public:
  explicit Expander(Operation *op) : b(op), loc(op->getLoc()) {}

  FailureOr<Value> expand(amdgpu::ScaledUpcastFp4Op op) {
    FailureOr<Value> wide = unpack(op.getInput(), op.getAxis(), op.getType());
    if (failed(wide))
      return failure();
    return scale(*wide, op.getScale(), op.getType());
  }
  FailureOr<Value> expand(amdgpu::ScaledUpcastFp8Op op) {
    return scale(extend(op.getInput(), op.getInput().getType(), op.getType()),
                 op.getScale(), op.getType());
  }
  FailureOr<Value> expand(amdgpu::UpcastMXFPOp op);
  FailureOr<Value> expand(amdgpu::LocalLoadPackedTransposedOp op);
  FailureOr<Value> expand(amdgpu::AsyncCopyLocalToGlobalOp op);

private:
  RankedTensorType inBF16(RankedTensorType type) {
    return type.clone(b.getBF16Type());
  }
  Value convertTo(Value value, RankedTensorType like) {
    return gpu::convertTo(b, loc, value, like.getEncoding());
  }
  Value splat(Type type, int64_t value) {
    return createScalarOrSplatConstant(b, loc, type, value);
  }

  /// Pairs of e2m1 along `axis` in bf16, which has all of them, like `result`.
  FailureOr<Value> unpack(Value input, unsigned axis, RankedTensorType result);
  /// Floats of 8 bits in bf16, which `format` says the layout and type of.
  Value extend(Value input, RankedTensorType format, RankedTensorType result) {
    if (input.getType() != format)
      input = BitcastOp::create(b, loc, format, input);
    return convertTo(
        FpToFpOp::create(b, loc, inBF16(format), input, RoundingModeAttr()),
        result);
  }
  /// wide * scales, rounded once: bf16 holds it if both are in bf16.
  Value scale(Value wide, Value scales, RankedTensorType result);

  OpBuilder b;
  Location loc;
};

FailureOr<Value> Expander::unpack(Value input, unsigned axis,
                                  RankedTensorType result) {
  FailureOr<Attribute> layout = Fp4ToFpOp::inferResultEncoding(
      cast<RankedTensorType>(input.getType()), axis, loc);
  if (failed(layout))
    return failure();
  auto type =
      RankedTensorType::get(result.getShape(), b.getBF16Type(), *layout);
  return convertTo(Fp4ToFpOp::create(b, loc, type, input, axis), result);
}

Value Expander::scale(Value wide, Value scales, RankedTensorType result) {
  if (getElementTypeOrSelf(scales).isInteger(8))
    scales = decodeScales(b, loc, scales);
  if (result.getElementType().isBF16())
    return arith::MulFOp::create(b, loc, wide, scales);
  RankedTensorType f32 = result.clone(b.getF32Type());
  Value product =
      arith::MulFOp::create(b, loc, arith::ExtFOp::create(b, loc, f32, wide),
                            arith::ExtFOp::create(b, loc, f32, scales));
  if (result == f32)
    return product;
  return arith::TruncFOp::create(b, loc, result, product);
}

FailureOr<Value> Expander::expand(amdgpu::UpcastMXFPOp op) {
  RankedTensorType src = op.getSrc().getType(), result = op.getType();
  Value wide;
  if (op.getFpType() == ScaleDotElemType::E2M1) {
    unsigned k = result.getRank() - (op.isRight() ? 2 : 1);
    FailureOr<Value> unpacked = unpack(op.getSrc(), k, result);
    if (failed(unpacked))
      return failure();
    wide = *unpacked;
  } else {
    Type element = op.getFpType() == ScaleDotElemType::E4M3
                       ? Type(b.getType<Float8E4M3FNType>())
                       : Type(b.getType<Float8E5M2Type>());
    wide = extend(op.getSrc(), src.clone(element), result);
  }
  Value scales =
      spreadScales(b, loc, op.getScale(), inBF16(result), op.isRight());
  return scale(wide, scales, result);
}

/// As a right operand, K x N / 2 becomes K / 2 x N, by way of K x N halves of
/// bytes. Each thread has pairs of these along K. A left one is transposed.
FailureOr<Value> Expander::expand(amdgpu::LocalLoadPackedTransposedOp op) {
  RankedTensorType result = op.getType();
  MLIRContext *context = op.getContext();
  Type byte = b.getI8Type();
  auto getBlocked = [&](ArrayRef<int64_t> shape, ArrayRef<unsigned> perThread) {
    auto order =
        llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, shape.size())));
    return RankedTensorType::get(
        shape, byte,
        BlockedEncodingAttr::get(context, shape, perThread, order,
                                 lookupNumWarps(op), lookupThreadsPerWarp(op),
                                 lookupNumCTAs(op)));
  };
  bool isLeft =
      cast<DotOperandEncodingAttr>(result.getEncoding()).getOpIdx() == 0;
  constexpr int32_t kSwap[] = {1, 0};

  ArrayRef<int64_t> shape = op.getSrc().getType().getShape();
  Value bytes = LocalLoadOp::create(b, loc, getBlocked(shape, {1, 1}),
                                    op.getSrc(), op.getToken());
  if (isLeft)
    bytes = TransOp::create(b, loc, bytes, kSwap);
  Value low = arith::AndIOp::create(b, loc, bytes, splat(bytes.getType(), 15));
  Value high = arith::ShRUIOp::create(b, loc, bytes, splat(bytes.getType(), 4));
  Value halves = JoinOp::create(b, loc, low, high);
  int64_t k = cast<RankedTensorType>(bytes.getType()).getShape()[0];
  int64_t n = 2 * cast<RankedTensorType>(bytes.getType()).getShape()[1];
  halves = ReshapeOp::create(b, loc, ArrayRef<int64_t>{k / 2, 2, n}, halves);
  halves = TransOp::create(b, loc, halves, ArrayRef<int32_t>{0, 2, 1});
  halves = convertTo(halves, getBlocked({k / 2, n, 2}, {1, 1, 2}));
  auto pairs = SplitOp::create(b, loc, halves);
  Value second = arith::ShLIOp::create(b, loc, pairs.getOutRHS(),
                                       splat(pairs.getOutRHS().getType(), 4));
  Value packed = arith::OrIOp::create(b, loc, pairs.getOutLHS(), second);
  if (isLeft)
    packed = TransOp::create(b, loc, packed, kSwap);
  return convertTo(packed, result);
}

FailureOr<Value> Expander::expand(amdgpu::AsyncCopyLocalToGlobalOp op) {
  auto pointers = cast<RankedTensorType>(op.getDst().getType());
  Value elements = LocalLoadOp::create(
      b, loc, pointers.clone(op.getSrc().getType().getElementType()),
      op.getSrc());
  StoreOp::create(b, loc, op.getDst(), elements, op.getMask(),
                  CacheModifier::NONE, EvictionPolicy::NORMAL);
  return Value(AsyncCommitGroupOp::create(b, loc, ValueRange()));
}

struct ExpandOps : amd::impl::TritonAMDGPUExpandOpsBase<ExpandOps> {
  template <typename... OpTs> LogicalResult expandAll() {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa<OpTs...>(op))
        found.push_back(op);
    });
    for (Operation *op : found) {
      FailureOr<Value> value =
          llvm::TypeSwitch<Operation *, FailureOr<Value>>(op).Case<OpTs...>(
              [](auto known) { return Expander(known).expand(known); });
      if (failed(value))
        return failure();
      op->getResult(0).replaceAllUsesWith(*value);
      op->erase();
      ++numExpanded;
    }
    return success();
  }

  void runOnOperation() override {
    if (failed(
            expandAll<amdgpu::ScaledUpcastFp4Op, amdgpu::ScaledUpcastFp8Op,
                      amdgpu::UpcastMXFPOp, amdgpu::LocalLoadPackedTransposedOp,
                      amdgpu::AsyncCopyLocalToGlobalOp>()))
      signalPassFailure();
  }
};
} // namespace
