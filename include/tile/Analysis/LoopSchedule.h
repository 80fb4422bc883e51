//===-- LoopSchedule.h - What is decided about loops ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Users and passes say by attributes how a loop is to be compiled. So each pass
// can be run and tested alone. These types read and write the attributes, and
// nobody else names them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_ANALYSIS_LOOPSCHEDULE_H
#define TILE_ANALYSIS_LOOPSCHEDULE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <utility>
#include <vector>

namespace mlir::triton::gpu {

/// What is asked of a loop.
class LoopPlan {
public:
  explicit LoopPlan(Operation *loop) : loop(loop) {}

  /// How many iterations may be under way, at least one.
  std::optional<int> getNumStages() const;
  void setNumStages(int numStages);
  void eraseNumStages();

  /// How often the body is to be repeated.
  std::optional<int> getUnrollFactor() const;
  void eraseUnrollFactor();

  /// Whether the nest is to become one loop.
  bool isFlattened() const;
  void eraseFlattened();

  /// Whether the copies of the loop are to get warps of their own.
  bool isWarpSpecialized() const;
  /// The same of this loop, or of one around it.
  bool isInWarpSpecialized() const;
  void setWarpSpecialized();
  void eraseWarpSpecialized();

private:
  Operation *loop;
};

/// What passes have decided about an operation of a loop's body.
class PlannedOp {
public:
  explicit PlannedOp(Operation *op) : op(op) {}
  explicit PlannedOp(Operation &op) : op(&op) {}

  /// So many stages before its uses it is to run.
  std::optional<int> getLatency() const;
  void setLatency(int latency);
  void eraseLatency();

  /// Whether a partition of warps runs it.
  bool isInPartition() const;
  void setPartition(int partition);

  /// Whether it may also write for iterations that do not exist.
  bool isUnguarded() const;
  void setUnguarded();

  /// Whether it is a select that chooses between what is for iterations that
  /// exist and for those that do not.
  bool isSelectOfExisting() const;
  void setSelectOfExisting();
  void eraseSelectOfExisting();

private:
  Operation *op;
};

/// The stage and the cluster that each operation of a loop's body runs in. The
/// terminator is left out. Operations of a lower cluster come first in the new
/// body. Within one cluster they keep their order.
class LoopSchedule {
public:
  struct Place {
    int stage;
    int cluster;
  };

  explicit LoopSchedule(int maxStage) : maxStage(maxStage) {}

  /// Whether the loop has a schedule, be it right or wrong.
  static bool isOn(scf::ForOp loop);
  /// Reads the attributes; nothing if the loop has no schedule, or one that
  /// leaves an operation out.
  static std::optional<LoopSchedule> read(scf::ForOp loop);
  /// The same of a loop that must have a schedule. If not, reports an error.
  static FailureOr<LoopSchedule> require(scf::ForOp loop);
  /// Writes the attributes to the loop and its operations.
  void write(scf::ForOp loop) const;
  /// Removes all attributes of the pipeliner from the loop and from its body.
  static void erase(scf::ForOp loop);

  int getMaxStage() const { return maxStage; }
  void set(Operation *op, Place place) { places[op] = place; }
  Place get(Operation *op) const { return places.lookup(op); }
  bool contains(Operation *op) const { return places.contains(op); }
  void remove(Operation *op) { places.erase(op); }

  /// The operations in the order of the new body, each with its stage.
  std::vector<std::pair<Operation *, unsigned>> getOrder(scf::ForOp loop) const;

private:
  int maxStage;
  llvm::DenseMap<Operation *, Place> places;
};

} // namespace mlir::triton::gpu

#endif // TILE_ANALYSIS_LOOPSCHEDULE_H
