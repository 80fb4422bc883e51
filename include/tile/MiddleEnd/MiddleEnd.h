//===-- MiddleEnd.h - From ttg to ttg that can be lowered -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The middle of a compile has three parts:
//
//   layouts   every tensor gets the layout that its accesses and dots want
//   loops     loops are divided among warps, merged and pipelined
//   copies    copies become operations of the machine; clean up; fences
//
// All backends have the same parts, and put their own passes in by overriding
// the functions whose names begin with `add`. Programs that say their layouts,
// loops and buffers themselves enter at `copies`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_MIDDLEEND_MIDDLEEND_H
#define TILE_MIDDLEEND_MIDDLEEND_H

#include "tile/Support/PipelineStage.h"

namespace mlir::triton {

class MiddleEnd {
public:
  /// `numStages` is the depth of software pipelines. `isExplicit`: the program
  /// says its layouts itself, no pass may choose another.
  MiddleEnd(const PassAdder &add, int numStages, bool isExplicit = false)
      : add(add), numStages(numStages), isExplicit(isExplicit) {}
  virtual ~MiddleEnd() = default;

  void buildLayouts();
  void buildLoops();
  void buildCopies();

protected:
  /// Matrix products get the layouts of the target's matrix instructions.
  virtual void addMatrixInstructions();
  /// Loops keep their sums where the matrix instructions want them.
  virtual void addSumsOfLoops() {}
  /// Loops that ask for it are divided among warps.
  virtual void addWarpSpecialization() {}
  /// Loops have a schedule. What the pipeliner does not do itself is done here.
  virtual void addLoopPreparation() {}
  /// Loops are pipelined.
  virtual void addLoopFollowUp() {}

  /// Copies become those of the machine.
  virtual void addCopyLowering() {}
  /// What stores and atomic operations take from dots.
  virtual void addEpilogue() {}
  /// Addresses take the form that the machine's accesses have.
  virtual void addAddresses() {}
  /// Nothing comes after these.
  virtual void addLast() {}

  const PassAdder &add;
  const int numStages;
  const bool isExplicit;

private:
  void buildCleanup();
  void buildExplicitCleanup();
};

/// Decides the layouts that an explicit program leaves open.
void buildOpenLayouts(const PassAdder &add);

} // namespace mlir::triton

#endif // TILE_MIDDLEEND_MIDDLEEND_H
