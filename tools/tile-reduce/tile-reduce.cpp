//===-- tile-reduce.cpp - Reduces a module that shows a bug ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reduction.h"

#include "tile/Pipeline/DebugOptions.h"
#include "tile/Pipeline/InitAll.h"

#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::triton::registerAllDialects(registry);
  mlir::triton::registerKernelReduction();
  mlir::triton::registerAllPasses();
  mlir::triton::registerVersion();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
