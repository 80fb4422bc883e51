//===-- TritonNvidiaGPUTypes.td - Operand kinds, resources -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_TYPES_TD
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "tile/Dialect/TritonNvidiaGPU/IR/TritonNvidiaGPUDialect.td"

//===----------------------------------------------------------------------===//
// What an operation touches. Values of the two kinds of on-chip memory never
// alias, so that membar and CSE may tell them apart.
//===----------------------------------------------------------------------===//

def TTNG_GlobalMemory : Resource<"::mlir::triton::GlobalMemory">;
def TTNG_SharedMemory : Resource<"::mlir::triton::gpu::SharedMemory">;
def TTNG_TensorMemory : Resource<"::mlir::triton::nvidia_gpu::TensorMemory">;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def TTNG_TensorDescIm2ColType
    : TypeDef<TritonNvidiaGPU_Dialect, "TensorDescIm2Col"> {
  let mnemonic = "tensordesc_im2col";
  let summary = "Descriptor of a tensor of which pixels are copied";
  let description = [{
    Refers to a tensor in global memory of 3 to 5 dimensions, the outermost of
    which counts images and the innermost channels. A copy reads pixels from it: so
    many rows of so many channels, as the block type says. The rest is known where
    the host makes the tensor map.

    Only kernels take such a descriptor from the host. Once its tensor map is a
    parameter of the kernel, it is a `!tt.tensordesc` like others, and the offsets
    of a copy say that it is one of pixels.

    ```mlir
    !ttnvgpu.tensordesc_im2col<64x64xf16, #shared>
    ```
  }];
  let parameters = (ins "RankedTensorType":$blockType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "RankedTensorType":$blockType), [{
      return $_get(blockType.getContext(), blockType);
    }]>
  ];
  let assemblyFormat = "`<` custom<BlockType>($blockType) `>`";
  let skipDefaultBuilders = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Operand kinds. All are matched by the C++ class, so that the element type,
// shape and space are left to verifiers that can say what they expected.
//===----------------------------------------------------------------------===//

def TTNG_MemDesc : Type<
    CPred<"::llvm::isa<::mlir::triton::gpu::MemDescType>($_self)">,
    "memory descriptor", "::mlir::triton::gpu::MemDescType">;

def TTNG_TensorDesc : Type<
    CPred<"::llvm::isa<::mlir::triton::TensorDescType>($_self)">,
    "tensor descriptor", "::mlir::triton::TensorDescType">;

def TTNG_AnyTensorDesc : AnyTypeOf<[TTNG_TensorDesc, TTNG_TensorDescIm2ColType],
                                   "tensor descriptor">;

def TTNG_Ptr : Type<
    CPred<"::llvm::isa<::mlir::triton::PointerType>($_self)">,
    "pointer", "::mlir::triton::PointerType">;

def TTNG_Tensor : Type<
    CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
    "ranked tensor", "::mlir::RankedTensorType">;

def TTNG_I32Tensor1D : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() == 1">,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self)"
               ".getElementType().isSignlessInteger(32)">]>,
    "one-dimensional tensor of i32", "::mlir::RankedTensorType">;

def TTNG_TensorOrMemDesc
    : AnyTypeOf<[TTNG_Tensor, TTNG_MemDesc], "ranked tensor or memory descriptor">;

def TTNG_Token
    : Type<CPred<"::llvm::isa<::mlir::triton::gpu::AsyncTokenType>($_self)">,
           "async token", "::mlir::triton::gpu::AsyncTokenType">,
      BuildableType<
          "::mlir::triton::gpu::AsyncTokenType::get($_builder.getContext())">;

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_TYPES_TD
