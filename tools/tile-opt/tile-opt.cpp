//===-- tile-opt.cpp - The pass driver ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/DebugOptions.h"
#include "tile/Pipeline/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef TILE_HAVE_TEST_PASSES
void registerTileTestPasses();
void registerTileTestTargets(mlir::DialectRegistry &registry);
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::triton::registerAllDialects(registry);
  mlir::triton::registerAllPasses();
#ifdef TILE_HAVE_TEST_PASSES
  registerTileTestPasses();
  registerTileTestTargets(registry);
#endif
  mlir::triton::registerDebugOptions();
  mlir::triton::registerVersion();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "tile optimizer driver\n", registry));
}
