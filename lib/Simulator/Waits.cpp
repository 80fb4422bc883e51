//===-- Waits.cpp - What threads wait for ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Waits.h"

#include <algorithm>

using namespace tile::sim;

bool tile::sim::isSpinning(const Cluster &cluster, const Fragment &f) {
  return f.wait == Wait::Ready && f.spinCount > 256 &&
         f.spinStamp == cluster.progress;
}

bool tile::sim::isStuck(const Cluster &cluster, const Warp &warp) {
  for (const Fragment &f : warp.frags)
    if (f.wait == Wait::Ready && !isSpinning(cluster, f))
      return false;
  return true;
}

const Inst &tile::sim::waitingAt(const Fragment &f) {
  if (f.wait == Wait::Ready && f.spinAt)
    return *f.spinAt;
  const std::vector<Inst> &insts = f.frame->code->insts;
  return insts[std::min<size_t>(f.pc, insts.size() - 1)];
}
