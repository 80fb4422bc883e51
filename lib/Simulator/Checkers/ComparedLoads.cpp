//===-- ComparedLoads.cpp - Loads before a compare and swap ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ComparedLoads.h"

#include <algorithm>
#include <span>

using namespace tile::sim;

/// What a loop does with the value before its swap is no longer than this. A
/// load may be farther away if its swap compares with what it gave.
static constexpr uint32_t mostBetween = 128;

static std::span<const RegisterUse> usesOf(const Code &code, const Inst &inst) {
  return {code.registers.data() + inst.regs, inst.regCount};
}

static bool has(std::span<const RegisterUse> uses, uint32_t slot,
                bool written) {
  return std::any_of(uses.begin(), uses.end(), [&](const RegisterUse &use) {
    return use.slot == slot && use.written == written;
  });
}

/// Does the swap read all registers that the load reads, which are those of its
/// address?
static bool isSamePlace(const Code &code, const Inst &load, const Inst &swap) {
  if (load.space != swap.space)
    return false;
  unsigned count = 0;
  for (const RegisterUse &use : usesOf(code, load)) {
    if (!use.written && !has(usesOf(code, swap), use.slot, false))
      return false;
    count += !use.written;
  }
  return count > 0;
}

/// Does the instruction write a register of the load's address or, if `result`,
/// one that the load writes?
static bool changes(const Code &code, const Inst &inst, const Inst &load,
                    bool result) {
  for (const RegisterUse &use : usesOf(code, load))
    if (use.written == result && has(usesOf(code, inst), use.slot, true))
      return true;
  return false;
}

void tile::sim::markComparedLoads(
    Code &code, const std::function<bool(const Inst &, int64_t &)> &step,
    const std::function<bool(const Inst &swap, const Inst &load)> &compares) {
  for (uint32_t s = 0; s < code.insts.size(); ++s) {
    const Inst &swap = code.insts[s];
    if (swap.cls != Class::Atomic || !swap.isSwap)
      continue;
    for (uint32_t l = s; l--;) {
      Inst &load = code.insts[l];
      if (load.cls != Class::Load)
        continue;
      bool changed = false, isFar = s - l > mostBetween;
      if (isFar && !compares)
        break;
      if (isFar || !isSamePlace(code, load, swap)) {
        if (!compares || !compares(swap, load))
          continue;
        for (uint32_t i = l + 1; i < s && !changed; ++i)
          changed = changes(code, code.insts[i], load, /*result=*/true);
        load.isSwap |= !changed;
        break;
      }
      int64_t distance = load.imm - swap.imm, added = 0;
      for (uint32_t i = l; i < s && !changed; ++i)
        if (changes(code, code.insts[i], load, /*result=*/false)) {
          changed = !step || !step(code.insts[i], added);
          distance -= added;
        }
      load.isSwap |= !changed && distance == 0;
      break;
    }
  }
}
