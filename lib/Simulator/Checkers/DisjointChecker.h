//===-- DisjointChecker.h - Arguments that must not meet -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A compiler may rely on two pointer arguments having no memory in common. An
// access whose address comes from one of them and that ends up in the memory of
// the other shows that it was wrong. Where an address comes from is found
// before the launch, in the text: from a parameter, and from nothing else that
// is a parameter of such a pair. What a kernel does through pointers that it
// loads or that its functions are given is not followed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

namespace tile::sim {

class DisjointChecker {
public:
  DisjointChecker(const Program &program, const LaunchConfig &config);

  /// An access to global memory, about to happen.
  void access(Ctx &c, const Inst &inst, uint32_t mask, const uint64_t *address,
              unsigned bytes) const;

private:
  const Code *entry;
  const std::vector<Forbidden> &forbidden;
  /// By instruction of the entry: the offset of the parameter that its address
  /// comes from.
  std::vector<uint32_t> origins;
};

} // namespace tile::sim
