//===-- ToyOps.td - A copy engine of no vendor -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a backend has to write for a new copy engine: operations that answer the
// interfaces of `ttg`, and a `CopyStrategy` (ToyCopies.cpp). Also
// `RingBarriers` if copies arrive at barriers (ToyFlags.cpp), and a
// `TargetModel` that offers them (ToyTargets.cpp). The pipeliner and the
// partitioner need no change.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_LIB_COPYENGINE_TOYOPS_TD
#define TILE_TEST_LIB_COPYENGINE_TOYOPS_TD

include "mlir/IR/OpBase.td"
include "tile/Dialect/TritonGPU/IR/TritonGPUOpBase.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::mlir::triton::toy";
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
}

class Toy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Toy_Dialect, mnemonic, !listconcat(traits, [TTG_OrdersMemory])>;

class Toy_Flag<string name>
    : Arg<TTG_MemDescType, name, [MemRead<SharedMemory>, MemWrite<SharedMemory>]>;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def Toy_CopyOp : Toy_Op<"copy", [
    AttrSizedOperandSegments,
    TTG_AsyncCopy<["arrivesAtBarrier"]>, TTG_BarrierUserOpInterface,
    TTG_PredicatedOpInterface]> {
  let summary = "Start to copy a block; arrives at the flag, if there is one";
  let arguments = (ins
    Arg<TT_TensorDescType, "", [MemRead<GlobalMemory>]>:$desc,
    Variadic<I32>:$indices,
    Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$slot,
    I1:$pred,
    Optional<TTG_MemDescType>:$flag);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = [{
    $desc `[` $indices `]` `into` $slot `if` $pred (`at` $flag^)? attr-dict `:`
    qualified(type($desc)) `->` qualified(type($slot))
    (`,` qualified(type($flag))^)?
  }];
}

def Toy_WaitForCopiesOp : Toy_Op<"wait_for_copies", [TTG_WaitsForCopies]> {
  let summary = "Wait for copies; without tokens, for all";
  let arguments = (ins Variadic<TTG_AsyncToken>:$tokens);
  let results = (outs TTG_AsyncToken:$token);
  let assemblyFormat = "$tokens attr-dict";
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

class Toy_FlagOp<string mnemonic, list<Trait> traits = []>
    : Toy_Op<mnemonic, !listconcat(traits, [TTG_BarrierUser])>;

def Toy_MakeFlagOp : Toy_FlagOp<"make_flag"> {
  let arguments = (ins Toy_Flag<"">:$flag, I32Attr:$arrivals);
  let assemblyFormat =
    "$flag `,` $arrivals attr-dict `:` qualified(type($flag))";
}

def Toy_EndFlagOp : Toy_FlagOp<"end_flag"> {
  let arguments = (ins Toy_Flag<"">:$flag);
  let assemblyFormat = "$flag attr-dict `:` qualified(type($flag))";
}

def Toy_AnnounceOp : Toy_FlagOp<"announce", [TTG_PredicatedOpInterface]> {
  let arguments = (ins Toy_Flag<"">:$flag, I64Attr:$bytes, I1:$pred);
  let assemblyFormat =
    "$flag `,` $bytes `if` $pred attr-dict `:` qualified(type($flag))";
}

def Toy_WaitOp : Toy_FlagOp<"wait", [
    AttrSizedOperandSegments, TTG_PredicatedOpInterface]> {
  let arguments = (ins Toy_Flag<"">:$flag, I32:$parity, Optional<I1>:$pred,
                       Variadic<TTG_MemDescType>:$buffers);
  let assemblyFormat = [{
    $flag `,` $parity (`if` $pred^)? (`for` $buffers^)? attr-dict `:`
    qualified(type($flag)) (`,` qualified(type($buffers))^)?
  }];
}

def Toy_ArriveOp : Toy_FlagOp<"arrive", [TTG_PredicatedOpInterface]> {
  let arguments = (ins Toy_Flag<"">:$flag, I32Attr:$count, Optional<I1>:$pred);
  let assemblyFormat = [{
    $flag `,` $count (`if` $pred^)? attr-dict `:` qualified(type($flag))
  }];
}

def Toy_ArriveAfterCopiesOp
    : Toy_FlagOp<"arrive_after_copies", [TTG_ArrivesAfterCopies]> {
  let arguments = (ins Toy_Flag<"">:$flag);
  let assemblyFormat = "$flag attr-dict `:` qualified(type($flag))";
}

#endif // TILE_TEST_LIB_COPYENGINE_TOYOPS_TD
