//===-- RegisterChecker.h - Registers that are used before they are set ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

namespace tile::sim {

/// Fills Code::doubtful, and marks the instructions that name such registers.
void findDoubtfulRegisters(Code &code);

/// An instruction that is marked so is about to run.
void trackRegisters(Ctx &c, const Inst &inst, uint32_t mask);

/// `inst`, which runs, loads what nobody wrote: the registers of `lanes` have
/// no value then. Returns false if they are not watched.
bool loadNothing(Ctx &c, const Inst &inst, uint32_t lanes);

} // namespace tile::sim
