//===-- VerifyChanges.cpp - Verify what passes changed --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/VerifyChanges.h"

#include "PassAccess.h"

#include "tile/Analysis/UnfinishedProducts.h"
#include "tile/Pipeline/FailOnErrors.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
llvm::hash_code hashOf(Operation &op, llvm::hash_code hash);

llvm::hash_code hashOf(Block &block, llvm::hash_code hash) {
  hash = llvm::hash_combine(hash, &block);
  for (BlockArgument argument : block.getArguments())
    hash = llvm::hash_combine(hash, argument.getAsOpaquePointer(),
                              argument.getType().getAsOpaquePointer(),
                              argument.getLoc().getAsOpaquePointer());
  for (Operation &op : block)
    hash = hashOf(op, hash);
  return hash;
}

llvm::hash_code hashOf(Operation &op, llvm::hash_code hash) {
  // Types, attributes and places are unique in a context.
  hash =
      llvm::hash_combine(hash, &op, op.getName().getAsOpaquePointer(),
                         op.getLoc().getAsOpaquePointer(),
                         op.getDiscardableAttrDictionary().getAsOpaquePointer(),
                         op.hashProperties());
  for (Value operand : op.getOperands())
    hash = llvm::hash_combine(hash, operand.getAsOpaquePointer());
  for (Type type : op.getResultTypes())
    hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
  for (Block *successor : op.getSuccessors())
    hash = llvm::hash_combine(hash, successor);
  for (Region &region : op.getRegions()) {
    hash = llvm::hash_combine(hash, &region);
    for (Block &block : region)
      hash = hashOf(block, hash);
  }
  return hash;
}
} // namespace

uint64_t triton::fingerprint(Operation *root) {
  return hashOf(*root, llvm::hash_code(0));
}

void triton::verifyOnlyChanges(MLIRContext &context) {
  context.registerActionHandler(
      [](llvm::function_ref<void()> run, const tracing::Action &action) {
        const auto *execution = dyn_cast<PassExecutionAction>(&action);
        if (!execution)
          return run();
        Operation *op = execution->getOp();
        const Pass &pass = execution->getPass();
        auto runAndVerify = [&] {
          uint64_t before = fingerprint(op);
          run();
          if (fingerprint(op) == before)
            PassAccess::preserveAnalyses(pass);
          else // An error makes the pass fail.
            (void)verifyUnfinishedProducts(op);
        };
        runFailingOnErrors(runAndVerify, pass, *op->getContext());
      });
}
