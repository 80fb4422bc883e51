//===-- Validate.h - The same results after each pass -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_TEST_LIB_REFERENCE_VALIDATE_H
#define TILE_TEST_LIB_REFERENCE_VALIDATE_H

#include "Machine.h"

#include "mlir/Pass/PassInstrumentation.h"

namespace mlir::triton::reference {

/// An array that a kernel writes, and how its executions may differ.
struct Output {
  std::string name;
  uint64_t address, size;
  Type element;
  double tolerance = 0;
};

/// With what a kernel is run.
struct Launch {
  DeviceMemory memory;
  SmallVector<uint64_t> arguments;
  std::array<uint32_t, 3> grid{1, 1, 1};
  SmallVector<Output> outputs;
  Limits limits;
};

/// An execution, and the memory after it.
struct Execution {
  Outcome outcome;
  /// Where the operation is that ended it.
  std::string place;
  DeviceMemory memory;
  llvm::MapVector<StringRef, unsigned> skipped;
  uint64_t numOperations = 0, numPrograms = 0;
  bool hasStandIns = false, hasPartitions = false;

  bool isWhole() const {
    return outcome.kind == Outcome::Finished && skipped.empty();
  }
};

/// `startersFirst`: whether partitions are as late as they can be, or as early.
Execution execute(ModuleOp module, const Launch &launch,
                  bool startersFirst = false);

/// In what two executions differ; empty if in nothing. What is undefined after
/// the first may be anything after the second.
std::string compare(const Execution &first, const Execution &second,
                    const Launch &launch);

/// Elements of an output that depend on something undefined.
uint64_t countUndefined(const Execution &execution, const Output &output);

/// Executes a module after each pass that changes it.
class Validator : public PassInstrumentation {
public:
  Validator(ModuleOp module, const Launch &launch);

  void runAfterPass(Pass *pass, Operation *op) override;

  Execution first;
  /// After which pass results differ from the first ones, to the end, and how.
  std::string guilty, difference;
  /// After which passes they differed, until another one.
  SmallVector<std::string> mended;
  unsigned numVersions = 1;
  /// Versions that were not executed to their end, or not entirely.
  unsigned numPartial = 0;
  /// Why the last of them was not.
  std::string why;
  uint64_t numOperations = 0;
  llvm::MapVector<StringRef, unsigned> skipped;
  bool hasStandIns = false;
  /// The passes that changed the module, for whoever wants to see them.
  SmallVector<std::string> passes;

private:
  void note(const Execution &execution);
  /// In what the module as it is now differs from the first one.
  std::string findDifference(ModuleOp module, bool startersFirst);

  /// With as many programs of the grid as the first execution had.
  Launch launch;
  uint64_t known;
};

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_VALIDATE_H
