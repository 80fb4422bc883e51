//===-- LoopSchedule.h - Stages of a loop's operations ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The passes of the pipeliner hand each other their decisions as attributes, so
// that each can be run and tested alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_TRANSFORMS_LOOPSCHEDULE_H
#define TILE_DIALECT_TRITONGPU_TRANSFORMS_LOOPSCHEDULE_H

#include "tile/Support/AttributeNames.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <utility>
#include <vector>

namespace mlir::triton::gpu {

/// The value of an i32 attribute of `op`, if it has it.
std::optional<int> getI32Attr(Operation *op, StringRef name);
void setI32Attr(Operation *op, StringRef name, int value);

/// For each operation of a loop's body (the terminator left out) the stage it
/// runs in, and the cluster: operations of a lower cluster come first in the
/// new body; within one cluster they keep their order.
class LoopSchedule {
public:
  struct Place {
    int stage;
    int cluster;
  };

  explicit LoopSchedule(int maxStage) : maxStage(maxStage) {}

  /// Reads the attributes; nothing if the loop has no schedule, or one that
  /// leaves an operation out.
  static std::optional<LoopSchedule> read(scf::ForOp loop);
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

#endif // TILE_DIALECT_TRITONGPU_TRANSFORMS_LOOPSCHEDULE_H
