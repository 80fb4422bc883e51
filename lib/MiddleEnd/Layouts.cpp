//===-- Layouts.cpp - The part of the middle that chooses layouts ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/MiddleEnd/MiddleEnd.h"

#include "tile/Dialect/Gluon/Transforms/Passes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::triton;

void MiddleEnd::addMatrixInstructions() {
  add(gpu::createTritonGPUAccelerateMatmul());
}

void MiddleEnd::buildLayouts() {
  assert(!isExplicit && "explicit programs have layouts");
  add.at(ExtensionPoint::LayoutsStart);
  // Of memory accesses first, then of matrix products.
  add(gpu::createTritonGPUCoalesce());
  add(gpu::createTritonGPUF32DotTC());
  add(gpu::createTritonGPURemoveLayoutConversions());
  addMatrixInstructions();
  add(gpu::createTritonGPURemoveLayoutConversions());
  add(gpu::createTritonGPUOptimizeThreadLocality());
  add(gpu::createTritonGPUOptimizeDotOperands());
  add(createCanonicalizerPass());
  add(createTritonLoopAwareCSE());
}

void triton::buildOpenLayouts(const PassAdder &add) {
  add(gluon::createGluonInferCoalescedEncodings());
  add(gluon::createGluonResolveAutoEncodings());
}
