//===-- LayoutPropagation.cpp - From decided layouts to open ones ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutPropagation.h"

#include "tile/Analysis/ForwardedValues.h"
#include "tile/Dialect/Gluon/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/LayoutInference.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gluon;

LayoutPropagation::LayoutPropagation(Operation *root,
                                     llvm::function_ref<bool(Attribute)> isOpen)
    : isOpenEncoding(isOpen) {
  tie(root);
}

bool LayoutPropagation::isOpen(Value value) const {
  Attribute layout = gpu::getLayout(value);
  return layout && isOpenEncoding(layout);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void LayoutPropagation::tie(Operation *root) {
  auto unite = [&](ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip(from, to)) {
      if (!isOpen(a) && !isOpen(b))
        continue;
      ties[a].push_back(b);
      ties[b].push_back(a);
    }
  };
  root->walk([&](Operation *op) { forEachForwarded(op, unite); });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult LayoutPropagation::assign(Value value, Attribute layout,
                                        Operation *origin) {
  if (!isOpen(value))
    return success();
  auto [it, isNew] = decisions.try_emplace(value, Decision{layout, origin});
  if (isNew) {
    worklist.push_back(value);
    return success();
  }
  if (it->second.layout == layout)
    return success();
  InFlightDiagnostic error = origin->emitError()
                             << "the layout of a tensor is left open, and two "
                                "uses of it want different ones; this one "
                                "wants "
                             << layout;
  error.attachNote(it->second.origin->getLoc())
      << "and this one wants " << it->second.layout;
  error.attachNote(value.getLoc())
      << "the tensor is made here; say its layout, or convert it with "
         "convert_layout for one of the uses";
  return error;
}

/// Operations whose tensor operands and results are all in one layout, or in
/// layouts that follow from each other.
static bool relatesLayouts(Operation *op) {
  return gpu::isLayoutFlexible(op) ||
         op->hasTrait<triton::OpTrait::SameOperandsEncoding>() ||
         op->hasTrait<triton::OpTrait::SameOperandsAndResultEncoding>() ||
         op->hasTrait<triton::OpTrait::SameLoadStoreOperandsEncoding>() ||
         op->hasTrait<
             triton::OpTrait::SameLoadStoreOperandsAndResultEncoding>() ||
         isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp,
             gpu::AsyncCopyGlobalToLocalOp>(op);
}

LogicalResult LayoutPropagation::spread(Operation *op, Value from) {
  if (!relatesLayouts(op))
    return success();
  Decision decision = decisions.lookup(from);
  Attribute operands = decision.layout;
  auto made = dyn_cast<OpResult>(from);
  if (made && made.getOwner() == op)
    operands = gpu::inferOperandLayout(made, decision.layout);
  else if (llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
             return operand.get() != from || gpu::acceptsAnyLayout(operand);
           }))
    return success();
  if (!operands)
    return op->emitError() << "no layout of the operands gives the layout "
                           << decision.layout << " of the result";
  for (OpOperand &operand : op->getOpOperands())
    if (!gpu::acceptsAnyLayout(operand))
      if (failed(assign(operand.get(), operands, decision.origin)))
        return failure();
  for (OpResult result : op->getResults()) {
    if (!isOpen(result))
      continue;
    Attribute layout = gpu::inferResultLayout(result, operands);
    // What a result can get to in several ways keeps what was asked of it.
    if (result == made)
      continue;
    if (!layout)
      return op->emitError() << "the operands have the layout " << operands
                             << ", from which no layout of the result follows";
    if (failed(assign(result, layout, decision.origin)))
      return failure();
  }
  return success();
}

LogicalResult LayoutPropagation::decide(Value value, Attribute layout,
                                        Operation *origin) {
  if (failed(assign(value, layout, origin)))
    return failure();
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Decision decision = decisions.lookup(next);
    for (Value tied : ties.lookup(next))
      if (failed(assign(tied, decision.layout, decision.origin)))
        return failure();
    if (Operation *op = next.getDefiningOp())
      if (failed(spread(op, next)))
        return failure();
    for (Operation *user : next.getUsers())
      if (failed(spread(user, next)))
        return failure();
  }
  return success();
}

void LayoutPropagation::apply() {
  for (auto &[value, decision] : decisions)
    gpu::setLayout(value, decision.layout);
}

void gluon::separateConstants(Operation *root,
                              llvm::function_ref<bool(Attribute)> isOpen) {
  SmallVector<Operation *> constants;
  root->walk([&](Operation *op) {
    if (!op->hasTrait<mlir::OpTrait::ConstantLike>() ||
        op->getNumResults() != 1)
      return;
    Attribute layout = gpu::getLayout(op->getResult(0));
    if (layout && isOpen(layout))
      constants.push_back(op);
  });
  for (Operation *op : constants)
    for (OpOperand &use :
         llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
      OpBuilder builder(op);
      use.set(builder.clone(*op)->getResult(0));
    }
}
