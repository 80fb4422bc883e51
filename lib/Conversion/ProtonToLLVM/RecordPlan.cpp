//===-- RecordPlan.cpp - Who records, and where ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/ProtonToLLVM/RecordPlan.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::proton;

namespace {
/// What a kernel gives up for its records, where nobody says how much.
constexpr int64_t kSharedBytes = 16 << 10;
constexpr int64_t kGlobalRecords = 512;
constexpr unsigned kMostWarps = 32;

class Planner {
public:
  Planner(ModuleOp module, Operation *first, const gpu::TargetModel &model,
          const RecordOptions &options)
      : module(module), first(first), model(model), options(options) {}

  FailureOr<RecordPlan> run() {
    plan.lanes = model.getThreadsPerWarp();
    auto total =
        module->getAttrOfType<IntegerAttr>(gpu::kTotalNumWarpsAttrName);
    plan.totalWarps = total ? total.getInt() : gpu::lookupNumWarps(module);
    if (plan.totalWarps > kMostWarps)
      return first->emitError("a block of ")
             << plan.totalWarps << " warps cannot record";
    if (failed(readOptimizations()) || failed(chooseWarps()) ||
        failed(chooseBuffers()))
      return failure();
    return plan;
  }

private:
  LogicalResult readOptimizations() {
    for (StringRef name : options.optimizations) {
      bool *flag = llvm::StringSwitch<bool *>(name)
                       .Case("time_shift", &plan.timeShift)
                       .Case("sched_stores", &plan.schedStores)
                       .Case("sched_barriers", &plan.schedBarriers)
                       .Case("clock32", &plan.clock32)
                       .Default(nullptr);
      if (!flag)
        return first->emitError("records have no optimization '")
               << name << "'";
      *flag = true;
    }
    return success();
  }

  /// How many warps record together; 0 for an unknown name.
  unsigned getWarpsOfUnit() const {
    return llvm::StringSwitch<unsigned>(options.granularity)
        .Case("cta", plan.totalWarps)
        .Case("warp", 1)
        .Case("warp_2", 2)
        .Case("warp_4", 4)
        .Case("warp_8", 8)
        .Case("warp_group", 4)
        .Case("warp_group_2", 8)
        .Case("warp_group_4", 16)
        .Case("warp_group_8", 32)
        .Default(0);
  }

  LogicalResult chooseWarps() {
    unsigned size = getWarpsOfUnit();
    if (!size)
      return first->emitError("records have no granularity '")
             << options.granularity << "'";
    bool selective = options.samplingStrategy == "selective";
    if (!selective && options.samplingStrategy != "none")
      return first->emitError("records have no sampling strategy '")
             << options.samplingStrategy << "'";
    unsigned numUnits = llvm::divideCeil(plan.totalWarps, size);
    for (unsigned chosen : options.samplingOptions)
      if (selective && chosen >= numUnits)
        return first->emitError("there is no '")
               << options.granularity << "' " << chosen
               << " to record: the kernel has " << numUnits;
    for (unsigned unit = 0; unit < numUnits; ++unit)
      if (!selective || llvm::is_contained(options.samplingOptions, unit))
        plan.warps |= 1u << (unit * size);
    if (!plan.warps)
      return first->emitError("no warp is chosen to record");
    return success();
  }

  LogicalResult chooseBuffers() {
    plan.keepsFirst = options.bufferStrategy == "flush";
    if (!plan.keepsFirst && options.bufferStrategy != "circular")
      return first->emitError("records have no buffer strategy '")
             << options.bufferStrategy << "'";
    bool isShared = options.bufferType == "shared";
    if (!isShared && options.bufferType != "global")
      return first->emitError("records have no buffer type '")
             << options.bufferType << "'";
    int64_t record = plan.getNumUnits() * plan.getRecordBytes();
    int64_t wanted = options.bufferSize / record;
    if (options.bufferSize && wanted < plan.lanes)
      return first->emitError("a buffer of ")
             << options.bufferSize << " bytes is too small: the records of "
             << plan.getNumUnits() << " units take at least "
             << record * plan.lanes;
    // Positions in a ring come from a mask.
    if (options.bufferSize)
      plan.capacity = llvm::bit_floor(uint64_t(wanted));
    else
      plan.capacity = kGlobalRecords;
    if (isShared && failed(placeRing(record)))
      return failure();
    if (plan.getBlockBytes() > std::numeric_limits<int32_t>::max())
      return first->emitError("the records of a block take ")
             << plan.getBlockBytes() << " bytes, more than fits an i32";
    return success();
  }

  /// Rings lie behind what the kernel has in shared memory. `record` is the
  /// bytes of one record of each unit.
  LogicalResult placeRing(int64_t record) {
    auto used = module->getAttrOfType<IntegerAttr>(gpu::kSharedAttrName);
    plan.sharedOffset = llvm::alignTo(used ? used.getInt() : 0, 16);
    int64_t left = model.getMaxSharedMemory() - plan.sharedOffset;
    if (plan.keepsFirst) {
      // It goes to global memory whenever each lane has written a record.
      plan.ring = plan.lanes;
    } else if (options.bufferSize) {
      plan.ring = plan.capacity;
    } else {
      int64_t room = std::min(left, kSharedBytes) / record;
      plan.ring = std::clamp<int64_t>(
          llvm::bit_floor(uint64_t(std::max<int64_t>(room, 1))), plan.lanes,
          kGlobalRecords);
      plan.capacity = plan.ring;
    }
    if (plan.ring * record > left)
      return first->emitError("records take ")
             << plan.ring * record << " bytes of shared memory behind "
             << plan.sharedOffset << " of the kernel, and a block has "
             << model.getMaxSharedMemory()
             << ": write them to a global buffer (buffer_type=global)";
    return success();
  }

  ModuleOp module;
  Operation *first;
  const gpu::TargetModel &model;
  const RecordOptions &options;
  RecordPlan plan;
};
} // namespace

FailureOr<RecordPlan> proton::planRecords(ModuleOp module, Operation *first,
                                          const gpu::TargetModel &model,
                                          const RecordOptions &options) {
  return Planner(module, first, model, options).run();
}
