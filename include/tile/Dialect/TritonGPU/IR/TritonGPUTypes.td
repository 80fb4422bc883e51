//===-- TritonGPUTypes.td - Types of the ttg dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_TYPES_TD
#define TILE_TRITONGPU_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUDialect.td"

class TTG_Type<string cppName, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<TritonGPU_Dialect, cppName, traits> {
  let mnemonic = typeMnemonic;
}

def TTG_AsyncToken : TTG_Type<"AsyncToken", "async.token"> {
  let summary = "orders asynchronous operations";
  let description = [{
    Made by an asynchronous operation and consumed by what must come after it.
    It has no representation at run time. Example: `!ttg.async.token`
  }];
}

def TTG_MemDescType
    : TTG_Type<"MemDesc", "memdesc", [ShapedTypeInterface]> {
  let summary = "a view of on-chip memory";
  let description = [{
    A tensor in memory: shape, element type, an encoding that maps elements to
    offsets, and the memory space. The memory may be written only where
    `mutable` stands. A view of a part of a buffer also carries the shape of the
    whole buffer, because offsets depend on it. That is printed only where it
    differs from the (last dimensions of the) shape.

    The shape may have one dimension more than the encoding: that is an array of
    buffers, one after the other.

    Examples:

    ```mlir
    !ttg.memdesc<2x128x32xf16, #shared, #smem, mutable>
    !ttg.memdesc<32x16xf16, #shared, #smem, mutable, 32x32>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    "::mlir::Attribute":$encoding,
    "::mlir::Attribute":$memorySpace,
    "bool":$mutableMemory,
    ArrayRefParameter<"int64_t">:$allocShape
  );
  let builders = [
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      "::mlir::Attribute":$encoding, "::mlir::Attribute":$memorySpace,
      CArg<"bool", "false">:$mutableMemory)>,
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      "::mlir::Attribute":$encoding, "::mlir::Attribute":$memorySpace,
      "bool":$mutableMemory, "::llvm::ArrayRef<int64_t>":$allocShape)>
  ];
  // The builder with a context is generated; the two above are what to use.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    MemDescType cloneWith(std::optional<::llvm::ArrayRef<int64_t>> shape,
                          ::mlir::Type elementType) const;
    bool hasRank() const { return true; }
    /// The same view with another value of `mutable`.
    MemDescType withMutable(bool isMutable) const;
  }];
}

#endif // TILE_TRITONGPU_TYPES_TD
