//===-- Launch.h - Clusters that have not started -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

namespace tile::sim {

/// The number of a cluster that has not started, and is the caller's from now
/// on; clusterCount or more if there is none.
uint64_t takeCluster(Launch &launch, Worker &worker);

} // namespace tile::sim
