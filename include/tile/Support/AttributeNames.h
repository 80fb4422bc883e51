//===-- AttributeNames.h - What passes tell each other ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The names of the discardable attributes by which front ends, passes and
// launchers hand each other facts and decisions. Each belongs to a dialect,
// whose table (IR/DeclaredAttributes.cpp) says what it means, where it may be
// and which values it has; the dialect verifies that. A name is spelled in one
// place, here or in a header of the vendor's dialect, and nowhere else
// (scripts/check_attributes.py). docs/generated/attributes.md lists all of them
// with their writers and readers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_SUPPORT_ATTRIBUTENAMES_H
#define TILE_SUPPORT_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton {

//===----------------------------------------------------------------------===//
// tt: facts about arguments and values
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kDivisibilityAttr = "tt.divisibility";
inline constexpr llvm::StringLiteral kContiguityAttr = "tt.contiguity";
inline constexpr llvm::StringLiteral kConstancyAttr = "tt.constancy";
inline constexpr llvm::StringLiteral kMaxDivisibilityAttr =
    "tt.max_divisibility";
inline constexpr llvm::StringLiteral kPointerRangeAttr = "tt.pointer_range";
inline constexpr llvm::StringLiteral kNonNegativeAttr = "tt.non_negative";
inline constexpr llvm::StringLiteral kMaxAttr = "tt.max";
inline constexpr llvm::StringLiteral kTMADescriptorAttr = "tt.nv_tma_desc";
inline constexpr llvm::StringLiteral kZeroPaddedAttrName = "tt.zero_padded";

// What launchers check, and what the simulator looks for.
inline constexpr llvm::StringLiteral kDisjointArgumentsAttrName =
    "tt.disjoint_arguments";
inline constexpr llvm::StringLiteral kSmallArgumentsAttrName =
    "tt.small_arguments";
inline constexpr llvm::StringLiteral kUndefinedLoadsAttrName =
    "tt.undefined_loads";

//===----------------------------------------------------------------------===//
// ttg: what a module says of its memory
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kOverlappingArgumentsAttrName =
    "ttg.overlapping-arguments";
inline constexpr llvm::StringLiteral kBarriersInsertedAttrName =
    "ttg.barriers-inserted";

//===----------------------------------------------------------------------===//
// allocation: offsets in shared memory
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kAllocationOffsetAttrName =
    "allocation.offset";
inline constexpr llvm::StringLiteral kOneTurnAttrName =
    "allocation.in_one_turn";

//===----------------------------------------------------------------------===//
// tile: what passes of one conversion tell each other
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kLoadedOnceAttrName = "tile.loaded_once";
inline constexpr llvm::StringLiteral kSharedMemoryArgumentAttrName =
    "tile.shared_memory_argument";
inline constexpr llvm::StringLiteral kStaysInPlaceAttrName =
    "tile.stays_in_place";

namespace gpu {

//===----------------------------------------------------------------------===//
// tt and loop: what is asked of a loop, and its schedule
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kNumStagesAttr = "tt.num_stages";
inline constexpr llvm::StringLiteral kUnrollFactorAttr =
    "tt.loop_unroll_factor";
inline constexpr llvm::StringLiteral kFlattenAttr = "tt.flatten";
inline constexpr llvm::StringLiteral kDisallowMultiBufferAttr =
    "tt.disallow_acc_multi_buffer";
inline constexpr llvm::StringLiteral kWarpSpecializeAttr = "tt.warp_specialize";
inline constexpr llvm::StringLiteral kLatencyAttr = "tt.latency";
inline constexpr llvm::StringLiteral kMaxStageAttr = "tt.scheduled_max_stage";
inline constexpr llvm::StringLiteral kStageAttr = "loop.stage";
inline constexpr llvm::StringLiteral kClusterAttr = "loop.cluster";
inline constexpr llvm::StringLiteral kUnguardedAttr = "loop.unguarded";
inline constexpr llvm::StringLiteral kSelectAttr = "loop.select";
inline constexpr llvm::StringLiteral kPartitionAttr = "ttg.partition";

//===----------------------------------------------------------------------===//
// ttg: the machine, as the module describes it
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kNumWarpsAttrName = "ttg.num-warps";
inline constexpr llvm::StringLiteral kNumCTAsAttrName = "ttg.num-ctas";
inline constexpr llvm::StringLiteral kThreadsPerWarpAttrName =
    "ttg.threads-per-warp";
inline constexpr llvm::StringLiteral kTargetAttrName = "ttg.target";
inline constexpr llvm::StringLiteral kSharedAttrName = "ttg.shared";
inline constexpr llvm::StringLiteral kTotalNumWarpsAttrName =
    "ttg.total-num-warps";
inline constexpr llvm::StringLiteral kMaxNRegAttrName = "ttg.maxnreg";
inline constexpr llvm::StringLiteral kTensorMemorySizeAttrName =
    "ttg.tensor_memory_size";
inline constexpr llvm::StringLiteral kGlobalScratchSizeAttrName =
    "ttg.global_scratch_memory_size";
inline constexpr llvm::StringLiteral kGlobalScratchAlignmentAttrName =
    "ttg.global_scratch_memory_alignment";
inline constexpr llvm::StringLiteral kGlobalScratchOffsetAttrName =
    "ttg.global_scratch_memory_offset";

} // namespace gpu
} // namespace mlir::triton

#endif // TILE_SUPPORT_ATTRIBUTENAMES_H
