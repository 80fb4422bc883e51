//===-- VectorMemory.h - What all memory instructions of lanes share ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An instruction says where each lane's bytes are; here they are found,
// checked, and moved. Operations of one wave on one memory are done in order.
// So what a wave has accessed before is ordered before what it accesses now.
// Waves know nothing of each other without a barrier or an atomic.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Checkers/OrderChecker.h"
#include "../Checkers/UndefinedLanes.h"
#include "../Memory.h"
#include "VectorLanes.h"

#include <cstring>

namespace tile::sim::amdgcn {

/// What a lane moves between memory and its registers.
enum class Data : uint8_t {
  U8,
  S8,
  U16,
  S16,
  // Into, or from, one half of a register, which keeps the other.
  U8Low,
  U8High,
  S8Low,
  S8High,
  B16Low,
  B16High,
  B32,
  B64,
  B96,
  B128,
};
inline unsigned bytesOf(Data d) {
  switch (d) {
  case Data::U8:
  case Data::S8:
  case Data::U8Low:
  case Data::U8High:
  case Data::S8Low:
  case Data::S8High:
    return 1;
  case Data::U16:
  case Data::S16:
  case Data::B16Low:
  case Data::B16High:
    return 2;
  case Data::B32:
    return 4;
  case Data::B64:
    return 8;
  case Data::B96:
    return 12;
  case Data::B128:
    return 16;
  }
  return 0;
}
/// Copies what a Data has: a call of memcpy for a number of bytes that the
/// compiler does not know costs more than what else is done for a lane.
inline void copyData(void *to, const void *from, unsigned bytes) {
  switch (bytes) {
  case 1:
    return void(std::memcpy(to, from, 1));
  case 2:
    return void(std::memcpy(to, from, 2));
  case 4:
    return void(std::memcpy(to, from, 4));
  case 8:
    return void(std::memcpy(to, from, 8));
  case 12:
    return void(std::memcpy(to, from, 12));
  case 16:
    return void(std::memcpy(to, from, 16));
  }
}
inline unsigned wordsOfData(Data d) { return std::max(1u, bytesOf(d) / 4); }

using Names = std::initializer_list<const char *>;
/// Calls f<Data>(suffixes of loads, suffixes of stores), with the names of gfx9
/// and of gfx11.
template <class F> void eachData(F f) {
  f.template operator()<Data::U8>({"ubyte", "u8"}, {"byte", "b8"});
  f.template operator()<Data::S8>({"sbyte", "i8"}, {});
  f.template operator()<Data::U16>({"ushort", "u16"}, {"short", "b16"});
  f.template operator()<Data::S16>({"sshort", "i16"}, {});
  f.template operator()<Data::U8Low>({"ubyte_d16", "d16_u8"}, {});
  f.template operator()<Data::U8High>({"ubyte_d16_hi", "d16_hi_u8"},
                                      {"byte_d16_hi", "d16_hi_b8"});
  f.template operator()<Data::S8Low>({"sbyte_d16", "d16_i8"}, {});
  f.template operator()<Data::S8High>({"sbyte_d16_hi", "d16_hi_i8"}, {});
  f.template operator()<Data::B16Low>({"short_d16", "d16_b16"}, {});
  f.template operator()<Data::B16High>({"short_d16_hi", "d16_hi_b16"},
                                       {"short_d16_hi", "d16_hi_b16"});
  f.template operator()<Data::B32>({"dword", "b32"}, {"dword", "b32"});
  f.template operator()<Data::B64>({"dwordx2", "b64"}, {"dwordx2", "b64"});
  f.template operator()<Data::B96>({"dwordx3", "b96"}, {"dwordx3", "b96"});
  f.template operator()<Data::B128>({"dwordx4", "b128"}, {"dwordx4", "b128"});
}

/// The register after bytes from memory came into it.
inline uint32_t extendLoaded(Data d, uint32_t raw, uint32_t old) {
  auto low = [&](uint32_t v) { return (old & 0xffff0000) | (v & 0xffff); };
  auto high = [&](uint32_t v) { return (old & 0xffff) | v << 16; };
  switch (d) {
  case Data::S8:
    return uint32_t(int32_t(int8_t(raw)));
  case Data::S16:
    return uint32_t(int32_t(int16_t(raw)));
  case Data::U8Low:
  case Data::B16Low:
    return low(raw);
  case Data::S8Low:
    return low(uint32_t(int32_t(int8_t(raw))));
  case Data::U8High:
  case Data::B16High:
    return high(raw);
  case Data::S8High:
    return high(uint32_t(int32_t(int8_t(raw))));
  default:
    return raw;
  }
}
/// The bytes that a load of less than a word brings.
inline uint32_t truncateTo(Data d, uint32_t word) {
  return bytesOf(d) < 4 ? word & ((1u << 8 * bytesOf(d)) - 1) : word;
}
/// What a load leaves in each word of lanes that are switched off.
inline uint32_t undefinedWord(Ctx &c, const Inst &inst) {
  return undefinedByte(c, inst) * 0x01010101u;
}
/// The bytes that leave a register start here.
inline unsigned storedByte(Data d) {
  return d == Data::U8High || d == Data::B16High ? 2 : 0;
}

/// Translates the lanes of `mask` and calls f(lane, bytes in memory).
template <class Address, class F>
bool accessLanes(Ctx &c, const Inst &inst, uint64_t mask, Space space,
                 unsigned bytes, Access kind, Address address, F f,
                 std::byte (*stored)[32] = nullptr,
                 const uint8_t *kept = nullptr) {
  for (unsigned base = 0; base < programOf(c).waveLanes; base += Lanes) {
    auto part = uint32_t(mask >> base);
    if (!part)
      continue;
    Translation t;
    for (unsigned l = 0; l < Lanes; ++l)
      t.address[l] = part >> l & 1 ? address(base + l) : 0;
    t.kept = kept ? kept + base : nullptr;
    c.laneBase = base;
    c.storeData = stored && c.checker ? stored[base] : nullptr;
    bool good = translate(c, inst, part, space, bytes, kind, t);
    c.storeData = nullptr;
    c.laneBase = 0;
    if (!good)
      return false;
    eachLane(part, [&](unsigned l) { f(base + l, t.host[l]); });
  }
  return true;
}

/// What the wave did so far is ordered before what it does from now on.
inline void orderWave(Ctx &c) {
  if (c.checker)
    c.checker->warpSync(c, FullMask);
}

//===-- Values in scratch memory ------------------------------------------===//

/// Calls f for the words of `data` that one lane moves between the registers at
/// `slot` and `host`, if that is scratch memory. It gets the lanes in which the
/// register holds a value, the bit of the lane, what is known of the bytes, and
/// how many.
///
/// Compilers spill registers whether they hold a value or not. They also reload
/// registers that were not stored: a loop that may have no iteration would have
/// set and stored them. So a load of scratch memory that nobody wrote is no
/// mistake. The register that it loads then holds no value.
template <class F>
void eachScratchWord(Ctx &c, Space space, Data data, uint32_t slot,
                     unsigned lane, const std::byte *host, F f) {
  if ((space != Space::Local && space != Space::Generic) ||
      !(c.checks & CheckUninitialized))
    return;
  uintptr_t at = reinterpret_cast<uintptr_t>(host) -
                 reinterpret_cast<uintptr_t>(c.warp->local.data());
  if (at >= c.warp->local.size())
    return;
  const WaveProgram &p = programOf(c);
  uint32_t first = registerOf(p, slot) - FirstVector;
  for (unsigned w = 0; w < wordsOfData(data); ++w)
    f(definedLanes(c, p, first + w), uint64_t(1) << lane,
      c.warp->localWritten.data() + at + 4 * w, std::min(4u, bytesOf(data)));
}

//===-- Loads and stores --------------------------------------------------===//

/// Loads `data` into the registers at `slot`.
template <class Address>
Step loadLanes(Ctx &c, const Inst &inst, uint64_t mask, Space space, Data data,
               uint32_t slot, Address address) {
  unsigned lanes = programOf(c).waveLanes, bytes = bytesOf(data),
           words = bytes / 4;
  auto *to = c.dst<uint32_t>(slot);
  bool good =
      accessLanes(c, inst, mask, space, bytes, Access::Load, address,
                  [&](unsigned l, const std::byte *from) {
                    for (unsigned w = 0; w < words; ++w)
                      std::memcpy(to + w * lanes + l, from + 4 * w, 4);
                    if (!words) {
                      uint32_t raw = 0;
                      copyData(&raw, from, bytes);
                      to[l] = extendLoaded(data, raw, to[l]);
                    }
                    eachScratchWord(c, space, data, slot, l, from,
                                    [](uint64_t &known, uint64_t lane,
                                       const uint8_t *written, unsigned count) {
                                      if (!std::memchr(written, 1, count))
                                        known &= ~lane;
                                    });
                  });
  orderWave(c);
  return good ? Step::Next : Step::Error;
}

/// Stores `data` from the registers at `slot`.
template <class Address>
Step storeLanes(Ctx &c, const Inst &inst, uint64_t mask, Space space, Data data,
                uint32_t slot, Address address) {
  unsigned lanes = programOf(c).waveLanes, bytes = bytesOf(data);
  const auto *from = c.src<uint32_t>(slot);
  alignas(16) std::byte stored[64][32];
  for (unsigned l = 0; l < lanes; ++l) {
    uint32_t words[4];
    for (unsigned w = 0; w < wordsOfData(data); ++w)
      words[w] = from[w * lanes + l];
    copyData(stored[l], reinterpret_cast<std::byte *>(words) + storedByte(data),
             bytes);
  }
  ++c.cluster->stores;
  bool good = accessLanes(
      c, inst, mask, space, bytes, Access::Store, address,
      [&](unsigned l, std::byte *to) {
        copyData(to, stored[l], bytes);
        eachScratchWord(c, space, data, slot, l, to,
                        [](uint64_t known, uint64_t lane, uint8_t *written,
                           unsigned count) {
                          if (!(known & lane))
                            std::memset(written, 0, count);
                        });
      },
      stored);
  orderWave(c);
  return good ? Step::Next : Step::Error;
}

//===-- Cache flags -------------------------------------------------------===//

/// Takes the flags about caches; says whether others than the wave's own
/// processor see what the instruction does: see the memory model of the target
/// in LLVM's documentation.
inline bool takeScope(InstDecoder &d) {
  bool shared = d.target().gfx940 ? d.has("sc1") : d.has("glc");
  if (const Modifier *scope = d.modifier("scope"))
    shared = scope->word != "SCOPE_CU";
  for (const char *name : {"sc0", "sc1", "nt", "glc", "slc", "dlc", "th", "nv"})
    d.has(name);
  return shared;
}
/// Does the atomic say that it has a result?
inline bool saysResult(InstDecoder &d) {
  const Modifier *hint = d.modifier("th");
  return d.has("sc0") || d.has("glc") ||
         (hint && hint->word.find("_RETURN") != std::string::npos);
}

//===-- Atomics -----------------------------------------------------------===//

enum class Atomic : uint8_t {
  Swap,
  CmpSwap,
  Add,
  Sub,
  Rsub,
  SMin,
  UMin,
  SMax,
  UMax,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  FAdd,
  FMin,
  FMax,
  PkAddF16,
  PkAddBf16,
};
struct AtomicName {
  const char *name, *other; ///< of gfx9, and from gfx11 on
  Atomic op;
  bool wide;
};
/// What is in memory afterwards. `compare` is of CmpSwap alone.
uint64_t applyAtomic(Atomic op, bool wide, uint64_t old, uint64_t value,
                     uint64_t compare);
/// Names of the global, flat and buffer atomics.
const std::vector<AtomicName> &memoryAtomics();

/// Lanes one after the other. op `data`: the value, and behind it what CmpSwap
/// compares with; `result`: NoSlot, or where the old value goes.
template <class Address>
Step atomicLanes(Ctx &c, const Inst &inst, uint64_t mask, Space space,
                 Atomic op, bool wide, uint32_t data, uint32_t compare,
                 uint32_t result, Address address) {
  unsigned lanes = programOf(c).waveLanes, bytes = wide ? 8 : 4;
  auto read = [&](uint32_t slot, unsigned l) {
    const auto *words = c.src<uint32_t>(slot);
    return words[l] | (wide ? uint64_t(words[lanes + l]) << 32 : 0);
  };
  auto lock = c.launch->group->lockAtomics();
  ++c.cluster->stores;
  ++c.cluster->progress;
  ++c.worker->counters.atomics;
  uint8_t kept[64];
  bool keeps = !wide && (op == Atomic::CmpSwap || op == Atomic::And ||
                         op == Atomic::Or || op == Atomic::Xor);
  for (unsigned l = 0; keeps && l < lanes; ++l)
    kept[l] = keptBytes(uint32_t(read(data, l)),
                        compare != NoSlot   ? uint32_t(read(compare, l))
                        : op == Atomic::And ? ~0u
                                            : 0);
  bool good = accessLanes(
      c, inst, mask, space, bytes, Access::Atomic, address,
      [&](unsigned l, std::byte *at) {
        uint64_t old = 0;
        std::memcpy(&old, at, bytes);
        uint64_t now = applyAtomic(op, wide, old, read(data, l),
                                   compare == NoSlot ? 0 : read(compare, l));
        std::memcpy(at, &now, bytes);
        if (result == NoSlot)
          return;
        auto *out = c.dst<uint32_t>(result);
        out[l] = uint32_t(old);
        if (wide)
          out[lanes + l] = uint32_t(old >> 32);
      },
      nullptr, keeps ? kept : nullptr);
  orderWave(c);
  return good ? Step::Next : Step::Error;
}

/// Is the order in which waves do it visible in the result?
inline bool tellsOrder(Atomic op, bool hasResult) {
  return hasResult || op == Atomic::Swap || op == Atomic::CmpSwap ||
         op >= Atomic::FAdd;
}

} // namespace tile::sim::amdgcn
