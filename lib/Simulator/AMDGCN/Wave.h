//===-- Wave.h - The state of a wave --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A wave is a warp with one fragment: its lanes run in step, and EXEC says
// which of them take part. Its frame begins with what is one for the wave (a
// Wave). Behind it are the vector registers, 32 or 64 lanes side by side, and
// what is known about each of them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"
#include "Assembly.h"

namespace tile::sim::amdgcn {

/// Marks an operand that is one value for all lanes.
inline constexpr uint32_t ScalarBit = 0x40000000u;

/// What a processor counts of the memory operations under way. Targets that
/// have fewer counters share them (Target::counterOf).
enum class Counter : uint8_t {
  Load,
  Store,
  Ds,
  Km,
  // Of gfx1250: copies into LDS that lanes ask for, and those of tensors.
  Async,
  Tensor,
  Count
};

struct Target {
  std::string name;
  unsigned generation = 0; ///< 9, 11, 12
  bool gfx90a = false;     ///< and later ones of gfx9
  bool gfx940 = false;     ///< gfx942, gfx950
  uint32_t mostShared = 65536;
  bool gfx1250 = false;
  /// Null if the simulator does not run this target.
  static const Target *find(std::string_view name);
  static std::string names();
  bool isGfx9() const { return generation == 9; }
  Counter counterOf(Counter c) const {
    if (generation == 9 && c == Counter::Store)
      return Counter::Load;
    if (generation < 12 && c == Counter::Km)
      return Counter::Ds;
    return c;
  }
  /// How many operations it counts.
  uint32_t mostPending(Counter c) const;
  /// As the assembler names it.
  const char *nameOf(Counter c) const;
};

/// Operations complete in the order of their issue, except those that are
/// unordered: after one of them only a wait for zero says anything.
struct CounterState {
  uint32_t issued = 0, completed = 0, lastUnordered = 0;
  uint32_t lastWrite = 0; ///< to LDS
};

/// What a register waits for: sequence numbers of the load counter, and of the
/// one for LDS or, for scalar registers, scalar memory.
struct Pending {
  uint32_t load = 0, other = 0;
};

struct Wave {
  uint32_t scalar[ScalarCount];
  uint32_t known[ScalarCount]; ///< the bits that hold a value
  CounterState counters[size_t(Counter::Count)];
  /// When the last loads into LDS were issued, by the load counter.
  uint32_t sharedLoads[64], sharedLoadCount;
  /// At least one register may be waited for.
  bool isPending;
  uint64_t exec() const { return pair(Exec); }
  uint64_t pair(uint32_t reg) const {
    return scalar[reg] | uint64_t(scalar[reg + 1]) << 32;
  }
  void setPair(uint32_t reg, uint64_t value) {
    scalar[reg] = uint32_t(value);
    scalar[reg + 1] = uint32_t(value >> 32);
  }
  bool isDefined(uint32_t reg) const { return known[reg] == ~0u; }
  void define(uint32_t reg, bool yes = true) { known[reg] = yes ? ~0u : 0; }
};

/// What an instruction does to the values it reads.
struct Modifiers {
  uint8_t negate = 0, absolute = 0, extend = 0; ///< by source
  uint8_t opSel = 0, opSelHigh = 7, negateHigh = 0;
  bool clamp = false;
  uint8_t outputScale = 0; ///< 1: times 2, 2: times 4, 3: half
  // SDWA: 0 to 3 a byte, 4 and 5 a word, 6 all.
  uint8_t source[2] = {6, 6}, result = 6;
  uint8_t unused = 0; ///< of the result: 0 zero, 1 sign, 2 kept
  // DPP.
  enum class Move : uint8_t {
    None,
    Quad,
    Shl,
    Shr,
    Ror,
    WaveShl,
    WaveRol,
    WaveShr,
    WaveRor,
    Mirror,
    HalfMirror,
    Bcast15,
    Bcast31,
    Share,
    Xmask,
    NewBcast,
    Eight
  };
  Move move = Move::None;
  uint8_t amount = 0;
  uint32_t lanes = 0; ///< of quad_perm (2 bits each) or dpp8 (3 bits each)
  uint8_t rowMask = 15, bankMask = 15;
  bool boundControl = false, fetchInactive = false;
  bool hasWords = false; ///< sources or result are parts of registers
  // What of the moves does not depend on EXEC, by lane.
  uint8_t from[64] = {};
  uint64_t hasSource = 0, isRead = 0, isWritten = 0;
  void findMoves(unsigned lanes);
};

/// In the last word of a descriptor: ADD_TID_ENABLE. The one of scratch memory
/// has it.
constexpr uint32_t kAddsLane = 1u << 23;

/// What a kernel's directives say of the registers in which waves start. They
/// are looked up by name, so this is done once.
struct Entry {
  uint32_t mode = 0;
  bool buffer = false, dispatchPacket = false, queue = false, arguments = false,
       dispatchId = false, flatScratch = false, privateSize = false,
       info = false, scratchOffset = false, workgroup[3] = {};
  uint32_t preloaded = 0, userCount = 0; ///< words
  uint64_t preloadedFrom = 0;            ///< the word
  unsigned workitemIds = 0;
  Entry() = default;
  Entry(const Kernel &k, const Target &target);
};

struct WaveProgram final : Program {
  const Target *target = nullptr;
  const Kernel *kernel = nullptr;
  Entry entry;
  uint32_t vectorCount = 0, accumulatorCount = 0;
  uint32_t vectorBase = 0;  ///< of the vector registers in the frame
  uint32_t definedBase = 0; ///< of lanes that hold values, by vector register
  uint32_t pendingBase = 0; ///< of Pending, by scalar and vector register
  uint32_t constantCount = 0;
  std::vector<Modifiers> modifiers; ///< by Inst::ext
  void start(Ctx &, Frame &) const override;
  void watch(Ctx &, const Inst &) const override;
  bool bind(const LaunchConfig &, ArgumentBuffer &,
            std::string &) const override;
  void describe(Report &) const override;
  bool findRegister(const Code &, std::string_view name,
                    RegisterPlace &) const override;
  std::vector<std::string> registerNames(const Code &) const override;
  uint64_t activeLanes(const Ctx &, uint32_t fragment) const override;
  uint32_t maskWords() const { return waveLanes / 32; }
};

inline Wave &waveOf(const Ctx &c) { return *c.dst<Wave>(0); }
inline const WaveProgram &programOf(const Ctx &c) {
  return static_cast<const WaveProgram &>(*c.launch->program);
}
/// The lanes of the wave that take part.
inline uint64_t execOf(const Ctx &c) {
  const Wave &w = waveOf(c);
  return programOf(c).waveLanes == 64 ? w.exec() : w.scalar[Exec];
}
/// Registers as RegisterUse numbers them: scalar ones, then vector ones, then
/// accumulators.
inline constexpr uint32_t FirstVector = ScalarCount;
inline uint32_t registerOf(const WaveProgram &p, uint32_t slot) {
  return slot & ScalarBit
             ? ((slot & ~ScalarBit) - uint32_t(offsetof(Wave, scalar))) / 4
             : FirstVector + (slot - p.vectorBase) / (p.waveLanes * 4);
}

inline uint64_t &definedLanes(const Ctx &c, const WaveProgram &p,
                              uint32_t vector) {
  return c.dst<uint64_t>(p.definedBase)[vector];
}

/// The known bits of lanes that hold no value in other bits, or null if no
/// register has such lanes (KnownBits.cpp).
inline uint32_t *knownParts(const Ctx &c, const WaveProgram &p,
                            uint32_t vector) {
  return c.frame->initialized.empty()
             ? nullptr
             : c.frame->initialized.data() + size_t(vector) * p.waveLanes;
}
/// These lanes have no such bits, or hold a value in all of them.
inline void forgetParts(const Ctx &c, const WaveProgram &p, uint32_t vector,
                        uint64_t lanes) {
  if (uint32_t *parts = knownParts(c, p, vector))
    for (unsigned l = 0; l < p.waveLanes; ++l)
      if (lanes >> l & 1)
        parts[l] = 0;
}

/// Scalar operands.
template <class T> inline T scalarOf(const Ctx &c, uint32_t slot) {
  T value;
  __builtin_memcpy(&value, c.src<std::byte>(slot & ~ScalarBit), sizeof(T));
  return value;
}
template <class T> inline void setScalar(const Ctx &c, uint32_t slot, T value) {
  __builtin_memcpy(c.dst<std::byte>(slot & ~ScalarBit), &value, sizeof(T));
}
/// Masks of lanes have the wave's width.
inline uint64_t maskOf(const Ctx &c, uint32_t slot) {
  return programOf(c).waveLanes == 64 ? scalarOf<uint64_t>(c, slot)
                                      : scalarOf<uint32_t>(c, slot);
}
inline void setMask(const Ctx &c, uint32_t slot, uint64_t value) {
  if (programOf(c).waveLanes == 64)
    setScalar<uint64_t>(c, slot, value);
  else
    setScalar<uint32_t>(c, slot, uint32_t(value));
}

/// Inst::mod[3]: what else is known of an instruction.
enum Trait : uint8_t {
  AnyValue = 1,  ///< the result has a value whatever the sources have
  OneLane = 2,   ///< for the counters
  UpperLast = 4, ///< the last register that it reads matters for the upper half
                 ///< of the result alone, which often nobody uses
  Bitwise = 8,   ///< bits of the result may be known where others are not:
                 ///< mod[1] says how (BitRule). Of scalar logic, mod[0] is
                 ///< whether it saves EXEC, mod[2] what it computes (Values.h)
  WritesScc = 16,
  Chooses = 32,  ///< the lanes of mask op[3] choose between op[1] and op[2]
  EachWord = 64, ///< a move: each register that it writes holds a value where
                 ///< the one that it reads for it does
  MovesLanes = 128, ///< the first source is read from other lanes (DPP)
};

/// Inst::mod[1] where a trait says Bitwise: how bits of the result come about.
/// Of scalar logic with a table it is how many words it has. Of the others, the
/// lowest three bits say which of the operands op[1] to op[3] decide how the
/// rest is taken, such as how far something is shifted.
enum BitRule : uint8_t {
  EachBit = 16, ///< one bit of each operand decides a bit of the result
  LowBits = 32, ///< bits of the operands up to the same one do
};

/// A memory operation is under way: registers of the instruction wait for it.
void issueMemory(Ctx &c, const Inst &inst, Counter counter, bool unordered,
                 bool writesShared = false);
/// At most `left` operations of a counter may be under way from now on.
void waitFor(Ctx &c, Counter counter, uint32_t left);

/// Notes what the wave has written to LDS without waiting for it: it may not be
/// there at `when`, because of `why`.
void checkSharedWrites(Ctx &c, const Inst &inst, const char *when,
                       const char *why);

} // namespace tile::sim::amdgcn
