//===-- AnyAnchor.cpp - Pipelines printed for any operation ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/AnyAnchor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

LogicalResult triton::runOnModule(PassManager &pm) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  StringRef passes = text;
  if (!passes.consume_front("builtin.module(") || !passes.consume_back(")") ||
      !passes.starts_with("any("))
    return success();
  // Of several parts, each is for something else in the module.
  FailureOr<OpPassManager> inner = parsePassPipeline(passes, llvm::nulls());
  if (failed(inner) || inner->getOpAnchorName() != "any")
    return success();
  bool hasModulePass = llvm::any_of(*inner, [](Pass &pass) {
    return pass.getOpName() == ModuleOp::getOperationName();
  });
  if (hasModulePass)
    static_cast<OpPassManager &>(pm) = std::move(*inner);
  return success();
}
