//===-- TargetTable.h - Facts about the GPUs we compile for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table of what each compute capability has. Passes and lowerings ask it by
// the name of the feature, as Python does (`tile._C.targets`); nothing else in
// the compiler computes with capability numbers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TARGETTABLE_H
#define TILE_TARGET_TARGETTABLE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir {
class ModuleOp;

namespace triton {

struct NVIDIATarget {
  /// Major * 10 + minor, as in "cuda:90".
  int computeCapability;
  /// What LLVM's NVPTX calls the processor ("sm_90a" where the
  /// architecture-specific instructions are worth having).
  const char *processor;
  /// The least PTX version that knows this processor and all instructions we
  /// emit for it, times ten (8.0 is 80).
  int ptxVersion;
  /// Shared memory one block may opt into, in bytes.
  int maxSharedMemory;
  int maxRegistersPerThread = 255;
  /// 32-bit registers of a multiprocessor.
  int registersPerSM = 65536;
  /// What the registers of a thread are rounded up to.
  int registerAllocationUnit = 8;

  // Instructions.
  bool hasAsyncCopy = false;      ///< cp.async
  bool hasRedux = false;          ///< redux.sync on integers
  bool hasPackedCvt = false;      ///< cvt of two f32 to a pair of halves
  bool hasBF16Arithmetic = false; ///< add/mul/atom.add on bf16, without an fma
  bool hasNativeFP8Cvt = false;   ///< cvt between e4m3/e5m2 pairs and f16 pairs
  bool hasMmaSync = false;        ///< mma.sync.m16n8 on all but fp8
  bool hasFP8Mma = false;         ///< mma.sync on e4m3/e5m2
  bool hasStMatrix = false;       ///< stmatrix
  bool hasClusters = false;       ///< clusters, distributed shared memory
  bool hasTMA = false;            ///< bulk tensor copies
  bool hasWGMMA = false;          ///< wgmma (Hopper only)
  bool hasVectorAtomics = false;  ///< red/atom.global.add.v{2,4}.f32 and such

  std::string targetString() const;
};

/// All known targets, by increasing compute capability.
llvm::ArrayRef<NVIDIATarget> getNVIDIATargets();

/// The entry of a compute capability, or null where there is none.
const NVIDIATarget *lookupNVIDIATarget(int computeCapability);

/// The number in "cuda:<number>"; nullopt for anything else.
std::optional<int> parseNVIDIATargetString(llvm::StringRef target);

/// The target of the module's `ttg.target`; emits an error naming the known
/// targets where it is missing or unknown.
FailureOr<const NVIDIATarget *> getNVIDIATarget(ModuleOp module);

} // namespace triton
} // namespace mlir

#endif // TILE_TARGET_TARGETTABLE_H
