//===-- ProgramLoop.h - Loops over programs ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel that goes on with other programs may be a loop over them while other
// passes work on it. It has the bounds of a loop that never ends. Its body asks
// for the number of its program with clc_program_id. Before code is made,
// triton-nvidia-gpu-to-clc has it end where no program is left.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_PROGRAMLOOP_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_PROGRAMLOOP_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::nvidia_gpu {

/// On a loop: each iteration runs a program.
inline constexpr llvm::StringLiteral kOverProgramsAttrName =
    "ttnvgpu.over_programs";

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_PROGRAMLOOP_H
