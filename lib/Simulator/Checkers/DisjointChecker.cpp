//===-- DisjointChecker.cpp - Arguments that were taken not to meet -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DisjointChecker.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

using namespace tile::sim;

/// Stands for instructions whose address comes from no parameter, or several.
static constexpr uint32_t noOrigin = ~0u;

/// Whether the result is computed from the registers that are read, and not
/// from memory.
static bool computes(const Inst &inst) {
  switch (inst.cls) {
  case Class::Integer:
  case Class::Logic:
  case Class::Move:
  case Class::Convert:
  case Class::Collective:
    return true;
  default:
    return false;
  }
}

DisjointChecker::DisjointChecker(const Program &program,
                                 const LaunchConfig &config)
    : entry(program.codes[0].get()), forbidden(config.forbidden) {
  std::vector<uint32_t> params;
  for (const Forbidden &f : forbidden)
    if (std::ranges::find(params, f.param) == params.end() &&
        params.size() < 64)
      params.push_back(f.param);
  // The parameters that a register's value comes from, one bit for each; loops
  // are gone round until nothing is new.
  std::unordered_map<uint32_t, uint64_t> sources;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Inst &inst : entry->insts) {
      uint64_t from = 0;
      const RegisterUse *uses = entry->registers.data() + inst.regs;
      if (inst.cls == Class::Load && inst.space == Space::Param) {
        auto it = std::ranges::find(params, uint32_t(inst.imm));
        if (it != params.end())
          from = uint64_t(1) << (it - params.begin());
      } else if (computes(inst)) {
        for (uint32_t i = 0; i < inst.regCount; ++i)
          if (!uses[i].written)
            from |= sources[uses[i].slot];
      }
      for (uint32_t i = 0; from && i < inst.regCount; ++i)
        if (uses[i].written) {
          uint64_t &known = sources[uses[i].slot];
          changed |= (known | from) != known;
          known |= from;
        }
    }
  }
  for (const Inst &inst : entry->insts) {
    auto it = sources.find(inst.op[1]);
    uint64_t from = it == sources.end() ? 0 : it->second;
    origins.push_back(std::has_single_bit(from) ? params[std::countr_zero(from)]
                                                : noOrigin);
  }
}

void DisjointChecker::access(Ctx &c, const Inst &inst, uint32_t mask,
                             const uint64_t *address, unsigned bytes) const {
  if (c.code != entry)
    return;
  uint32_t origin = origins[&inst - entry->insts.data()];
  if (origin == noOrigin)
    return;
  for (const Forbidden &f : forbidden) {
    if (f.param != origin)
      continue;
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      if (address[l] >= f.high || address[l] + bytes <= f.low)
        continue;
      c.note(inst, l, "overlapping-arguments",
             "an access through '" + f.name + "' reaches '" + f.other +
                 "': the kernel was compiled for arguments of which these two "
                 "have no memory in common");
      return;
    }
  }
}
