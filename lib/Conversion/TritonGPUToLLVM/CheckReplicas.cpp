//===-- CheckReplicas.cpp - Compare the copies of what decides -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A scalar has a copy in every thread. Each thread may have made its copy
// itself: by a reduction, a load, an atomic, assembly. Then the copies could
// differ. The threads would take different sides of a branch that they must
// take together, or access different memory where they must access one block.
// This pass splats the scalar to a block with an element for each thread, so
// that the block holds all copies. The least and the greatest element must be
// the same.
//
//===----------------------------------------------------------------------===//

#include "tile/Conversion/TritonGPUToLLVM/Passes.h"

#include "tile/Analysis/Decisions.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::triton {
#define GEN_PASS_DEF_CHECKREPLICAS
#include "tile/Conversion/TritonGPUToLLVM/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace ttg = mlir::triton::gpu;

/// True if each thread finds the value out for itself.
static bool isReplicated(Value value) {
  Type type = value.getType();
  return (type.isIntOrFloat() || isa<PointerType>(type)) &&
         isa_and_present<ReduceOp, UnsplatOp, LoadOp, AtomicRMWOp, AtomicCASOp,
                         ElementwiseInlineAsmOp, ExternElementwiseOp>(
             value.getDefiningOp());
}

/// As an integer of 32 or 64 bits.
static Value toBits(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  if (isa<PointerType>(type))
    return PtrToIntOp::create(b, loc, b.getI64Type(), value);
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, loc, b.getIntegerType(width), value);
  if (width >= 32)
    return value;
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), value);
}

template <typename CombineOp>
static Value reduceAll(OpBuilder &b, Location loc, Value block) {
  Type element = getElementTypeOrSelf(block.getType());
  auto reduce = ReduceOp::create(b, loc, ValueRange{block}, /*axis=*/0);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&reduce.getCombineOp(), {}, {element, element}, {loc, loc});
  ValueRange arguments = reduce.getCombineOp().getArguments();
  Value both = CombineOp::create(b, loc, arguments[0], arguments[1]);
  ReduceReturnOp::create(b, loc, ValueRange{both});
  return reduce.getResult()[0];
}

static void check(Value value) {
  Operation *op = value.getDefiningOp();
  Location loc = op->getLoc();
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Value bits = toBits(b, loc, value);
  int64_t threads = int64_t(ttg::lookupNumWarps(op)) *
                    ttg::lookupThreadsPerWarp(op) * ttg::lookupNumCTAs(op);
  auto layout = ttg::getDefaultBlockedEncoding(
      op->getContext(), {threads}, ttg::lookupNumWarps(op),
      ttg::lookupThreadsPerWarp(op), ttg::lookupNumCTAs(op));
  Value copies = SplatOp::create(
      b, loc, RankedTensorType::get({threads}, bits.getType(), layout), bits);
  Value least = reduceAll<arith::MinUIOp>(b, loc, copies);
  Value greatest = reduceAll<arith::MaxUIOp>(b, loc, copies);
  Value same =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, least, greatest);
  AssertOp::create(b, loc, same,
                   "the threads have different copies of a scalar that decides "
                   "a branch or an address");
}

namespace {
struct CheckReplicas : triton::impl::CheckReplicasBase<CheckReplicas> {
  void runOnOperation() override {
    SmallVector<Value> replicated = llvm::filter_to_vector(
        findDecidingValues(getOperation()), isReplicated);
    for (Value value : replicated)
      check(value);
    numChecks += replicated.size();
  }
};
} // namespace
