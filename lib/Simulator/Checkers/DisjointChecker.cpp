//===-- DisjointChecker.cpp - Arguments that were taken not to meet -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DisjointChecker.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

using namespace tile::sim;

DisjointChecker::DisjointChecker(const Program &program,
                                 const LaunchConfig &config)
    : entry(program.codes[0].get()), forbidden(config.forbidden) {
  for (const Forbidden &f : forbidden)
    if (std::ranges::find(params, f.param) == params.end() &&
        params.size() + 1 < unknownOrigin)
      params.push_back(f.param);
  if (!program.followsOrigins)
    findOrigins();
}

Origin DisjointChecker::originAt(uint64_t offset) const {
  constexpr uint64_t pointer = 8;
  auto it = std::ranges::find_if(
      params, [&](uint32_t param) { return offset - param < pointer; });
  return it == params.end() ? noOrigin : Origin(it - params.begin() + 1);
}

/// Loops are gone round until nothing is new.
void DisjointChecker::findOrigins() {
  std::unordered_map<uint32_t, Origin> sources; // by register
  for (bool changed = true; changed;) {
    changed = false;
    for (const Inst &inst : entry->insts) {
      Origin from = noOrigin;
      const RegisterUse *uses = entry->registers.data() + inst.regs;
      bool loads = inst.cls == Class::Load && inst.space == Space::Param;
      if (passesOrigins(inst.cls))
        for (uint32_t i = 0; i < inst.regCount; ++i)
          if (!uses[i].written)
            from = joined(from, sources[uses[i].slot]);
      auto offset = uint64_t(inst.imm);
      for (uint32_t i = 0; (from || loads) && i < inst.regCount; ++i) {
        if (!uses[i].written)
          continue;
        if (loads) {
          from = originAt(offset);
          offset += bytesOf(inst.type);
        }
        Origin &known = sources[uses[i].slot];
        changed |= joined(known, from) != known;
        known = joined(known, from);
      }
    }
  }
  for (const Inst &inst : entry->insts) {
    auto it = sources.find(inst.op[1]);
    origins.push_back(it == sources.end() ? noOrigin : it->second);
  }
}

void DisjointChecker::access(Ctx &c, const Inst &inst, uint32_t mask,
                             const uint64_t *address, unsigned bytes) const {
  if (c.code != entry)
    return;
  const Origin *ofLanes =
      origins.empty() ? c.frame->origins.data() + c.laneBase : nullptr;
  Origin ofAll = ofLanes ? noOrigin : origins[&inst - entry->insts.data()];
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Origin origin = ofLanes ? ofLanes[l] : ofAll;
    if (origin == noOrigin || origin == unknownOrigin)
      continue;
    for (const Forbidden &f : forbidden) {
      if (f.param != params[origin - 1] || address[l] >= f.high ||
          address[l] + bytes <= f.low)
        continue;
      c.note(inst, l, "overlapping-arguments",
             "an access through '" + f.name + "' reaches '" + f.other +
                 "': the kernel was compiled for arguments of which these two "
                 "have no memory in common");
      return;
    }
  }
}
