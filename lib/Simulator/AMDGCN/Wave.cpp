//===-- Wave.cpp - How waves start, and what is known of their registers --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Wave.h"
#include "../Checkers/DisjointChecker.h"
#include "../Checkers/OrderChecker.h"
#include "Origins.h"
#include "SharedLoads.h"
#include "Values.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

//===-- Targets -----------------------------------------------------------===//

static const Target targets[] = {
    {"gfx90a", 9, true, false, 65536},
    {"gfx942", 9, true, true, 65536},
    {"gfx950", 9, true, true, 163840},
    {"gfx1100", 11, false, false, 65536},
    {"gfx1101", 11, false, false, 65536},
    {"gfx1102", 11, false, false, 65536},
    {"gfx1200", 12, false, false, 65536},
    {"gfx1201", 12, false, false, 65536},
    {"gfx1250", 12, false, false, 327680, true},
};

const Target *Target::find(std::string_view name) {
  for (const Target &t : targets)
    if (t.name == name)
      return &t;
  return nullptr;
}
std::string Target::names() {
  std::string out;
  for (const Target &t : targets)
    out += (out.empty() ? "" : ", ") + t.name;
  return out;
}
uint32_t Target::mostPending(Counter c) const {
  switch (counterOf(c)) {
  case Counter::Ds:
    return generation == 9 ? 15 : 63;
  case Counter::Km:
    return 31;
  default:
    return 63;
  }
}
const char *Target::nameOf(Counter c) const {
  switch (c) {
  case Counter::Load:
    return generation < 12 ? "vmcnt" : "loadcnt";
  case Counter::Store:
    return generation < 12 ? "vscnt" : "storecnt";
  case Counter::Ds:
    return generation < 12 ? "lgkmcnt" : "dscnt";
  case Counter::Async:
    return "asynccnt";
  case Counter::Tensor:
    return "tensorcnt";
  default:
    return "kmcnt";
  }
}

//===-- Entry -------------------------------------------------------------===//

namespace {
/// Scalar registers are given out in order.
struct Giver {
  Wave &wave;
  uint32_t next = 0;
  void word(uint32_t value) {
    if (next >= Vcc)
      return;
    wave.scalar[next] = value;
    wave.define(next++);
  }
  void pair(uint64_t value) {
    word(uint32_t(value));
    word(uint32_t(value >> 32));
  }
  void skip(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      word(0);
  }
};
} // namespace

Entry::Entry(const Kernel &k, const Target &target)
    : mode(uint32_t(k.directive("float_round_mode_32") |
                    k.directive("float_round_mode_16_64") << 2 |
                    k.directive("float_denorm_mode_32", 0) << 4 |
                    k.directive("float_denorm_mode_16_64", 3) << 6 |
                    k.directive("dx10_clamp", 1) << 8 |
                    k.directive("ieee_mode", 1) << 9)),
      dispatchPacket(k.directive("user_sgpr_dispatch_ptr")),
      queue(k.directive("user_sgpr_queue_ptr")),
      arguments(k.directive("user_sgpr_kernarg_segment_ptr")),
      dispatchId(k.directive("user_sgpr_dispatch_id")),
      privateSize(k.directive("user_sgpr_private_segment_size")),
      info(k.directive("system_sgpr_workgroup_info")),
      workgroup{k.directive("system_sgpr_workgroup_id_x", 1) != 0,
                k.directive("system_sgpr_workgroup_id_y") != 0,
                k.directive("system_sgpr_workgroup_id_z") != 0},
      preloaded(uint32_t(std::clamp<int64_t>(
          k.directive("user_sgpr_kernarg_preload_length"), 0, 16))),
      userCount(
          uint32_t(std::clamp<int64_t>(k.directive("user_sgpr_count"), 0, 32))),
      preloadedFrom(uint64_t(k.directive("user_sgpr_kernarg_preload_offset"))),
      workitemIds(unsigned(k.directive("system_vgpr_workitem_id"))) {
  // Where scratch memory has a place of its own, nothing says where it is.
  if (target.gfx940 || target.generation >= 11)
    return;
  buffer = k.directive("user_sgpr_private_segment_buffer");
  flatScratch = k.directive("user_sgpr_flat_scratch_init");
  scratchOffset = k.directive("enable_private_segment") ||
                  k.directive("system_sgpr_private_segment_wavefront_offset");
}

