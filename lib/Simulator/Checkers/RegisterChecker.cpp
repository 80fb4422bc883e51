//===-- RegisterChecker.cpp - Registers that are used before they are set -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A data-flow analysis of the decoded function finds the registers that some
// path reads before it writes them. It also finds those that are loaded from
// shared memory ahead of their use, and those that take their values. Only
// these are watched while the kernel runs, lane by lane. A value that was never
// set may be moved about and computed with. It is a mistake to branch on it, to
// use it as an address, or to hand it to memory or to a matrix instruction.
//
//===----------------------------------------------------------------------===//
#include "RegisterChecker.h"

#include <algorithm>

using namespace tile::sim;

namespace {
using Bits = std::vector<uint64_t>;
bool test(const Bits &b, uint32_t i) { return b[i / 64] >> i % 64 & 1; }
void set(Bits &b, uint32_t i) { b[i / 64] |= uint64_t(1) << i % 64; }

struct Block {
  uint32_t first, end;
  std::vector<uint32_t> next; ///< indices of instructions
};

/// Where control goes after the last instruction of a block.
std::vector<uint32_t> successors(const Code &code, uint32_t at) {
  const Inst &inst = code.insts[at];
  std::vector<uint32_t> out;
  bool always = inst.guard == NoSlot;
  if (inst.hasTarget)
    out.push_back(inst.target);
  else if (inst.endsBlock && inst.extCount)
    out.assign(code.ext.begin() + inst.ext,
               code.ext.begin() + inst.ext + inst.extCount);
  else if (!inst.endsBlock)
    always = false;
  if (!always && at + 1 < code.insts.size())
    out.push_back(at + 1);
  return out;
}

std::vector<Block> blocksOf(const Code &code) {
  auto count = uint32_t(code.insts.size());
  std::vector<bool> starts(count);
  for (uint32_t i = 0; i < count; ++i)
    if (code.insts[i].endsBlock || code.insts[i].hasTarget) {
      for (uint32_t to : successors(code, i))
        starts[to] = true;
      if (i + 1 < count)
        starts[i + 1] = true;
    }
  std::vector<Block> blocks;
  for (uint32_t i = 0; i < count; ++i) {
    if (i == 0 || starts[i])
      blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
  }
  for (Block &b : blocks)
    b.next = successors(code, b.end - 1);
  return blocks;
}

/// Registers by number, instead of by place.
struct Numbers {
  std::vector<uint32_t> bySlot;
  uint32_t count = 0;
  uint32_t of(uint32_t slot) {
    if (slot / 4 >= bySlot.size())
      bySlot.resize(slot / 4 + 1);
    uint32_t &n = bySlot[slot / 4];
    if (!n)
      n = ++count;
    return n - 1;
  }
};

template <class F> void eachUse(const Code &code, const Inst &inst, F f) {
  if (inst.guard != NoSlot && !(inst.guard & ConstBit) && !inst.micro)
    f(inst.guard, false);
  for (uint32_t i = 0; i < inst.regCount; ++i)
    f(code.registers[inst.regs + i].slot,
      code.registers[inst.regs + i].written);
}

/// Is a value that was never set a mistake here?
bool isSink(const Inst &inst) {
  switch (inst.cls) {
  case Class::Store:
    // Arguments of calls need not all have a value.
    return inst.space != Space::Local && inst.space != Space::Param;
  case Class::Load:
  case Class::Atomic:
  case Class::Barrier:
  case Class::Async:
  case Class::Tensor:
    return true;
  case Class::Control:
    return inst.endsBlock;
  default:
    return false;
  }
}

/// Sinks answer for their operands; what they give is known.
bool passesOn(const Inst &inst) { return !isSink(inst); }

/// Whether `code.insts[at]` loads from shared memory what its block, up to
/// `end`, only moves: pipelined loops read operands an iteration ahead, also
/// those of iterations that do not exist.
bool isReadAhead(const Code &code, uint32_t at, uint32_t end) {
  const Inst &load = code.insts[at];
  if (load.cls != Class::Load || load.space != Space::Shared)
    return false;
  std::vector<uint32_t> loaded;
  eachUse(code, load, [&](uint32_t slot, bool written) {
    if (written)
      loaded.push_back(slot);
  });
  for (uint32_t i = at + 1; i < end; ++i) {
    const Inst &inst = code.insts[i];
    bool reads = false;
    eachUse(code, inst, [&](uint32_t slot, bool written) {
      reads |= !written &&
               std::find(loaded.begin(), loaded.end(), slot) != loaded.end();
    });
    if (reads && std::string_view(inst.name) != "mov")
      return false;
  }
  return true;
}

uint32_t *findLanes(Ctx &c, uint32_t slot) {
  const std::vector<uint32_t> &doubtful = c.code->doubtful;
  uint32_t i =
      slot / 4 < doubtful.size() && !(slot & ConstBit) ? doubtful[slot / 4] : 0;
  return i ? &c.frame->initialized[i - 1] : nullptr;
}
} // namespace

