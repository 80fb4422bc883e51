//===-- Program.h - Decoded instructions and their operands ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Registers live in a per-warp frame, 32 lanes side by side, so that every lane
// loop is a loop over two or three arrays. An operand is a byte offset into
// that frame, or, with ConstBit, into the function's pool of constants, which
// has the same shape.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Rules/Rules.h"
#include "tile/Simulator/Ast.h"
#include "tile/Simulator/Report.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tile::sim {

inline constexpr unsigned Lanes = 32;
/// Local memory that a thread may have on hardware.
inline constexpr uint32_t mostLocal = 512 * 1024;
inline constexpr uint32_t FullMask = 0xffffffffu;
inline constexpr uint32_t ConstBit = 0x80000000u;
inline constexpr uint32_t NoSlot = 0x7fffffffu;

/// Generic addresses: host addresses for global memory, windows far above them
/// for the rest.
inline constexpr unsigned WindowShift = 56;
inline constexpr uint64_t SharedWindow = uint64_t(1) << WindowShift;
inline constexpr uint64_t LocalWindow = uint64_t(2) << WindowShift;
inline constexpr uint64_t ParamWindow = uint64_t(3) << WindowShift;
inline constexpr uint64_t CodeWindow = uint64_t(4) << WindowShift;
/// Shared addresses may name a CTA of the cluster in their top byte: see
/// ClusterAddress.h.
inline constexpr unsigned ClusterRankShift = 24;

struct Ctx;
struct Inst;
struct Code;

/// What a handler asks of the warp loop.
enum class Step : uint8_t {
  Next,  ///< go on with the following instruction
  Jump,  ///< the handler has set the program counter or the active lanes
  Yield, ///< go on, but let others run first
  Block, ///< the fragment waits; its program counter stays
  Done,  ///< the fragment has no lanes left
  Error, ///< an error has been recorded
};

using ExecFn = Step (*)(Ctx &, const Inst &, uint32_t mask);

struct Inst {
  ExecFn fn = nullptr;
  uint32_t op[6] = {NoSlot, NoSlot, NoSlot, NoSlot, NoSlot, NoSlot};
  int64_t imm = 0;
  uint32_t guard = NoSlot;
  uint32_t target = 0; ///< branch target, an index into Code::insts
  uint32_t ext = 0;    ///< first entry of a variable operand list in Code::ext
  uint16_t extCount = 0;
  bool guardNegated = false;
  bool micro =
      false; ///< helper of the decoder, not an instruction of the program
  uint8_t mod[4] = {0, 0, 0, 0};
  /// Memory order: none for plain accesses; and who takes part in it.
  enum Order : uint8_t { Strong = 1, Acquire = 2, Release = 4 };
  enum Scope : uint8_t { CtaOnly, ClusterOnly, Gpu, System };
  uint8_t order = 0;
  uint8_t scope = System;
  Space space = Space::Generic;
  Type type = Type::None;
  Class cls = Class::Other;
  bool isWgmma = false;
  bool isSwap = false;      ///< atom.cas, or a load that one compares with
  bool commutes = false;    ///< only its result tells the order of CTAs
  bool isUnaligned = false; ///< its addresses may be any
  /// Why somebody looks at its registers before it runs.
  enum Watch : uint8_t {
    Matrix = 1,    ///< names a register that some wgmma uses
    Doubtful = 2,  ///< names one that may not have been written
    Program = 4,   ///< the program itself looks: Program::watch
    Undefined = 8, ///< a load that may leave lanes undefined (UndefinedLanes.h)
  };
  uint8_t watch = 0;
  uint32_t regs = 0; ///< first entry in Code::registers
  uint16_t regCount = 0;
  bool endsBlock = false;
  bool hasTarget = false; ///< control may go to `target`
  uint32_t line = 0;      ///< of the PTX text
  int32_t source = -1;    ///< index into Code::sources
  const char *name = "";
  const Code *callee = nullptr;
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NTidX,
  NTidY,
  NTidZ,
  CtaX,
  CtaY,
  CtaZ,
  NCtaX,
  NCtaY,
  NCtaZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  MaskEq,
  MaskLe,
  MaskLt,
  MaskGe,
  MaskGt,
  ClusterX,
  ClusterY,
  ClusterZ,
  NClusterX,
  NClusterY,
  NClusterZ,
  ClusterCtaX,
  ClusterCtaY,
  ClusterCtaZ,
  ClusterNCtaX,
  ClusterNCtaY,
  ClusterNCtaZ,
  ClusterRank,
  ClusterNRank,
  IsExplicitCluster,
  DynamicShared,
  TotalShared,
  AggregateShared,
  ReservedShared,
  SharedAtDynamic,
  WorkspaceHigh,
  WorkspaceLow,
  Zero,
  Clock,
  Clock64,
  ClockHi,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
};

