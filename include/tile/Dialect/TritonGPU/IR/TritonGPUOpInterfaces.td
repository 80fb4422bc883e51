//===-- TritonGPUOpInterfaces.td - Copies and barriers -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TRITONGPU_OPINTERFACES_TD
#define TILE_TRITONGPU_OPINTERFACES_TD

include "mlir/IR/OpBase.td"

class TTG_NativeOpTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::triton::gpu";
}

// OpInterfaces.h says what they mean.
def TTG_WaitsForCopies : TTG_NativeOpTrait<"WaitsForCopies">;
def TTG_ArrivesAfterCopies : TTG_NativeOpTrait<"ArrivesAfterCopies">;
def TTG_BlockBarrier : TTG_NativeOpTrait<"BlockBarrier">;
def TTG_OrdersMemory : TTG_NativeOpTrait<"OrdersMemory">;
def TTG_OnChipOnly : TTG_NativeOpTrait<"OnChipOnly">;

def TTG_AsyncCopyOpInterface : OpInterface<"AsyncCopyOpInterface"> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    Starts to copy to shared memory, and does not wait for that.
  }];
  let methods = [
    InterfaceMethod<"The buffer that the copy writes.",
      "::mlir::Value", "getCopyTarget">,
    InterfaceMethod<[{
        Whether the copy arrives at a barrier in shared memory when it is done.
        If not, an operation that takes its token waits for it.
      }], "bool", "arrivesAtBarrier", (ins), "", [{ return false; }]>
  ];
}

def TTG_BarrierUserOpInterface : OpInterface<"BarrierUserOpInterface"> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    An operation on a barrier that lies in shared memory (an mbarrier): threads
    and asynchronous copies arrive at it, and threads wait until it has counted
    enough arrivals. Such operations are atomic with respect to each other while
    the barrier lives.
  }];
  let methods = [
    InterfaceMethod<"What the operation does to its barrier.",
      "::mlir::triton::gpu::BarrierUse", "getBarrierUse", (ins), "",
      [{ return ::mlir::triton::gpu::BarrierUse::Arrive; }]>
  ];
}

def TTG_PredicatedOpInterface : OpInterface<"PredicatedOpInterface"> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    An operation that does nothing at all where its predicate, an i1, is false.
  }];
  let methods = [
    InterfaceMethod<"The predicate; an empty range where it may be added.",
      "::mlir::MutableOperandRange", "getPredMutable">
  ];
}

def TTG_ScratchMemoryOpInterface : OpInterface<"ScratchMemoryOpInterface"> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    An operation that needs shared memory while it runs.
  }];
  let methods = [
    InterfaceMethod<"How many bytes.", "int64_t", "getScratchBytes">,
    InterfaceMethod<"To how many bytes they are aligned.",
      "int64_t", "getScratchAlignment">
  ];
}

def TTG_PointerSourceOpInterface : OpInterface<"PointerSourceOpInterface"> {
  let cppNamespace = "::mlir::triton::gpu";
  let description = [{
    An operation whose results point to the memory that another value points to.
  }];
  let methods = [
    InterfaceMethod<"That value; null where nothing is known of it.",
      "::mlir::Value", "getPointerSource">
  ];
}

//===----------------------------------------------------------------------===//
// For lists of traits: operations implement, beside the methods without a
// default, those in `methods`.
//===----------------------------------------------------------------------===//

class TTG_AsyncCopy<list<string> methods = []>
    : DeclareOpInterfaceMethods<TTG_AsyncCopyOpInterface, methods>;
def TTG_BarrierUser : DeclareOpInterfaceMethods<TTG_BarrierUserOpInterface,
                                                ["getBarrierUse"]>;

#endif // TILE_TRITONGPU_OPINTERFACES_TD
