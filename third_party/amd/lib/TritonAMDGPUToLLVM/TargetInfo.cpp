//===-- TargetInfo.cpp - Threads, barriers and exchanges ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to memory are in TargetInfoMemory.cpp.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::triton;

void amd::TargetInfo::markKernel(LLVM::LLVMFuncOp function, int threads, int,
                                 std::optional<int>) const {
  Builder builder(function.getContext());
  function->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  std::string size = std::to_string(threads);
  function->setAttr("rocdl.flat_work_group_size",
                    builder.getStringAttr(size + "," + size));
  function->setAttr("rocdl.reqd_work_group_size",
                    builder.getDenseI32ArrayAttr({threads, 1, 1}));
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

Value amd::TargetInfo::getThreadId(const LLVMBuilder &b) const {
  return b.intrinsic(b.intTy(32), "llvm.amdgcn.workitem.id.x", {});
}

Value amd::TargetInfo::getProgramId(const LLVMBuilder &b, int axis, int) const {
  static constexpr StringLiteral names[] = {"llvm.amdgcn.workgroup.id.x",
                                            "llvm.amdgcn.workgroup.id.y",
                                            "llvm.amdgcn.workgroup.id.z"};
  return b.intrinsic(b.intTy(32), names[axis], {});
}

Value amd::TargetInfo::getNumPrograms(const LLVMBuilder &b, int axis,
                                      int) const {
  // The hidden arguments of a kernel start with the numbers of workgroups.
  constexpr unsigned constantSpace = 4;
  Value hidden =
      b.intrinsic(b.ptrTy(constantSpace), "llvm.amdgcn.implicitarg.ptr", {});
  return b.load(b.intTy(32), b.gep(hidden, b.intTy(32), axis), /*align=*/4);
}

Value amd::TargetInfo::getBlockInCluster(const LLVMBuilder &b) const {
  return b.i32(0);
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

/// MachineSink takes neither fences nor barriers for stores, and moves a load
/// behind them into a branch that alone uses its result. This stops it.
static void keepAccessesBefore(const LLVMBuilder &b) {
  MLIRContext *context = b.getContext();
  b.create<LLVM::InlineAsmOp>(
      TypeRange(), ValueRange(), /*asm_string=*/"", /*constraints=*/"~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
}

/// Waits until all accesses to LDS are done. Fences ask for that, too. But LLVM
/// drops the wait of a fence in a loop that is entered with nothing to wait
/// for. It does not look again at what the end of the loop leaves undone.
static void waitForLDS(const LLVMBuilder &b, const amd::AMDTarget &facts) {
  if (facts.wmmaVersion >= 2) {
    b.intrinsic({}, "llvm.amdgcn.s.wait.dscnt", ValueRange{b.intVal(16, 0)});
    return;
  }
  // All ones but for lgkmcnt, as the generations place the counters.
  int32_t lgkmOnly = facts.mfmaVersion ? 0xc07f : 0xfc07;
  b.intrinsic({}, "llvm.amdgcn.s.waitcnt", ValueRange{b.i32(lgkmOnly)});
}

void amd::TargetInfo::barrier(const LLVMBuilder &b,
                              const BarrierParticipants &who) const {
  using Kind = BarrierParticipants::Kind;
  auto fence = [&](LLVM::AtomicOrdering ordering, StringRef scope) {
    b.create<LLVM::FenceOp>(ordering, scope);
  };
  keepAccessesBefore(b);
  switch (who.kind) {
  case Kind::Warp:
    // A wave's accesses happen in order: only LLVM must keep it.
    fence(LLVM::AtomicOrdering::acq_rel, "wavefront");
    b.intrinsic({}, "llvm.amdgcn.wave.barrier", {});
    return;
  case Kind::Block:
    fence(LLVM::AtomicOrdering::release, "workgroup");
    waitForLDS(b, facts);
    b.intrinsic({}, "llvm.amdgcn.s.barrier", {});
    fence(LLVM::AtomicOrdering::acquire, "workgroup");
    return;
  case Kind::WarpGroup:
    emitError(b.getLoc(), "partitions of warps have no barriers of their own "
                          "on this target");
    return;
  case Kind::Cluster:
    emitError(b.getLoc(), "this target has no clusters of blocks");
    return;
  }
}

void amd::TargetInfo::finishAccessesBefore(const LLVMBuilder &b,
                                           Operation *copy) const {
  if (gpu::lookupNumWarps(copy) == 1)
    waitForLDS(b, facts);
}

//===----------------------------------------------------------------------===//
// Exchange inside a wave
//===----------------------------------------------------------------------===//

/// Data-parallel primitives: a move whose source is another lane of the row, of
/// 16 lanes, by a fixed pattern.
static Value moveInRow(const LLVMBuilder &b, Value word, int control) {
  Value all = b.i32(0xf);
  return b.intrinsic(word.getType(), "llvm.amdgcn.update.dpp",
                     ValueRange{b.poison(word.getType()), word, b.i32(control),
                                all, all, b.i1(true)});
}

namespace {
/// The patterns that are exchanges.
enum DPPControl : int {
  QuadPerm = 0x000,      ///< two bits for each of four lanes
  RowShare = 0x150,      ///< the lane of the row in the low bits
  RowRotate = 0x120,     ///< by the number in the low bits
  RowMirror = 0x140,     ///< lane ^ 15
  RowHalfMirror = 0x141, ///< lane ^ 7
  RowXMask = 0x160       ///< lane ^ the number in the low bits
};
} // namespace

static Value exchangeInQuad(const LLVMBuilder &b, Value word, int laneMask) {
  if (laneMask == 0)
    return word;
  int control = QuadPerm;
  for (int lane = 0; lane < 4; ++lane)
    control |= (lane ^ laneMask) << (2 * lane);
  return moveInRow(b, word, control);
}

/// A mask below 16 where there is no row_xmask: at most two moves.
static Value exchangeInRow(const LLVMBuilder &b, Value word, int laneMask) {
  if ((laneMask & 12) == 12)
    return exchangeInQuad(b, moveInRow(b, word, RowMirror), laneMask ^ 15);
  if (laneMask & 8)
    return exchangeInQuad(b, moveInRow(b, word, RowRotate | 8), laneMask ^ 8);
  if (laneMask & 4)
    return exchangeInQuad(b, moveInRow(b, word, RowHalfMirror), laneMask ^ 7);
  return exchangeInQuad(b, word, laneMask);
}

Value amd::TargetInfo::shuffleXor(const LLVMBuilder &b, Value word,
                                  int laneMask) const {
  Type i32 = b.intTy(32);
  if (laneMask < 16)
    return facts.hasRowXMask ? moveInRow(b, word, RowXMask | laneMask)
                             : exchangeInRow(b, word, laneMask);
  if (laneMask < 32 && facts.hasRowXMask) {
    // From the other row: four bits for each lane of this one.
    uint64_t lanes = 0;
    for (uint64_t lane = 0; lane < 16; ++lane)
      lanes |= (lane ^ (laneMask & 15)) << (4 * lane);
    return b.intrinsic(i32, "llvm.amdgcn.permlanex16",
                       ValueRange{word, word,
                                  b.i32(static_cast<int32_t>(lanes)),
                                  b.i32(static_cast<int32_t>(lanes >> 32)),
                                  b.i1(true), b.i1(false)});
  }
  if (laneMask < 32) {
    // Inside 32 lanes: (lane & 31) ^ mask.
    return b.intrinsic(i32, "llvm.amdgcn.ds.swizzle",
                       ValueRange{word, b.i32(laneMask << 10 | 0x1f)});
  }
  Value lane = b.and_(getThreadId(b), b.i32(model.getThreadsPerWarp() - 1));
  return shuffleIdx(b, word, b.xor_(lane, b.i32(laneMask)));
}

Value amd::TargetInfo::shuffleBy(const LLVMBuilder &b, Value word,
                                 int delta) const {
  Value lane = b.and_(getThreadId(b), b.i32(model.getThreadsPerWarp() - 1));
  return shuffleIdx(b, word, b.add(lane, b.i32(delta)));
}

Value amd::TargetInfo::shuffleMasked(const LLVMBuilder &b, Value word,
                                     uint32_t keep, uint32_t set) const {
  uint32_t lanes = model.getThreadsPerWarp() - 1;
  keep &= lanes & ~set;
  if (!keep)
    return shuffleIdx(b, word, b.i32(set));
  // Inside a row, and inside four lanes of it.
  if (keep >> 4 == lanes >> 4 && !(keep & 15))
    return moveInRow(b, word, RowShare | set);
  if (keep >> 2 == lanes >> 2) {
    int control = QuadPerm;
    for (uint32_t lane = 0; lane < 4; ++lane)
      control |= ((lane & keep) | set) << (2 * lane);
    return moveInRow(b, word, control);
  }
  // Inside 32 lanes.
  if (keep >> 5 == lanes >> 5)
    return b.intrinsic(b.intTy(32), "llvm.amdgcn.ds.swizzle",
                       ValueRange{word, b.i32((keep & 0x1f) | set << 5)});
  Value lane = b.and_(getThreadId(b), b.i32(keep));
  return shuffleIdx(b, word, b.or_(lane, b.i32(set)));
}

Value amd::TargetInfo::shuffleIdx(const LLVMBuilder &b, Value word,
                                  Value lane) const {
  // One lane for all.
  if (lane.getDefiningOp<LLVM::ConstantOp>())
    return b.intrinsic(word.getType(), "llvm.amdgcn.readlane",
                       ValueRange{word, lane});
  return b.intrinsic(word.getType(), "llvm.amdgcn.ds.bpermute",
                     ValueRange{b.shl(lane, b.i32(2)), word});
}

Value amd::TargetInfo::warpReduce(const LLVMBuilder &, Operation *,
                                  Value) const {
  return {};
}
