//===-- TestPasses.h - Passes that only tests use ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_TEST_LIB_TESTPASSES_H
#define TILE_TEST_LIB_TESTPASSES_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

/// Registers all of them; called by tile-opt in builds with tests.
void registerTileTestPasses();
/// Machines that `ttg.target` may name then: see Target/TestTargets.cpp.
void registerTileTestTargets(mlir::DialectRegistry &registry);
/// Those of CopyEngine/ToyTargets.cpp, which the function above registers, too.
void registerTileToyTargets(mlir::DialectRegistry &registry);

namespace mlir::triton::test {
void registerTestAxisInfoPass();
void registerTestCallGraphPass();
void registerTestLoweringPass();
void registerTestPlantBugPass();
void registerTestSharedMemoryPasses();
void registerTestUnfinishedProductsPass();
} // namespace mlir::triton::test

#endif // TILE_TEST_LIB_TESTPASSES_H