/// What the hardware puts into registers before a wave's first instruction.
void WaveProgram::start(Ctx &c, Frame &frame) const {
  auto *base = reinterpret_cast<std::byte *>(frame.regs.data());
  Wave &w = *reinterpret_cast<Wave *>(base);
  const Launch &launch = *c.launch;
  const Cta &cta = *c.cta;
  unsigned threads = launch.threadsPerCta, first = c.warp->index * waveLanes,
           count = std::min(waveLanes, threads - first);
  uint64_t live = count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
  w.setPair(Exec, live);
  if (launch.disjoint)
    Origins::start(*this, frame);
  static const uint32_t always[] = {Exec,      Exec + 1,     Null,
                                    Mode,      FlatScratch,  FlatScratch + 1,
                                    XnackMask, XnackMask + 1};
  for (uint32_t reg : always)
    w.define(reg);
  w.scalar[Mode] = entry.mode;

  Giver give{w};
  auto kernarg = uint64_t(reinterpret_cast<uintptr_t>(launch.args.data()));
  if (entry.buffer) {
    give.skip(2);
    give.word(~uint32_t(0));
    give.word(kAddsLane);
  }
  if (entry.dispatchPacket)
    // The packet lies behind the arguments.
    give.pair(kernarg + launch.args.size() - 64);
  if (entry.queue)
    give.skip(2);
  if (entry.arguments)
    give.pair(kernarg);
  if (entry.dispatchId)
    give.pair(1);
  if (entry.flatScratch)
    give.skip(2);
  if (entry.privateSize)
    give.word(codes[0]->localBytes);
  for (size_t i = 0, from = entry.preloadedFrom; i < entry.preloaded; ++i) {
    uint32_t word = 0;
    if (from < 1024 && (from + i) * 4 + 4 <= launch.args.size())
      std::memcpy(&word, launch.args.data() + (from + i) * 4, 4);
    if (launch.disjoint && give.next < Vcc)
      Origins(frame).ofScalar(give.next) =
          launch.disjoint->originAt((from + i) * 4);
    give.word(word);
  }
  // The given number of registers may be larger.
  while (give.next < entry.userCount)
    give.word(0);
  if (target->generation >= 12) {
    w.scalar[Ttmp + 9] = cta.id[0];
    w.scalar[Ttmp + 7] = (cta.id[1] & 0xffff) | cta.id[2] << 16;
    w.scalar[Ttmp + 8] = c.warp->index << 25;
    // gfx1250: where the workgroup is in its cluster, of which there are none.
    w.define(Ttmp + 9), w.define(Ttmp + 8), w.define(Ttmp + 7);
    w.define(Ttmp + 6);
  } else {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (entry.workgroup[axis])
        give.word(cta.id[axis]);
    if (entry.info)
      give.word(0);
  }
  if (entry.scratchOffset)
    give.word(0);

  // v0: the three ids of the work-item, 10 bits each.
  auto *v0 = reinterpret_cast<uint32_t *>(base + vectorBase);
  auto *defined = reinterpret_cast<uint64_t *>(base + definedBase);
  const auto &block = launch.config->block;
  for (unsigned l = 0; l < count && vectorCount; ++l) {
    unsigned t = first + l;
    v0[l] = t % block[0];
    if (entry.workitemIds >= 1)
      v0[l] |= t / block[0] % block[1] << 10;
    if (entry.workitemIds >= 2)
      v0[l] |= t / block[0] / block[1] << 20;
  }
  if (vectorCount)
    defined[0] = live;
}

//===-- Arguments ---------------------------------------------------------===//

static void putAt(std::vector<Chunk> &to, size_t offset, uint64_t value,
                  size_t bytes) {
  std::memcpy(reinterpret_cast<std::byte *>(to.data()) + offset, &value,
              std::min<size_t>(bytes, 8));
}

