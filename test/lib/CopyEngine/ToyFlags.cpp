//===-- ToyFlags.cpp - Barriers of the toy copy engine --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToyDialect.h"

#include "tile/Dialect/TritonGPU/Transforms/Buffers.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// Flags are words of 32 bits.
class ToyFlags : public RingBarriers {
public:
  Value allocate(OpBuilder &builder, Location loc, int count) const override {
    MLIRContext *context = builder.getContext();
    auto encoding = SwizzledSharedEncodingAttr::get(
        context, 1, 1, 1, ArrayRef<unsigned>{0},
        CTALayoutAttr::getDefault(context, /*rank=*/1));
    return LocalAllocOp::create(
        builder, loc,
        MemDescType::get({count, 1}, builder.getI32Type(), encoding,
                         SharedMemorySpaceAttr::get(context),
                         /*mutableMemory=*/true));
  }

  void initialize(OpBuilder &builder, Location loc, Value flags,
                  int arrivals) const override {
    forEach(builder, loc, flags, [&](Value flag) {
      toy::MakeFlagOp::create(builder, loc, flag, arrivals);
    });
  }

  void free(OpBuilder &builder, Location loc, Value flags) const override {
    forEach(builder, loc, flags,
            [&](Value flag) { toy::EndFlagOp::create(builder, loc, flag); });
    LocalDeallocOp::create(builder, loc, flags);
  }

  Operation *announce(OpBuilder &builder, Location loc, Value flag,
                      int64_t bytes, Value predicate) const override {
    return toy::AnnounceOp::create(builder, loc, flag, bytes, predicate);
  }

  Operation *wait(OpBuilder &builder, Location loc, Value flag, Value parity,
                  ValueRange buffers) const override {
    return toy::WaitOp::create(builder, loc, flag, parity, /*pred=*/Value(),
                               buffers);
  }

  Operation *arrive(OpBuilder &builder, Location loc, Value flag, int count,
                    Value predicate, bool isShared) const override {
    return toy::ArriveOp::create(builder, loc, flag, count, predicate);
  }

  void setArrivals(Operation *arrival, int count) const override {
    cast<toy::ArriveOp>(arrival).setCount(count);
  }

  Operation *arriveAfterCopies(OpBuilder &builder, Location loc,
                               Value flag) const override {
    return toy::ArriveAfterCopiesOp::create(builder, loc, flag);
  }

private:
  static void forEach(OpBuilder &builder, Location loc, Value flags,
                      function_ref<void(Value)> visit) {
    auto type = cast<MemDescType>(flags.getType());
    for (int64_t i = 0; i < type.getShape().front(); ++i) {
      Value index = arith::ConstantIntOp::create(builder, loc, i, 32);
      visit(getBuffer(builder, loc, flags, index));
    }
  }
};

} // namespace

const RingBarriers &mlir::triton::toy::getFlags() {
  static const ToyFlags flags;
  return flags;
}