void tile::sim::findDoubtfulRegisters(Code &code) {
  Numbers numbers;
  for (const Inst &inst : code.insts)
    eachUse(code, inst, [&](uint32_t slot, bool) { numbers.of(slot); });
  if (!numbers.count)
    return;
  size_t words = numbers.count / 64 + 1;
  std::vector<Block> blocks = blocksOf(code);
  std::vector<uint32_t> blockAt(code.insts.size());
  for (uint32_t b = 0; b < blocks.size(); ++b)
    blockAt[blocks[b].first] = b;
  // What every path to a block has set. Unvisited blocks know everything.
  std::vector<Bits> known(blocks.size(), Bits(words, ~uint64_t(0)));
  known[0].assign(words, 0);
  for (const auto *list : {&code.params, &code.returns})
    for (const ParamSlot &p : *list)
      if (p.isRegister)
        set(known[0], numbers.of(p.slot));
  Bits doubtful(words);
  auto walk = [&](const Block &block, Bits now, bool note) {
    for (uint32_t i = block.first; i < block.end; ++i) {
      const Inst &inst = code.insts[i];
      eachUse(code, inst, [&](uint32_t slot, bool written) {
        uint32_t n = numbers.of(slot);
        if (note && !written && !test(now, n))
          set(doubtful, n);
      });
      if (inst.guard == NoSlot)
        eachUse(code, inst, [&](uint32_t slot, bool written) {
          if (written)
            set(now, numbers.of(slot));
        });
    }
    return now;
  };
  std::vector<uint32_t> work{0};
  std::vector<bool> reached(blocks.size());
  reached[0] = true;
  while (!work.empty()) {
    uint32_t b = work.back();
    work.pop_back();
    Bits out = walk(blocks[b], known[b], false);
    for (uint32_t to : blocks[b].next) {
      uint32_t s = blockAt[to];
      bool changed = !reached[s];
      for (size_t w = 0; w < words; ++w) {
        changed |= (known[s][w] & ~out[w]) != 0;
        known[s][w] &= out[w];
      }
      reached[s] = true;
      if (changed)
        work.push_back(s);
    }
  }
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    if (!reached[b])
      continue;
    walk(blocks[b], known[b], true);
    for (uint32_t i = blocks[b].first; i < blocks[b].end; ++i)
      if (isReadAhead(code, i, blocks[b].end))
        eachUse(code, code.insts[i], [&](uint32_t slot, bool written) {
          if (written)
            set(doubtful, numbers.of(slot));
        });
  }
  // What takes a doubtful value is doubtful.
  for (bool more = true; more;) {
    more = false;
    for (const Inst &inst : code.insts) {
      bool reads = false;
      eachUse(code, inst, [&](uint32_t slot, bool written) {
        reads |= !written && test(doubtful, numbers.of(slot));
      });
      if (!reads || !passesOn(inst))
        continue;
      eachUse(code, inst, [&](uint32_t slot, bool written) {
        uint32_t n = numbers.of(slot);
        if (written && !test(doubtful, n)) {
          set(doubtful, n);
          more = true;
        }
      });
    }
  }
  std::vector<uint32_t> index(numbers.count + 1);
  for (uint32_t n = 0; n < numbers.count; ++n)
    if (test(doubtful, n))
      index[n] = ++code.doubtfulCount;
  if (!code.doubtfulCount)
    return;
  code.doubtful.resize(numbers.bySlot.size());
  for (size_t s = 0; s < numbers.bySlot.size(); ++s)
    if (uint32_t n = numbers.bySlot[s])
      code.doubtful[s] = index[n - 1];
  for (Inst &inst : code.insts)
    eachUse(code, inst, [&](uint32_t slot, bool) {
      if (code.doubtful[slot / 4])
        inst.watch |= Inst::Doubtful;
    });
}

void tile::sim::trackRegisters(Ctx &c, const Inst &inst, uint32_t mask) {
  const Code &code = *c.code;
  auto at = [&](uint32_t slot) { return findLanes(c, slot); };
  auto setIn = [&](uint32_t slot) {
    const uint32_t *l = at(slot);
    return l ? *l : FullMask;
  };
  auto report = [&](uint32_t missing, const char *use) {
    if (missing && (c.checks & CheckUninitialized))
      c.note(inst, firstLane(missing), "uninitialized",
             std::string("a register is used ") + use +
                 " before anything was written to it, or to the shared memory "
                 "that it was loaded from");
  };
  if (inst.guard != NoSlot && !inst.micro)
    if (uint32_t *l = at(inst.guard)) {
      report(c.active & ~*l, "as a guard");
      *l |= c.active;
    }
  bool sink = isSink(inst);
  // Bytes of a word may stay empty where it is put together.
  std::string_view name = inst.name;
  bool packs = (name == "mov" && inst.extCount > 0) || name == "prmt" ||
               name == "bfi" || name == "or";
  uint32_t all = FullMask, any = 0;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    RegisterUse use = code.registers[inst.regs + i];
    if (use.written)
      continue;
    uint32_t *l = at(use.slot);
    uint32_t have = l ? *l : FullMask;
    if (sink && l) {
      report(mask & ~have, inst.cls == Class::Control ? "to choose a branch"
                                                      : "as an operand");
      *l |= mask;
      have |= mask;
    }
    all &= have;
    any |= have;
  }
  // Half of a pair may stay empty; a choice has the value that was chosen.
  uint32_t have = packs ? any : all;
  if (std::string_view(inst.name) == "selp") {
    uint32_t chosen = c.pred(inst.op[3]);
    have = setIn(inst.op[3]) &
           ((chosen & setIn(inst.op[1])) | (~chosen & setIn(inst.op[2])));
  }
  if (!passesOn(inst))
    have = FullMask;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    RegisterUse use = code.registers[inst.regs + i];
    uint32_t *l = use.written ? at(use.slot) : nullptr;
    if (l)
      *l = (*l & ~mask) | (have & mask);
  }
}

bool tile::sim::loadNothing(Ctx &c, const Inst &inst, uint32_t lanes) {
  std::vector<uint32_t *> results;
  eachUse(*c.code, inst, [&](uint32_t slot, bool written) {
    if (written)
      results.push_back(findLanes(c, slot));
  });
  // What goes to no register is wrong here or nowhere.
  if (results.empty() ||
      std::find(results.begin(), results.end(), nullptr) != results.end())
    return false;
  for (uint32_t *has : results)
    *has &= ~lanes;
  return true;
}