/// The hidden arguments, the packet that dispatched the kernel, and a place for
/// both beside the given arguments.
bool WaveProgram::bind(const LaunchConfig &config, ArgumentBuffer &args,
                       std::string &error) const {
  const Kernel &k = *kernel;
  if (config.cluster != std::array<unsigned, 3>{1, 1, 1}) {
    error = "AMD's GPUs have no clusters";
    return false;
  }
  if (config.timelines) {
    error = "timelines are for PTX";
    return false;
  }
  int64_t most = k.meta("max_flat_workgroup_size");
  uint64_t threads =
      uint64_t(config.block[0]) * config.block[1] * config.block[2];
  if (most && threads > uint64_t(most)) {
    error = "the block has " + std::to_string(threads) +
            " threads, the kernel allows " + std::to_string(most) +
            " (.max_flat_workgroup_size)";
    return false;
  }
  if (args.bytes.size() < codes[0]->paramBytes) {
    error = "the kernel takes " + std::to_string(codes[0]->paramBytes) +
            " bytes of arguments, " + std::to_string(args.bytes.size()) +
            " were given";
    return false;
  }
  size_t size = args.bytes.size();
  size = std::max<size_t>(size, size_t(k.directive("kernarg_size")));
  for (const Argument &a : k.args)
    size = std::max<size_t>(size, size_t(a.offset) + a.size);
  // The segment ends where the next one might begin: compilers load three words
  // as four.
  int64_t align = k.meta("kernarg_segment_align");
  if (align == 8 || align == 16)
    size = (size + size_t(align) - 1) / size_t(align) * size_t(align);
  size_t packet = (size + 63) / 64 * 64;
  args.own.assign(packet / 64 + 1, Chunk{});
  if (!args.bytes.empty())
    std::memcpy(args.own.data(), args.bytes.data(), args.bytes.size());
  for (const Argument &a : k.args) {
    if (!a.isHidden())
      continue;
    std::string_view kind = std::string_view(a.kind).substr(7);
    uint64_t value = 0;
    unsigned axis = kind.empty() ? 0 : unsigned(kind.back() - 'x');
    if (kind.starts_with("block_count_") && axis < 3)
      value = config.grid[axis];
    else if (kind.starts_with("group_size_") && axis < 3)
      value = config.block[axis];
    else if (kind == "grid_dims")
      value = 3;
    else if (kind == "dynamic_lds_size")
      value = config.dynamicShared;
    else if (kind == "private_base")
      value = LocalWindow >> 32;
    else if (kind == "shared_base")
      value = SharedWindow >> 32;
    else if (kind == "printf_buffer" && a.offset + a.size <= args.bytes.size())
      continue; // as it was given
    putAt(args.own, a.offset, value, a.size);
  }
  // The packet of the architected queuing language.
  putAt(args.own, packet + 2, 3, 2);
  for (unsigned i = 0; i < 3; ++i) {
    putAt(args.own, packet + 4 + 2 * i, config.block[i], 2);
    putAt(args.own, packet + 12 + 4 * i,
          uint64_t(config.block[i]) * config.grid[i], 4);
  }
  putAt(args.own, packet + 24, codes[0]->localBytes, 4);
  putAt(args.own, packet + 28, sharedBytes() + config.dynamicShared, 4);
  auto base = uint64_t(reinterpret_cast<uintptr_t>(args.own.data()));
  putAt(args.own, packet + 40, base, 8);
  args.bytes = {reinterpret_cast<const std::byte *>(args.own.data()),
                packet + 64};
  if (size)
    args.allocations.push_back({base, size, "the kernel's arguments", false});
  args.allocations.push_back({base + packet, 64, "the dispatch packet", false});
  return true;
}

//===-- Registers that are waited for, or hold nothing --------------------===//

static Pending &pendingOf(const Ctx &c, const WaveProgram &p, uint32_t reg) {
  return c.dst<Pending>(p.pendingBase)[reg];
}

std::string tile::sim::amdgcn::registerName(const WaveProgram &p,
                                            uint32_t reg) {
  if (reg >= FirstVector + p.vectorCount)
    return "a" + std::to_string(reg - FirstVector - p.vectorCount);
  if (reg >= FirstVector)
    return "v" + std::to_string(reg - FirstVector);
  switch (reg) {
  case Vcc:
    return p.waveLanes == 64 ? "vcc" : "vcc_lo";
  case Vcc + 1:
    return "vcc_hi";
  case Exec:
    return "exec";
  case Exec + 1:
    return "exec_hi";
  case M0:
    return "m0";
  case Scc:
    return "scc";
  default:
    return reg >= Ttmp && reg < Ttmp + 16 ? "ttmp" + std::to_string(reg - Ttmp)
                                          : "s" + std::to_string(reg);
  }
}

