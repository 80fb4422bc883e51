//===-- ConvertBufferOps.cpp - tritonamdgpu-convert-buffer-ops ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/BufferAtomics.h"
#include "amd/IR/Dialect.h"
#include "amd/TritonAMDGPUTransforms/BufferBase.h"
#include "amd/TritonAMDGPUTransforms/Passes.h"
#include "amd/TritonAMDGPUTransforms/UniformOffsets.h"

#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/Decisions.h"
#include "tile/Dialect/Triton/IR/MemoryOps.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tritonamdgpu-convert-buffer-ops"

namespace mlir::triton::amd {
#define GEN_PASS_DEF_TRITONAMDGPUCONVERTBUFFEROPS
#include "amd/TritonAMDGPUTransforms/Passes.h.inc"
} // namespace mlir::triton::amd

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;
using namespace mlir::triton::amdgpu;

namespace {
struct BaseAndOffsets {
  Value base, offsets;
};

struct ConvertBufferOps
    : amd::impl::TritonAMDGPUConvertBufferOpsBase<ConvertBufferOps> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    setAMDTarget(module, {archGenerationName, gfxArch});
    FailureOr<const AMDTarget *> target = getAMDTarget(module);
    if (failed(target))
      return signalPassFailure();
    if (!(*target)->bufferFlags)
      return;
    auto computed = OffsetRanges::compute(module);
    if (failed(computed))
      return signalPassFailure();
    ranges = computed->get();
    SmallVector<Operation *> accesses;
    module.walk([&](Operation *op) {
      if (isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp,
              gpu::AsyncCopyGlobalToLocalOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      bool converted =
          llvm::TypeSwitch<Operation *, bool>(op)
              .Case<LoadOp, StoreOp, gpu::AsyncCopyGlobalToLocalOp>(
                  [&](auto access) { return convert(access); })
              .Case<AtomicRMWOp, AtomicCASOp>(
                  [&](auto access) { return convert(access, **target); });
      ++(converted ? numConverted : numLeft);
    }
    markScalarOffsets(module);
    ranges = nullptr;
  }

private:
  /// The base and the offsets of pointers, where all that is accessed lies in
  /// the bounds of a buffer.
  std::optional<BaseAndOffsets> find(Value pointers) const {
    auto add = pointers.getDefiningOp<AddPtrOp>();
    auto splat = add ? add.getPtr().getDefiningOp<SplatOp>() : SplatOp();
    // What users state of pointers would be forgotten.
    if (!splat || !add->getDiscardableAttrs().empty())
      return std::nullopt;
    Value base = splat.getSrc(), offsets = add.getOffset();
    auto type = cast<PointerType>(base.getType());
    Type element = type.getPointeeType();
    if (!element.isIntOrFloat() || type.getAddressSpace() != 1 ||
        !getElementTypeOrSelf(offsets.getType()).isInteger(32) ||
        !ranges->isNonNegative(offsets))
      return std::nullopt;
    int64_t bytes = (element.getIntOrFloatBitWidth() + 7) / 8;
    if (ranges->getMax(offsets) >= kBufferBytes / bytes &&
        !requireSmallBuffer(base, *ranges)) {
      LDBG() << "may be too far from its base: " << *add;
      return std::nullopt;
    }
    return BaseAndOffsets{base, offsets};
  }

  /// Whether a loop loads from one place again and again: it may wait for what
  /// others store there.
  static bool isRepeated(Operation *op, const BaseAndOffsets &place) {
    for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      if (loop.isDefinedOutsideOfLoop(place.base) &&
          loop.isDefinedOutsideOfLoop(place.offsets))
        return true;
    return false;
  }

  /// Whether a loop moves the base: it takes a descriptor of its own in each
  /// iteration.
  static bool isMovedByLoop(Operation *access, AddPtrOp step) {
    auto loop = access->getParentOfType<LoopLikeOpInterface>();
    return loop && loop.isDefinedOutsideOfLoop(step.getPtr()) &&
           !loop.isDefinedOutsideOfLoop(step.getOffset());
  }

  /// What moves the base of a small argument may be the offset that all lanes
  /// share. This is done where it saves descriptors: in loops, and where it
  /// moves several arguments.
  void markScalarOffsets(ModuleOp module) {
    SmallVector<std::pair<Operation *, AddPtrOp>> steps;
    llvm::DenseMap<Value, llvm::SmallDenseSet<Value>> moved;
    module.walk([&](Operation *op) {
      Value base = llvm::TypeSwitch<Operation *, Value>(op)
                       .Case<BufferLoadOp, BufferStoreOp, BufferLoadToLocalOp>(
                           [](auto access) { return access.getPtr(); })
                       .Default([](Operation *) { return Value(); });
      auto step = base ? base.getDefiningOp<AddPtrOp>() : AddPtrOp();
      if (!step || !isSmallBuffer(base, *ranges))
        return;
      steps.emplace_back(op, step);
      moved[step.getOffset()].insert(step.getPtr());
    });
    for (auto [access, step] : steps) {
      if (!isMovedByLoop(access, step) && moved[step.getOffset()].size() == 1)
        continue;
      access->setAttr(kScalarOffsetAttrName,
                      UnitAttr::get(access->getContext()));
      ++numScalarOffsets;
    }
  }

  static CacheModifier getCache(CacheModifier cache, EvictionPolicy evict) {
    return evict == EvictionPolicy::EVICT_FIRST ? CacheModifier::CS : cache;
  }

  bool convert(LoadOp op) {
    // One thread makes a load for the others from pointers only.
    if (isLoadedOnce(op) || !op.getBoundaryCheck().empty())
      return false;
    std::optional<BaseAndOffsets> place = find(op.getPtr());
    if (!place || isRepeated(op, *place))
      return false;
    OpBuilder b(op);
    auto made = BufferLoadOp::create(
        b, op.getLoc(), op.getType(), place->base, place->offsets,
        /*stride=*/Value(), getCache(op.getCache(), op.getEvict()),
        op.getMask(), op.getOther());
    op.replaceAllUsesWith(made.getResult());
    op.erase();
    return true;
  }

  bool convert(gpu::AsyncCopyGlobalToLocalOp op) {
    if (op.getIsVolatile())
      return false;
    std::optional<BaseAndOffsets> place = find(op.getSrc());
    if (!place)
      return false;
    OpBuilder b(op);
    auto made = BufferLoadToLocalOp::create(
        b, op.getLoc(), op.getToken().getType(), op.getResult(), place->base,
        place->offsets, op.getMask(), op.getOther(), /*stride=*/Value(),
        getCache(op.getCache(), op.getEvict()), op.getContiguity());
    op.getToken().replaceAllUsesWith(made.getToken());
    op.erase();
    return true;
  }

  bool convert(StoreOp op) {
    if (!op.getBoundaryCheck().empty())
      return false;
    std::optional<BaseAndOffsets> place = find(op.getPtr());
    if (!place)
      return false;
    OpBuilder b(op);
    BufferStoreOp::create(b, op.getLoc(), op.getValue(), place->base,
                          place->offsets, /*stride=*/Value(),
                          getCache(op.getCache(), op.getEvict()), op.getMask());
    op.erase();
    return true;
  }

  /// What others get to know goes through LDS, and not from here.
  bool mayBeAtomic(Operation *op, const AMDTarget &target, RMWOp kind) const {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    return allowBufferAtomics && type &&
           hasBufferAtomic(target, kind, type.getElementType()) &&
           (op->getResult(0).use_empty() || !repeatsAcrossThreads(type));
  }

  bool convert(AtomicRMWOp op, const AMDTarget &target) {
    std::optional<BaseAndOffsets> place;
    if (mayBeAtomic(op, target, op.getAtomicRmwOp()))
      place = find(op.getPtr());
    if (!place)
      return false;
    OpBuilder b(op);
    auto made = BufferAtomicRMWOp::create(
        b, op.getLoc(), op.getType(), op.getAtomicRmwOp(), place->base,
        place->offsets, op.getVal(), /*stride=*/Value(), op.getSem(),
        op.getScope(), op.getMask());
    op.replaceAllUsesWith(made.getResult());
    op.erase();
    return true;
  }

  bool convert(AtomicCASOp op, const AMDTarget &target) {
    std::optional<BaseAndOffsets> place;
    // Any bits may be exchanged.
    if (mayBeAtomic(op, target, RMWOp::XCHG))
      place = find(op.getPtr());
    if (!place)
      return false;
    OpBuilder b(op);
    auto made = BufferAtomicCASOp::create(
        b, op.getLoc(), op.getType(), place->base, place->offsets, op.getCmp(),
        op.getVal(), /*stride=*/Value(), op.getSem(), op.getScope());
    op.replaceAllUsesWith(made.getResult());
    op.erase();
    return true;
  }

  const OffsetRanges *ranges = nullptr;
};
} // namespace
