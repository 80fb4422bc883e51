//===-- ComparedLoads.h - Loads before a compare and swap -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Program.h"

#include <functional>

namespace tile::sim {

/// Sets Inst::isSwap of the loads with which loops of compare and swap begin.
/// They race with the swaps of other threads, but what they read is only a
/// guess, which their own swap compares with what is there then. Such a load
/// has the address of a swap that follows it. It has the same registers, to
/// which instructions between the two at most add constants (`step` knows such
/// additions, and by how much). Or it has other registers, if the swap compares
/// with the very register that the load writes (`compares` knows).
void markComparedLoads(
    Code &code, const std::function<bool(const Inst &, int64_t &)> &step = {},
    const std::function<bool(const Inst &swap, const Inst &load)> &compares =
        {});

} // namespace tile::sim
