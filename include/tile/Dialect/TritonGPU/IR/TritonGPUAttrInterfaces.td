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
    Encodings of the accumulator of a matrix instruction. They say what is
    particular to an instruction, so that nobody else names one.
  }];
  let methods = [
    InterfaceMethod<"The grid of warps of a block.",
                    "::llvm::ArrayRef<unsigned>", "getWarpsPerCTA">,
    InterfaceMethod<"The shape of one instruction.",
                    "::llvm::ArrayRef<unsigned>", "getInstrShape">,
    InterfaceMethod<"The threads of a warp that the instruction is for.",
                    "unsigned", "getThreadsPerWarp", (ins), "",
                    [{ return 32; }]>,
    InterfaceMethod<[{
        The linear layout of an accumulator of this shape. A failure has been
        reported to `emitError`, if there is one.
      }], "::llvm::FailureOr<::mlir::triton::LinearLayout>",
      "getAccumulatorLayout",
      (ins "::llvm::ArrayRef<int64_t>":$shape,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<[{
        The same of an operand, the left one (0) or the right one (1), of which
        a thread holds `kWidth` neighbours along K.
      }], "::llvm::FailureOr<::mlir::triton::LinearLayout>",
      "getOperandLayout",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "unsigned":$opIdx,
           "unsigned":$kWidth,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<"The `kWidth` of operands for which none is given; zero "
                    "where it has to be.",
      "unsigned", "getDefaultKWidth", (ins "::mlir::Type":$elementType), "",
      [{ return 0; }]>,
    InterfaceMethod<"Verifies that the operand may be in registers at all.",
      "::llvm::LogicalResult", "verifyOperand",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "unsigned":$opIdx), "", [{ return ::llvm::success(); }]>
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
