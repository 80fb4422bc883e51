//===-- tile-lsp-server.cpp - The language server for tile's IR -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NamedServer.h"

#include "tile/Pipeline/DebugOptions.h"
#include "tile/Pipeline/InitAll.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  return runNamedServer("tile-lsp-server", TILE_VERSION, [&] {
    mlir::DialectRegistry registry;
    mlir::triton::registerAllDialects(registry);
    mlir::triton::registerVersion();
    return int(mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)));
  });
}