struct alignas(64) Chunk {
  std::byte bytes[64];
};

struct ParamSlot {
  std::string name;
  Type type = Type::None;
  uint32_t offset = 0, size = 0;
  bool isArray = false;
  bool isRegister = false;
  uint32_t slot = NoSlot; ///< for parameters that are registers
};

struct RegisterUse {
  uint32_t slot;
  bool written;
  /// Must hold a value: what it holds goes to memory or decides something.
  bool isNeeded = false;
  /// Of a mask of lanes: 1 the lower 32, 2 the upper ones.
  uint8_t half = 0;
  /// Part of the address of an access to memory.
  bool isAddress = false;
};

/// Bytes between variables, which belong to nobody: an access to them has left
/// the variable before.
struct Gap {
  static constexpr uint32_t bytes = 16;
  uint32_t offset;
  std::string variable;
  static const Gap *find(const std::vector<Gap> &gaps, uint64_t at,
                         uint64_t size) {
    for (const Gap &g : gaps)
      if (at < g.offset + bytes && g.offset < at + size)
        return &g;
    return nullptr;
  }
};

/// One decoded function.
struct Code {
  std::string name;
  uint32_t index = 0;
  std::vector<Inst> insts;
  std::vector<uint32_t> ext;
  /// The registers that each instruction names in the program's text.
  std::vector<RegisterUse> registers;
  /// By slot / 4: from 1, the number of a register that may be read before it
  /// is written, or take such a value.
  std::vector<uint32_t> doubtful;
  uint32_t doubtfulCount = 0;
  std::vector<Chunk> consts;
  std::vector<ast::SourceLoc> sources;
  /// By source: from 1, the number of a load that may leave lanes undefined.
  std::vector<uint32_t> undefinedLoads;
  std::vector<std::pair<uint32_t, Special>> specials;
  uint32_t frameBytes = 0;
  uint32_t localBytes =
      0; ///< of local variables and call parameters, per thread
  std::vector<Gap> localGaps;
  uint8_t ctaGroup = 0; ///< that all its tcgen05 instructions name
  std::vector<ParamSlot> params, returns;
  uint32_t paramBytes = 0;
};

enum class Builtin : uint8_t { None, Vprintf, AssertFail, Malloc, Free };

struct LaunchConfig;
struct Frame;
struct ArgumentBuffer;
struct Cta;
struct Fragment;
struct Warp;

/// Why a fragment cannot go on, for people.
struct Obstacle {
  /// What it waits for.
  std::string text;
  /// Of several fragments that wait, one of the highest rank keeps the others
  /// waiting. The finding is about that one.
  unsigned rank = 1;
  const char *kind = textOf(Rule::NobodyGoesOn).kind;
  std::string head = textOf(Rule::NobodyGoesOn).text;
};

/// A variable of the module in host memory.
struct GlobalVariable {
  Space space = Space::Global;
  uint64_t address = 0, size = 0;
};

