//===-- TritonGPUAttrInterfaces.td - Of encodings ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_ATTRINTERFACES_TD
#define TILE_TRITONGPU_ATTRINTERFACES_TD

include "mlir/IR/OpBase.td"

def LayoutEncodingTrait : AttrInterface<"LayoutEncodingTrait"> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    Every encoding of a tensor or a memory descriptor: it has a rank, and it
    says how the blocks (CTAs) of a cluster share the tensor.
  }];
  let methods = [
    InterfaceMethod<"The distribution over the blocks of a cluster.",
                    "::mlir::triton::gpu::CTALayoutAttr", "getCTALayout">,
    InterfaceMethod<"The number of dimensions.", "unsigned", "getRank">
  ];
}

def DistributedEncodingTrait
    : AttrInterface<"DistributedEncodingTrait", [LayoutEncodingTrait]> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    Encodings that spread a tensor over the registers of threads. Questions that
    depend on the shape (elements per thread, warps along a dimension, ...) are
    free functions in Dialect.h that ask the linear layout.
  }];
  let methods = [
    InterfaceMethod<[{
        The dimensions from the fastest varying to the slowest, as far as the
        encoding alone can tell.
      }], "::llvm::SmallVector<unsigned>", "getDefaultOrder">
  ];
}

def MmaEncodingTrait
    : AttrInterface<"MmaEncodingTrait", [DistributedEncodingTrait]> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    Encodings of the accumulator of a matrix instruction.
  }];
  let methods = [
    InterfaceMethod<"The grid of warps of a block.",
                    "::llvm::ArrayRef<unsigned>", "getWarpsPerCTA">,
    InterfaceMethod<"The shape of one instruction.",
                    "::llvm::ArrayRef<unsigned>", "getInstrShape">
  ];
}

def SharedEncodingTrait
    : AttrInterface<"SharedEncodingTrait", [LayoutEncodingTrait]> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    Encodings that map the elements of a tensor to offsets in shared memory.
  }];
  let methods = [
    InterfaceMethod<"The alignment in bytes that a buffer needs.",
                    "int32_t", "getAlignment">
  ];
}

#endif // TILE_TRITONGPU_ATTRINTERFACES_TD
