//===-- DeclaredAttributes.cpp - Discardable attributes of ttnvgpu -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/DeclaredAttributes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Exponentials.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ProgramLoop.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TTNGAliasDialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

using Is = AttributeValue;
using On = AttributeHolder;

static constexpr DeclaredAttribute kTable[] = {
    {kAllBlocksAttrName, Is::Unit, On::Operation,
     "The arrival is at the barrier of each block of the cluster; the wait is "
     "for what all of them did before."},
    {kOverProgramsAttrName, Is::Unit, On::Loop,
     "The loop runs one program of the launch in each iteration."},
    {kPolynomialPairsAttrName, Is::Count, On::Operation,
     "Of so many pairs of neighbours that a thread has, one is computed by a "
     "polynomial."},
    {kTensorMapAttrName, Is::Dictionary, On::Argument,
     "The argument is a tensor map, by value: what the map says beside base, "
     "shape and strides."},
    {kTensorMapBaseAttrName, Is::Count, On::Argument,
     "The argument is the base of the tensor of this map."},
    {kTensorMapInputAttrName, Is::Count, On::Argument,
     "The launch computes parts of tensor maps of this argument: the number of "
     "this input."},
    {kTensorMemoryAddressAttrName, Is::Count, On::Module,
     "Where the address of the block's tensor memory is in shared memory."},
};

/// Names that users of this IR know with the other prefix.
static constexpr DeclaredAttribute kAliasTable[] = {
    {kTwoCTAsAttrName, Is::Flag, On::Module,
     "Whether the multiplications of the module are by two blocks each."},
};

LogicalResult
TTNGAliasDialect::verifyOperationAttribute(Operation *op,
                                           NamedAttribute attribute) {
  return verifyDeclaredAttribute(kAliasTable, op, attribute);
}

LogicalResult TTNGAliasDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verifyDeclaredArgumentAttribute(kAliasTable, op, argument, attribute);
}

LogicalResult TTNGAliasDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kAliasTable, op, result, attribute);
}

LogicalResult
TritonNvidiaGPUDialect::verifyOperationAttribute(Operation *op,
                                                 NamedAttribute attribute) {
  return verifyDeclaredAttribute(kTable, op, attribute);
}

LogicalResult TritonNvidiaGPUDialect::verifyRegionArgAttribute(
    Operation *op, unsigned, unsigned argument, NamedAttribute attribute) {
  return verifyDeclaredArgumentAttribute(kTable, op, argument, attribute);
}

LogicalResult TritonNvidiaGPUDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyDeclaredResultAttribute(kTable, op, result, attribute);
}
