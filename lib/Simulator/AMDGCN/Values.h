//===-- Values.h - Which registers hold a value ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Wave.h"

namespace tile::sim::amdgcn {

/// Inst::mod[2] of s_cselect; of other scalar logic the table of the operation:
/// bit 2 * a + b is the result for bits a and b.
inline constexpr uint8_t Choice = 255;

/// Checks what an instruction that is about to run needs to know of its
/// operands, and notes what will be known of its results.
void trackValues(Ctx &c, const Inst &inst);

/// Notes which bits will be known of the results of an instruction with a
/// BitRule.
void trackBitByBit(Ctx &c, const Inst &inst);

/// The lanes of a use that hold a value; of a mask, its half of them.
uint64_t knownLanes(const Ctx &c, const RegisterUse &use);

/// As the assembler names it, by its number in RegisterUse.
std::string registerName(const WaveProgram &p, uint32_t reg);

} // namespace tile::sim::amdgcn
