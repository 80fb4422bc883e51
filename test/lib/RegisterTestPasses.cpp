//===-- RegisterTestPasses.cpp - All test passes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestPasses.h"

void registerTileTestPasses() {
  mlir::triton::test::registerTestAxisInfoPass();
  mlir::triton::test::registerTestCallGraphPass();
  mlir::triton::test::registerTestLoweringPass();
  mlir::triton::test::registerTestPlantBugPass();
  mlir::triton::test::registerTestSharedMemoryPasses();
  mlir::triton::test::registerTestUnfinishedProductsPass();
}
