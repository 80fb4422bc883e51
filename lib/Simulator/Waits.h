//===-- Waits.h - What threads wait for -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

namespace tile::sim {

/// Waits at an mbarrier, or for registers, and nothing has happened that could
/// help.
bool isSpinning(const Cluster &cluster, const Fragment &f);
/// No lane of the warp can go on.
bool isStuck(const Cluster &cluster, const Warp &warp);
/// The instruction at which it waits.
const Inst &waitingAt(const Fragment &f);

} // namespace tile::sim