/// Facts of a GPU: of a target that says nothing, those of an H200.
struct Device {
  std::string_view gpu = "H200"; ///< whose rates the cost model takes
  uint32_t processors = 132;
  uint32_t registers = 65536;       ///< of a processor
  uint32_t mostRegisters = 256;     ///< of a thread
  uint32_t mostShared = 227 * 1024; ///< of a CTA, in bytes
  uint32_t mostThreads = 1024;      ///< of a CTA
  uint32_t mostClusterCtas = 16;    ///< 1: there are no clusters
  std::array<uint32_t, 3> mostCtas{0x7fffffff, 65535, 65535};
};

/// Where a register of the program's text is in a frame. One that all lanes
/// share has a stride of 0.
struct RegisterPlace {
  uint32_t slot = 0;
  uint32_t high = NoSlot; ///< of the upper 32 bits, where they lie elsewhere
  uint32_t bytes = 4, stride = 4;
  bool isPredicate = false; ///< a bit of one word for each lane
};

/// An entry with everything it may call and its shared-memory layout. What a
/// front end does otherwise than PTX, it says by deriving from this.
struct Program {
  virtual ~Program() = default;
  /// Fills registers of a function that begins, an entry or one that is called.
  virtual void enter(Ctx &, Frame &) const {}
  /// Fills the registers of a warp that starts.
  virtual void start(Ctx &, Frame &) const {}
  /// What a fragment waits for that cannot go on: here, what all front ends
  /// have in common (Machine.cpp).
  virtual Obstacle describeWait(const Cta &, const Warp &,
                                const Fragment &) const;
  /// Looks at an instruction with Inst::Program before it runs.
  virtual void watch(Ctx &, const Inst &) const {}
  /// Makes the arguments that the kernel sees of those that were given. False,
  /// with a message, for a launch that the kernel cannot have.
  virtual bool bind(const LaunchConfig &, ArgumentBuffer &,
                    std::string &) const {
    return true;
  }
  /// For debuggers: finds a register by its name in the text.
  virtual bool findRegister(const Code &, std::string_view,
                            RegisterPlace &) const {
    return false;
  }
  /// For debuggers: names of the registers.
  virtual std::vector<std::string> registerNames(const Code &) const {
    return {};
  }
  /// For debuggers: the lanes that are active, of those of the fragment.
  virtual uint64_t activeLanes(const Ctx &, uint32_t fragment) const {
    return fragment;
  }
  /// Adds what else a report says of a launch, whose sizes it has.
  virtual void describe(Report &) const {}
  /// Threads of a warp. Of more than Lanes, an access to memory is made Lanes
  /// by Lanes (Ctx::laneBase), and the checkers see lanes that are so far apart
  /// as one.
  uint32_t waveLanes = Lanes;
  Device device;
  /// 4-byte banks of it: 32 or 64.
  uint32_t sharedBanks = 32;
  /// Code of each function of the module by its number, which is what a
  /// function pointer holds; null if unused.
  std::vector<const Code *> functions;
  std::vector<std::unique_ptr<Code>> codes; ///< codes[0] is the entry
  uint32_t staticShared = 0;
  std::vector<std::pair<std::string, std::pair<uint32_t, uint32_t>>>
      sharedNames; ///< name, offset, size
  std::vector<Gap> sharedGaps;
  /// Of the static variables themselves.
  uint32_t sharedBytes() const {
    return staticShared - uint32_t(sharedGaps.size()) * Gap::bytes;
  }
  std::array<unsigned, 3> maxThreads{}, requiredThreads{}, requiredCluster{};
  uint32_t maxRegisters = 0;      ///< .maxnreg
  bool usesGlobalAtomics = false; ///< results may depend on the order of CTAs
  int commutingAtomic = -1;       ///< the only operation of those that commute
  bool usesClusters = false;
  bool usesWorkspace = false; ///< of a cooperative launch
  /// Keeps Frame::origins while it runs, for launches with a DisjointChecker.
  bool followsOrigins = false;
  /// What a load of local memory finds unwritten is no value in its register
  /// either, and a mistake where that is used: such code spills registers. Else
  /// the load itself is the mistake.
  bool loadsKeepUnwritten = false;
};

} // namespace tile::sim
