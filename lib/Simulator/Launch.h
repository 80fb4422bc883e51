//===-- Launch.h - Where a launch begins and ends -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

namespace tile::sim {

/// The number of a cluster that has not started, and is the caller's from now
/// on; clusterCount or more if there is none.
uint64_t takeCluster(Launch &launch, Worker &worker);

/// The report of a launch that ended, from what its workers have among all of
/// the group's.
void collect(Launch &launch, std::span<Worker> all, Report &report);

} // namespace tile::sim
