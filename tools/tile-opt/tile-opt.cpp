//===-- tile-opt.cpp - The pass driver ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/AnyAnchor.h"
#include "tile/Pipeline/DebugOptions.h"
#include "tile/Pipeline/FailOnErrors.h"
#include "tile/Pipeline/InitAll.h"
#include "tile/Pipeline/WarnOfIdlePasses.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

#ifdef TILE_HAVE_TEST_PASSES
void registerTileTestPasses();
void registerTileTestTargets(mlir::DialectRegistry &registry);
#endif

/// As MLIR's function of that name, for pipelines printed for any operation.
static LogicalResult optMain(StringRef inputFile, StringRef outputFile,
                             DialectRegistry &registry) {
  auto config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    llvm::outs() << "Available Dialects: ";
    llvm::interleave(registry.getDialectNames(), llvm::outs(), ",");
    llvm::outs() << "\n";
    return success();
  }
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return success();
  }
  MlirOptMainConfig asWritten = config;
  config.setPassPipelineSetupFn([asWritten](PassManager &pm) {
    triton::failOnErrors(*pm.getContext());
    triton::warnOfIdlePasses(pm);
    return success(succeeded(asWritten.setupPassPipeline(pm)) &&
                   succeeded(triton::runOnModule(pm)));
  });
  std::string error;
  auto input = openInputFile(inputFile, &error);
  auto output = input ? openOutputFile(outputFile, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  triton::registerAllDialects(registry);
  triton::registerAllPasses();
#ifdef TILE_HAVE_TEST_PASSES
  registerTileTestPasses();
  registerTileTestTargets(registry);
#endif
  triton::registerDebugOptions();
  triton::registerVersion();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "tile optimizer driver\n", registry);
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(optMain(input, output, registry));
}
