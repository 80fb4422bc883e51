//===-- TritonGPUWarpOps.td - Warp groups ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_WARPOPS_TD
#define TILE_TRITONGPU_WARPOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def TTG_WarpIdOp : TTG_Op<"warp_id", [Pure]> {
  let summary = "index of the warp in its block";
  let description = [{
    The index of the calling warp, counted from 0 in the block or, inside a
    partition of `ttg.warp_specialize`, in that partition.

    Example:

    ```mlir
    %w = ttg.warp_id
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def TTG_WarpSpecializeOp : TTG_Op<"warp_specialize", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "run several regions at once, on different warps";
  let description = [{
    The warps that reach this operation run the default region, whose
    `ttg.warp_yield` gives the results. Meanwhile, each partition region is run
    by further warps of its own, as many as its `num_warps` says. All are done
    when the operation is.

    The default region may use values from above it. The partitions may not:
    they see the operands as their block arguments, so that a value that warps
    must pass to each other shows.

    `partitionNumWarps` holds the warps of each partition. Later steps add
    `warpGroupStartIds`, the first warp of each partition. `requestedRegisters`
    is an estimate of the registers that a thread of each partition needs, and
    `actualRegisters` those that each group gets, the default one first.

    Example:

    ```mlir
    %0 = ttg.warp_specialize(%a) attributes {requestedRegisters = array<i32: 24>}
    default {
      %1 = arith.constant 1 : i32
      ttg.warp_yield %1 : i32
    }
    partition0(%b: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32
    ```
  }];
  let arguments = (ins
    Variadic<AnyType>:$explicitCaptures,
    DenseI32ArrayAttr:$partitionNumWarps,
    OptionalAttr<DenseI32ArrayAttr>:$warpGroupStartIds,
    OptionalAttr<DenseI32ArrayAttr>:$requestedRegisters,
    OptionalAttr<DenseI32ArrayAttr>:$actualRegisters
  );
  let results = (outs Variadic<AnyType>:$defaultPassthrough);
  // The partitions live in an operation of their own, because only a whole
  // operation can be isolated from above.
  let regions = (region
    MinSizedRegion<1>:$defaultRegion,
    SizedRegion<1>:$partitionOpHolder
  );
  let builders = [
    // Makes the holder with `numPartitions` empty regions.
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes,
                   "::llvm::ArrayRef<int32_t>":$partitionNumWarps,
                   "unsigned":$numPartitionRegions)>,
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes,
                   "::mlir::ValueRange":$explicitCaptures,
                   "::llvm::ArrayRef<int32_t>":$partitionNumWarps)>
  ];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableArrayRef<::mlir::Region> getPartitionRegions();
    WarpSpecializePartitionsOp getPartitionOp();
    /// Warps of all partitions, without the default group.
    unsigned getTotalPartitionWarps();
  }];
}

def TTG_WarpSpecializePartitionsOp : TTG_Op<"warp_specialize.partitions", [
    IsolatedFromAbove, RecursiveMemoryEffects, Terminator,
    HasParent<"WarpSpecializeOp">]> {
  let summary = "holder of the partitions of a ttg.warp_specialize";
  let description = [{
    Not written by hand: it is part of the syntax of `ttg.warp_specialize`, and
    exists because the partition regions are isolated from above while the
    default region is not.

    Example, in generic form:

    ```mlir
    "ttg.warp_specialize.partitions"() ({
      ttg.warp_return
    }) : () -> ()
    ```
  }];
  let regions = (region VariadicRegion<MinSizedRegion<1>>:$partitionRegions);
  let hasVerifier = 1;
}

def TTG_WarpYieldOp : TTG_Op<"warp_yield", [
    Pure, Terminator, ReturnLike, HasParent<"WarpSpecializeOp">]> {
  let summary = "end of the default region of ttg.warp_specialize";
  let description = [{
    Its operands are the results of the enclosing `ttg.warp_specialize`.

    Example:

    ```mlir
    ttg.warp_yield %0 : i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
  let builders = [OpBuilder<(ins), [{ /* no results */ }]>];
  let hasVerifier = 1;
}

def TTG_WarpReturnOp : TTG_Op<"warp_return", [
    Pure, Terminator, ReturnLike, HasParent<"WarpSpecializePartitionsOp">]> {
  let summary = "end of a partition of ttg.warp_specialize";
  let description = [{
    The warps of the partition are done. They pass no values.

    Example:

    ```mlir
    ttg.warp_return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_TRITONGPU_WARPOPS_TD
