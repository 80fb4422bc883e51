//===-- ComparedLoads.h - Loads before a compare and swap -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Program.h"

namespace tile::sim {

/// Sets Inst::isSwap of the loads with which loops of compare and swap begin.
/// They race with the swaps of other threads, but what they read is only a
/// guess, which their own swap compares with what is there then. Such a load
/// has the address, register by register, of a swap that follows it, and no
/// instruction between the two writes those registers.
void markComparedLoads(Code &code);

} // namespace tile::sim
