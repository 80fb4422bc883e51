//===-- RingPositions.cpp - Which buffer of a ring is used when -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A loop carries a position in a ring, and advances it in each iteration:
//
//   next = position + 1; position = next >= size ? 0 : next
//
// In iteration i the position is (i + offset) modulo the size, where the offset
// is what the loop starts with. Two positions of a ring that are known so are a
// known number of iterations apart.
//
//===----------------------------------------------------------------------===//

#include "RingPositions.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// The operation that takes one buffer of a ring; null if there is none.
static gpu::MemDescIndexOp findIndex(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>()) {
    auto index = dyn_cast<gpu::MemDescIndexOp>(op.getOperation());
    if (index && index.getSrc().getDefiningOp<gpu::LocalAllocOp>())
      return index;
    view = op.getViewSource();
  }
  return {};
}

static int64_t getSize(gpu::MemDescIndexOp index) {
  return index.getSrc().getType().getShape().front();
}

/// The position that `value` is behind by one, if it is an advanced one.
static Value matchAdvanced(Value value, int64_t size) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || !isConstantIntValue(select.getTrueValue(), 0))
    return {};
  Value next = select.getFalseValue();
  auto wraps = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto add = next.getDefiningOp<arith::AddIOp>();
  bool fits = wraps && add && wraps.getLhs() == next &&
              wraps.getPredicate() == arith::CmpIPredicate::sge &&
              isConstantIntValue(wraps.getRhs(), size) &&
              isConstantIntValue(add.getRhs(), 1);
  return fits ? add.getLhs() : Value();
}

/// The position in iteration 0, from which it goes on by one in each.
static std::optional<int64_t> getOffset(Value position, int64_t size,
                                        scf::ForOp loop) {
  int64_t steps = 0;
  while (Value before = matchAdvanced(position, size)) {
    ++steps;
    position = before;
  }
  auto argument = dyn_cast<BlockArgument>(position);
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar())
    return std::nullopt;
  APInt init;
  Value yielded = loop.getTiedLoopYieldedValue(argument)->get();
  if (!matchPattern(loop.getTiedLoopInit(argument)->get(),
                    m_ConstantInt(&init)) ||
      matchAdvanced(yielded, size) != position)
    return std::nullopt;
  // The position may start from the one before the first, and is advanced then.
  int64_t start = init.getSExtValue();
  if (start < -1 || start >= size || start + steps < 0)
    return std::nullopt;
  return start + steps;
}

int64_t nvidia_gpu::getRingSize(Value view) {
  gpu::MemDescIndexOp index = findIndex(view);
  return index ? getSize(index) : 0;
}

std::optional<int64_t>
nvidia_gpu::getIterationsUntilOverwritten(Value read, Value written,
                                          scf::ForOp loop) {
  gpu::MemDescIndexOp from = findIndex(read), to = findIndex(written);
  if (!from || !to || from.getSrc() != to.getSrc())
    return std::nullopt;
  int64_t size = getSize(from);
  std::optional<int64_t> offset = getOffset(from.getIndex(), size, loop),
                         other = getOffset(to.getIndex(), size, loop);
  if (!offset || !other)
    return std::nullopt;
  return ((*offset - *other) % size + size) % size;
}
