//===-- SpeculateScaledDots.cpp - Loops for ordinary scales ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A scaled dot without an instruction needs a branch for scales at the ends
// of the range (DecomposeScaledDots.cpp). In a loop that is dear: in each
// iteration all threads find out together which way to go, and the dot is
// waited for. Such scales are rare, so the loop runs as if there were none, and
// notes for each thread what it saw:
//
//   %r:2 = scf.for iter_args(%acc, %seen = 0) {
//     %d = tt.dot_scaled ... %acc {fastMath = true}
//     yield %d, %seen | flags of its scales
//   }
//   %s = scf.if any(%r#1) { the loop as it was } else { %r#0 }
//
// A loop that writes nothing can run twice.
//
//===----------------------------------------------------------------------===//

#include "SpeculateScaledDots.h"
#include "DecomposeScaledDots.h"

#include "tile/Analysis/LoopSchedule.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// Whether another form is asked for, in which a second loop has no place.
static bool asksForOwnForm(scf::ForOp loop) {
  for (auto around = loop; around;
       around = around->getParentOfType<scf::ForOp>()) {
    LoopPlan plan(around);
    if (plan.isFlattened() || plan.isWarpSpecialized())
      return true;
  }
  return false;
}

/// Whether nothing tells that a loop ran twice.
static bool onlyReads(scf::ForOp loop) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(loop);
  return effects &&
         llvm::all_of(*effects,
                      [](const MemoryEffects::EffectInstance &effect) {
                        return isa<MemoryEffects::Read>(effect.getEffect());
                      });
}

static bool needsBranch(DotScaledOp product) {
  return !product.getFastMath() && (hasExponents(product.getAScale()) ||
                                    hasExponents(product.getBScale()));
}

static SmallVector<DotScaledOp> productsOf(scf::ForOp loop) {
  return llvm::to_vector(loop.getBody()->getOps<DotScaledOp>());
}

/// Has `loop` carry the flags of its dots, which it computes as if none
/// were set. Returns them behind the loop.
static FailureOr<SmallVector<Value>> carryFlags(scf::ForOp &loop) {
  SmallVector<Value> flags;
  for (DotScaledOp product : productsOf(loop)) {
    if (!needsBranch(product))
      continue;
    FailureOr<SmallVector<Value>> found = flagUnsafeScales(product);
    if (failed(found))
      return failure();
    llvm::append_range(flags, *found);
    product.setFastMath(true);
  }
  IRRewriter rewriter(loop);
  SmallVector<Value> none;
  for (Value flag : flags)
    none.push_back(createScalarOrSplatConstant(rewriter, loop.getLoc(),
                                               flag.getType(), 0));
  auto addFlags = [&](OpBuilder &b, Location loc,
                      ArrayRef<BlockArgument> seen) {
    SmallVector<Value> all;
    for (auto [before, flag] : llvm::zip_equal(seen, flags))
      all.push_back(arith::OrIOp::create(b, loc, before, flag));
    return all;
  };
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, none, /*replaceInitOperandUsesInLoop=*/false, addFlags);
  if (failed(carrying))
    return failure();
  loop = cast<scf::ForOp>(carrying->getOperation());
  return llvm::to_vector_of<Value>(loop.getResults().take_back(flags.size()));
}

/// Adds the products of the form that always runs to `products`, and those of
/// the other one to `seldom`.
static LogicalResult speculate(scf::ForOp loop,
                               SmallVectorImpl<DotScaledOp> &products,
                               SmallVectorImpl<DotScaledOp> &seldom) {
  OpBuilder b(loop);
  scf::ForOp exact = cast<scf::ForOp>(b.clone(*loop));
  FailureOr<SmallVector<Value>> flags = carryFlags(loop);
  if (failed(flags))
    return failure();
  ResultRange results = loop.getResults().drop_back(flags->size());
  b.setInsertionPointAfter(loop);
  auto branch = scf::IfOp::create(b, loop.getLoc(), exact.getResultTypes(),
                                  isAnySet(b, loop.getLoc(), *flags),
                                  /*withElseRegion=*/true);
  // Seldom executed, it takes no buffers.
  exact->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  LoopPlan(exact).setNumStages(1);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loop.getLoc(), exact.getResults());
  b.setInsertionPointToEnd(branch.elseBlock());
  auto ordinary = scf::YieldOp::create(b, loop.getLoc(), results);
  for (auto [result, chosen] : llvm::zip_equal(results, branch.getResults()))
    result.replaceAllUsesExcept(chosen, ordinary);
  llvm::append_range(products, productsOf(loop));
  llvm::append_range(seldom, productsOf(exact));
  return success();
}

LogicalResult gpu::speculateScaledDots(SmallVectorImpl<DotScaledOp> &products,
                                       SmallVectorImpl<DotScaledOp> &seldom) {
  SmallVector<DotScaledOp> all;
  llvm::MapVector<scf::ForOp, bool> loops;
  for (DotScaledOp product : products) {
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    if (loop && !asksForOwnForm(loop) && onlyReads(loop)) {
      loops[loop] |= needsBranch(product);
      continue;
    }
    all.push_back(product);
  }
  for (auto [loop, branches] : loops) {
    if (!branches)
      llvm::append_range(all, productsOf(loop));
    else if (failed(speculate(loop, all, seldom)))
      return failure();
  }
  products = std::move(all);
  return success();
}
