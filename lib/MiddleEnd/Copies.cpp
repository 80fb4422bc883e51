//===-- Copies.cpp - The part of the middle that lowers copies ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/MiddleEnd/MiddleEnd.h"

#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void MiddleEnd::buildCopies() {
  add.at(ExtensionPoint::CopiesStart);
  addCopyLowering();
  if (isExplicit)
    buildExplicitCleanup();
  else
    buildCleanup();
  addLast();
  add.at(ExtensionPoint::CopiesEnd);
}

void MiddleEnd::buildCleanup() {
  addEpilogue();
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUReduceDataDuplication());
  add(gpu::createTritonGPUReorderInstructions());
  addAddresses();
  add(createTritonLoopAwareCSE());
  add(createSymbolDCEPass());
  add(createCSEPass());
  add(createCanonicalizerPass());
  // The canonical form of a branch that only chooses is a select; on registers
  // by the dozen, the branch is better.
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
}

void MiddleEnd::buildExplicitCleanup() {
  // These leave layouts as they are.
  add(gluon::createGluonCanonicalize());
  add(createSCCPPass());
  add(createTritonLoopAwareCSE());
  add(gluon::createGluonCanonicalize());
  add(gpu::createTritonGPUCombineTensorSelectAndIf());
  add(createSymbolDCEPass());
}