void tile::sim::amdgcn::issueMemory(Ctx &c, const Inst &inst, Counter counter,
                                    bool unordered, bool writesShared) {
  const WaveProgram &p = programOf(c);
  Wave &w = waveOf(c);
  CounterState &state = w.counters[size_t(p.target->counterOf(counter))];
  uint32_t now = ++state.issued, most = p.target->mostPending(counter);
  // A counter at its end lets no operation begin before another is done.
  if (now > most && state.lastUnordered <= state.completed)
    waitFor(c, counter, most);
  if (unordered)
    state.lastUnordered = now;
  if (writesShared)
    state.lastWrite = now;
  const RegisterUse *uses = c.code->registers.data() + inst.regs;
  for (uint32_t i = 0; i < inst.regCount; ++i) {
    if (!uses[i].written)
      continue;
    Pending &pending = pendingOf(c, p, uses[i].slot);
    (counter == Counter::Load ? pending.load : pending.other) = now;
    w.isPending = true;
  }
}

void tile::sim::amdgcn::waitFor(Ctx &c, Counter counter, uint32_t left) {
  CounterState &state =
      waveOf(c).counters[size_t(programOf(c).target->counterOf(counter))];
  if (state.issued <= left)
    return;
  // Which of the operations are left is not known if some of them may overtake
  // others.
  if (left && state.lastUnordered > state.completed)
    return;
  state.completed = std::max(state.completed, state.issued - left);
  if (counter == Counter::Load)
    waitForSharedLoads(c);
  if (counter == Counter::Async || counter == Counter::Tensor)
    waitForCopies(c, counter, state.issued - state.completed);
  // Stores write no register.
  Wave &w = waveOf(c);
  w.isPending = false;
  for (auto kind : {Counter::Load, Counter::Ds, Counter::Km})
    w.isPending |=
        w.counters[size_t(kind)].completed < w.counters[size_t(kind)].issued;
}

void tile::sim::amdgcn::checkSharedWrites(Ctx &c, const Inst &inst,
                                          const char *when, const char *why) {
  const WaveProgram &p = programOf(c);
  const CounterState &shared = waveOf(c).counters[size_t(Counter::Ds)];
  if (shared.lastWrite > shared.completed && (c.checks & CheckAsync))
    c.note(inst, 0, "missing-wait",
           std::string("writes to LDS may not be done ") + when +
               ": no wait for " + p.target->nameOf(Counter::Ds) +
               " comes before it, and " + why);
}

/// Nearly always all lanes take part, and counting takes long on a host that
/// this is not compiled for.
static uint64_t countLanes(uint64_t mask) {
  return mask == ~uint64_t(0) ? 64
         : mask == FullMask   ? Lanes
                              : uint64_t(std::popcount(mask));
}

/// Loads, and atomics that return what was there, come back in turn.
static bool returnsInOrder(const Inst &inst) {
  return inst.cls == Class::Load || inst.cls == Class::Atomic;
}

void WaveProgram::watch(Ctx &c, const Inst &inst) const {
  Wave &w = waveOf(c);
  // The loop has counted the lanes of the fragment.
  c.stats[c.pc].lanes +=
      (inst.mod[3] & OneLane ? 1 : countLanes(execOf(c))) - c.countedLanes;
  const RegisterUse *uses = c.code->registers.data() + inst.regs;
  if (w.isPending && (c.checks & CheckAsync)) {
    for (uint32_t i = 0; i < inst.regCount; ++i) {
      uint32_t reg = uses[i].slot;
      Pending &pending = pendingOf(c, *this, reg);
      if (!pending.load && !pending.other)
        continue;
      Counter other =
          target->counterOf(reg < FirstVector ? Counter::Km : Counter::Ds);
      for (auto [number, counter] : {std::pair(&pending.load, Counter::Load),
                                     std::pair(&pending.other, other)}) {
        const CounterState &state = w.counters[size_t(counter)];
        // What comes back later overwrites what came before.
        bool isShared = number == &pending.other;
        if (uses[i].written && returnsInOrder(inst) &&
            isShared == (inst.space == Space::Shared) &&
            inst.space != Space::Generic &&
            state.lastUnordered <= state.completed)
          continue;
        if (*number > state.completed)
          c.note(inst, 0, "missing-wait",
                 std::string(uses[i].written ? "write to " : "read of ") +
                     registerName(*this, reg) +
                     ", which a memory operation under way will write: no wait "
                     "for " +
                     target->nameOf(counter) + " in between");
        *number = 0;
      }
    }
  }
  if (c.checks & CheckUninitialized)
    trackValues(c, inst);
  if (c.launch->disjoint)
    trackOrigins(c, inst);
}
