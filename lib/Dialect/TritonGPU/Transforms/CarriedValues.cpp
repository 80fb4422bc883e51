//===-- CarriedValues.cpp - What loops hand on ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonGPU/Transforms/CarriedValues.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton;

static gpu::CarriedValue addToFor(scf::ForOp loop, Value init) {
  IRRewriter rewriter(loop);
  auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>(arguments.begin(), arguments.end());
  };
  auto result = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false, keep));
  return {result, result.getRegionIterArgs().back(),
          result.getBody()->getTerminator()};
}

static gpu::CarriedValue addToWhile(scf::WhileOp loop, Value init) {
  OpBuilder builder(loop);
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(init);
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(init.getType());
  auto result = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  result->setAttrs(loop->getAttrs());
  result.getBefore().takeBody(loop.getBefore());
  result.getAfter().takeBody(loop.getAfter());
  Value before =
      result.getBeforeBody()->addArgument(init.getType(), init.getLoc());
  Value after =
      result.getAfterBody()->addArgument(init.getType(), init.getLoc());
  result.getConditionOp().getArgsMutable().append(before);
  for (auto [from, to] : llvm::zip(loop.getResults(), result.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
  Operation *yield = result.getAfterBody()->getTerminator();
  yield->insertOperands(yield->getNumOperands(), after);
  return {result, after, yield};
}

gpu::CarriedValue gpu::addCarriedValue(Operation *loop, Value init) {
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    return addToFor(counted, init);
  return addToWhile(cast<scf::WhileOp>(loop), init);
}
