//===-- Pipeline.cpp - The stage that all backends share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/Triton/Transforms/Pipeline.h"

#include "tile/Dialect/Triton/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void triton::buildTTIRPipeline(const PassAdder &add,
                               const TTIROptions &options) {
  add.at(ExtensionPoint::TTIRStart);
  add(createInlinerPass());
  add(createTritonCheckOffsets());
  add(createTritonRewriteTensorPointer());
  add(createTritonRewriteTensorDescriptorToPointer({.onlySplit = true}));
  add(createTritonSplitShapes());
  add(createTritonUnpackMaps());
  add(createCanonicalizerPass());
  add(createTritonCombine());
  add(createTritonReorderBroadcast());
  add(createTritonUnsignedIndices());
  add(createCSEPass());
  add(createTritonLICM());
  add(createSymbolDCEPass());
  add(createTritonUndefinedLanes({.fill = options.fillUndefinedLanes}));
  add(createTritonLoopUnroll());
  add.at(ExtensionPoint::TTIREnd);
}
