//===-- DisjointChecker.h - Arguments that must not meet -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A compiler may rely on two pointer arguments having no memory in common. An
// access whose address comes from one of them and that ends up in the memory of
// the other shows that it was wrong. An address comes from an argument if that
// is the only one of such a pair that it is computed from. Registers of PTX
// hold one thing each, so this is found before the launch, in the text. A
// program whose registers are used again and again follows it while it runs
// (Program::followsOrigins). What a kernel does through pointers that it loads
// is not followed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"
#include "Origin.h"

namespace tile::sim {

class DisjointChecker {
public:
  DisjointChecker(const Program &program, const LaunchConfig &config);

  /// Of what lies at this byte of the arguments.
  Origin originAt(uint64_t offset) const;

  /// An access to global memory, about to happen.
  void access(Ctx &c, const Inst &inst, uint32_t mask, const uint64_t *address,
              unsigned bytes) const;

private:
  void findOrigins();

  const Code *entry;
  const std::vector<Forbidden> &forbidden;
  /// The offset of each argument of a pair, by its number less one.
  std::vector<uint32_t> params;
  /// Of the address of each instruction of the entry; empty if the program
  /// follows origins itself.
  std::vector<Origin> origins;
};

} // namespace tile::sim
