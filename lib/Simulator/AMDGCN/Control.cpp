//===-- Control.cpp - SOPP: branches, waits, barriers, mode ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Checkers/OrderChecker.h"
#include "Decoder.h"

#include <algorithm>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
//===-- Branches ----------------------------------------------------------===//

enum class When : uint8_t {
  Always,
  Scc0,
  Scc1,
  VccZero,
  VccNonzero,
  ExecZero,
  ExecNonzero
};

bool holds(const Ctx &c, When when) {
  const Wave &w = waveOf(c);
  bool wide = programOf(c).waveLanes == 64;
  switch (when) {
  case When::Always:
    return true;
  case When::Scc0:
  case When::Scc1:
    return (w.scalar[Scc] != 0) == (when == When::Scc1);
  case When::VccZero:
  case When::VccNonzero:
    return ((wide ? w.pair(Vcc) : w.scalar[Vcc]) != 0) ==
           (when == When::VccNonzero);
  case When::ExecZero:
  case When::ExecNonzero:
    return (execOf(c) != 0) == (when == When::ExecNonzero);
  }
  return false;
}

template <When W> Step execBranch(Ctx &c, const Inst &inst, uint32_t) {
  if (c.counting && W != When::Always)
    ++c.worker->counters.branches;
  if (!holds(c, W))
    return Step::Next;
  c.pc = inst.target;
  return Step::Jump;
}
template <When W> bool decodeBranch(InstDecoder &d) {
  if (W == When::Scc0 || W == When::Scc1)
    d.readScalar(Scc, 1, Needed);
  if (W == When::VccZero || W == When::VccNonzero)
    d.readScalar(Vcc, d.program.maskWords(), Needed);
  if (W == When::ExecZero || W == When::ExecNonzero)
    d.readScalar(Exec, d.program.maskWords(), Needed);
  d.inst.endsBlock = true;
  return d.expect(1, 1) && branchTarget(d, 0) &&
         d.emit(execBranch<W>, Class::Control);
}

Step execEnd(Ctx &c, const Inst &inst, uint32_t mask) {
  exitLanes(c, inst, mask);
  return Step::Done;
}
bool decodeEnd(InstDecoder &d) {
  d.inst.endsBlock = true;
  return d.expect(0, 0) && d.emit(execEnd, Class::Control);
}

Step execTrap(Ctx &c, const Inst &inst, uint32_t) {
  uint64_t exec = execOf(c);
  return c.fail(inst, exec ? unsigned(std::countr_zero(exec)) : 0, "trap",
                "the kernel ran into s_trap");
}
bool decodeTrap(InstDecoder &d) { return d.emit(execTrap, Class::Control); }

Step execNothing(Ctx &, const Inst &, uint32_t) { return Step::Next; }
Step execYield(Ctx &, const Inst &, uint32_t) { return Step::Yield; }
template <ExecFn F> bool decodeHint(InstDecoder &d) {
  return d.emit(F, Class::Control);
}

//===-- Waits -------------------------------------------------------------===//

/// imm: a byte for each counter: how many of its operations may be left; 255:
/// any number.
constexpr int64_t waitForNone = -1;
uint8_t leftOf(const Inst &inst, Counter counter) {
  return uint8_t(inst.imm >> 8 * unsigned(counter));
}
void setLeft(Inst &inst, Counter counter, int64_t left) {
  unsigned shift = 8 * unsigned(counter);
  inst.imm &= ~(int64_t(255) << shift);
  inst.imm |= std::min<int64_t>(left, 254) << shift;
}

Step execWait(Ctx &c, const Inst &inst, uint32_t mask) {
  for (unsigned i = 0; i < unsigned(Counter::Count); ++i)
    if (uint8_t left = leftOf(inst, Counter(i)); left != 255)
      waitFor(c, Counter(i), left);
  // What this wave read and wrote before is done for whoever learns of it now.
  // That may be by way of a wave that was at a barrier with it and waits for
  // nothing.
  auto isDone = [&](Counter counter) {
    Counter own = programOf(c).target->counterOf(counter);
    const CounterState &state = waveOf(c).counters[size_t(own)];
    return state.completed >= state.issued;
  };
  if (c.checker && c.launch->group->synchronizes && isDone(Counter::Load) &&
      isDone(Counter::Store))
    c.checker->fence(c, mask, Inst::System, /*sequential=*/true);
  return Step::Next;
}

/// `vmcnt(0) & lgkmcnt(1)`, with or without the sign between, or the number
/// that the instruction encodes.
bool decodeWait(InstDecoder &d) {
  d.inst.imm = waitForNone;
  if (!d.expect(1, 1))
    return false;
  const Operand &o = d.operand(0);
  if (o.kind == Operand::Kind::Integer) {
    auto n = uint32_t(o.imm);
    bool isGfx9 = d.target().isGfx9();
    uint32_t vm = isGfx9 ? (n & 15) | (n >> 14 & 3) << 4 : n >> 10 & 63,
             lgkm = isGfx9 ? n >> 8 & 15 : n >> 4 & 63;
    if (vm != 63)
      setLeft(d.inst, Counter::Load, vm);
    if (lgkm != (isGfx9 ? 15 : 63))
      setLeft(d.inst, Counter::Ds, lgkm);
    return d.emit(execWait, Class::Control);
  }
  std::string_view s = o.text;
  while (!s.empty()) {
    if (s.front() == ' ' || s.front() == '&' || s.front() == '\t') {
      s.remove_prefix(1);
      continue;
    }
    size_t open = s.find('('), close = s.find(')');
    int64_t n;
    if (open == std::string_view::npos || close == std::string_view::npos ||
        close < open ||
        !parseInteger(s.substr(open + 1, close - open - 1), n) || n < 0)
      return d.error("'" + o.text + "' is no list of counters");
    std::string_view name = s.substr(0, open);
    if (name == "vmcnt")
      setLeft(d.inst, Counter::Load, n);
    else if (name == "lgkmcnt")
      setLeft(d.inst, Counter::Ds, n);
    else if (name != "expcnt")
      return d.error("unknown counter '" + std::string(name) + "'");
    s.remove_prefix(close + 1);
  }
  return d.emit(execWait, Class::Control);
}

/// s_waitcnt_vscnt null, 0x0
template <Counter C> bool decodeWaitOne(InstDecoder &d) {
  d.inst.imm = waitForNone;
  if (!d.expect(2, 2) || d.operand(1).kind != Operand::Kind::Integer)
    return d.error("takes null and a number");
  if (d.operand(0).reg != Null)
    return d.error("a register as the count is not supported");
  setLeft(d.inst, C, d.operand(1).imm & 63);
  return d.emit(execWait, Class::Control);
}

/// s_wait_loadcnt 0x0 and, with the count of `High` in the upper byte,
/// s_wait_loadcnt_dscnt 0x0: gfx12 counts each kind of memory by itself.
template <Counter C, Counter High = Counter::Count>
bool decodeWaitCounter(InstDecoder &d) {
  if (d.target().generation < 12)
    return d.error("is of gfx12 and later");
  d.inst.imm = waitForNone;
  if (!d.expect(1, 1) || d.operand(0).kind != Operand::Kind::Integer ||
      d.operand(0).imm < 0)
    return d.error("takes a number");
  int64_t n = d.operand(0).imm;
  setLeft(d.inst, C, n & 63);
  if constexpr (High != Counter::Count)
    setLeft(d.inst, High, n >> 8 & 63);
  return d.emit(execWait, Class::Control);
}

//===-- Barrier -----------------------------------------------------------===//

void checkSharedWritesAtBarrier(Ctx &c, const Inst &inst) {
  checkSharedWrites(c, inst, "at this barrier",
                    "LDS orders no operations of different waves");
}
Step execBarrier(Ctx &c, const Inst &inst, uint32_t mask) {
  checkSharedWritesAtBarrier(c, inst);
  NamedBarrier &b = c.cta->barriers[0];
  b.expected = c.cta->liveThreads;
  b.forAll = true;
  return arriveAtBarrier(c, inst, mask, 0, uint32_t(std::popcount(mask)),
                         false);
}
bool decodeBarrier(InstDecoder &d) {
  return d.expect(0, 0) && d.emit(execBarrier, Class::Barrier);
}

/// The barrier of all waves, of gfx12: each signals, and then waits for the
/// others. Both happen at the wait here, so no memory that waves share may be
/// accessed between the two, but for what scalar loads read.
Step execSignal(Ctx &c, const Inst &inst, uint32_t) {
  checkSharedWritesAtBarrier(c, inst);
  return Step::Next;
}
bool takeGroupBarrier(InstDecoder &d) {
  if (!d.expect(1, 1))
    return false;
  const Operand &o = d.operand(0);
  bool isGroup = o.kind == Operand::Kind::Integer &&
                 (o.imm == -1 || uint16_t(o.imm) == 0xffff);
  return isGroup ||
         d.error("only the barrier of the workgroup, -1, is supported");
}
bool decodeSignal(InstDecoder &d) {
  static const std::string_view others[] = {
      "ds_",       "global_",  "flat_",     "buffer_", "tensor_", "cluster_",
      "s_barrier", "s_branch", "s_cbranch", "s_setpc", "s_swap",  "s_endpgm"};
  auto isOther = [](std::string_view name) {
    // These move values between lanes.
    if (name.starts_with("ds_swizzle") || name.find("permute") != name.npos)
      return false;
    return std::any_of(
        std::begin(others), std::end(others),
        [&](std::string_view prefix) { return name.starts_with(prefix); });
  };
  const Instruction *next = d.in,
                    *end = d.module.body.data() + d.module.body.size();
  while (++next != end && !isOther(next->opcode))
    ;
  if (next == end || next->opcode != "s_barrier_wait")
    return d.error("accesses to memory and branches between it and "
                   "s_barrier_wait are not supported");
  return takeGroupBarrier(d) && d.emit(execSignal, Class::Control);
}
bool decodeBarrierWait(InstDecoder &d) {
  return takeGroupBarrier(d) && d.emit(execBarrier, Class::Barrier);
}

//===-- Hardware registers ------------------------------------------------===//

enum class Hardware : uint8_t {
  Mode,
  Schedule,
  Unit,    ///< which of them a wave runs on: here, always the first
  Cluster, ///< which, and where in it: none
  Cycles,
  CyclesHigh,
};
constexpr struct {
  std::string_view name;
  Hardware kind;
} hardwareRegisters[] = {
    {"1", Hardware::Mode},
    {"HW_REG_MODE", Hardware::Mode},
    {"HW_REG_WAVE_MODE", Hardware::Mode},
    {"HW_REG_WAVE_SCHED_MODE", Hardware::Schedule},
    {"HW_REG_HW_ID", Hardware::Unit},
    {"HW_REG_HW_ID1", Hardware::Unit},
    {"HW_REG_HW_ID2", Hardware::Unit},
    {"HW_REG_WAVE_HW_ID1", Hardware::Unit},
    {"HW_REG_WAVE_HW_ID2", Hardware::Unit},
    {"HW_REG_XCC_ID", Hardware::Unit},
    {"HW_REG_IB_STS2", Hardware::Cluster},
    {"HW_REG_SHADER_CYCLES", Hardware::Cycles},
    {"HW_REG_SHADER_CYCLES_LO", Hardware::Cycles},
    {"HW_REG_SHADER_CYCLES_HI", Hardware::CyclesHigh},
};

/// hwreg(HW_REG_MODE, 4, 2): the register, first bit, and number of bits.
bool takeHardwareRegister(InstDecoder &d, size_t operand) {
  std::string_view s = d.operand(operand).text;
  if (!s.starts_with("hwreg(") || !s.ends_with(')'))
    return d.error("'" + std::string(s) + "' is no hardware register");
  s = s.substr(6, s.size() - 7);
  int64_t first = 0, bits = 32;
  size_t comma = s.find(',');
  std::string_view name = s.substr(0, comma);
  if (comma != std::string_view::npos) {
    s.remove_prefix(comma + 1);
    size_t next = s.find(',');
    auto strip = [](std::string_view v) {
      while (v.starts_with(' '))
        v.remove_prefix(1);
      return v;
    };
    if (next == std::string_view::npos ||
        !parseInteger(strip(s.substr(0, next)), first) ||
        !parseInteger(strip(s.substr(next + 1)), bits))
      return d.error("'" + d.operand(operand).text +
                     "' is no hardware register");
  }
  if (first < 0 || bits < 1 || first + bits > 32)
    return d.error("a hardware register has 32 bits");
  d.inst.mod[1] = uint8_t(first);
  d.inst.mod[2] = uint8_t(bits);
  for (const auto &r : hardwareRegisters)
    if (r.name == name) {
      d.inst.mod[0] = uint8_t(r.kind);
      return true;
    }
  return d.error("'" + d.operand(operand).text + "' is not supported");
}

uint32_t fieldMask(const Inst &inst) {
  uint32_t ones = inst.mod[2] == 32 ? ~0u : (1u << inst.mod[2]) - 1;
  return ones << inst.mod[1];
}
Step execSetreg(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t mask = fieldMask(inst), value = scalarOf<uint32_t>(c, inst.op[1]);
  uint32_t &mode = waveOf(c).scalar[Mode];
  if (Hardware(inst.mod[0]) == Hardware::Mode)
    mode = (mode & ~mask) | (value << inst.mod[1] & mask);
  return Step::Next;
}
bool decodeSetreg(InstDecoder &d) {
  if (!d.expect(2, 2) || !takeHardwareRegister(d, 0))
    return false;
  // In the mode of that name, code waits itself for vector registers that are
  // not there yet; here, they are.
  auto kind = Hardware(d.inst.mod[0]);
  if (kind != Hardware::Mode && kind != Hardware::Schedule)
    return d.error("'" + d.operand(0).text + "' cannot be written");
  return d.scalar(1, 1, Imm::B32, 1) && d.emit(execSetreg, Class::Control);
}
Step execGetreg(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t value = 0;
  switch (Hardware(inst.mod[0])) {
  case Hardware::Mode:
    value = waveOf(c).scalar[Mode];
    break;
  case Hardware::Cycles:
    // Clocks count instructions.
    value = uint32_t(++c.cluster->clock);
    break;
  case Hardware::CyclesHigh:
    value = uint32_t(c.cluster->clock >> 32);
    break;
  case Hardware::Unit:
  case Hardware::Cluster:
  case Hardware::Schedule:
    break;
  }
  setScalar<uint32_t>(c, inst.op[0], (value & fieldMask(inst)) >> inst.mod[1]);
  return Step::Next;
}
bool decodeGetreg(InstDecoder &d) {
  return d.expect(2, 2) && d.scalarResult(0, 1, 0) &&
         takeHardwareRegister(d, 1) &&
         (Hardware(d.inst.mod[0]) != Hardware::Schedule ||
          d.error("'" + d.operand(1).text + "' cannot be read")) &&
         d.emit(execGetreg, Class::Move);
}
/// s_denorm_mode, s_round_mode: four bits of MODE.
template <unsigned Shift> Step execMode(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t &mode = waveOf(c).scalar[Mode];
  mode = (mode & ~(15u << Shift)) | uint32_t(inst.imm & 15) << Shift;
  return Step::Next;
}
template <unsigned Shift> bool decodeMode(InstDecoder &d) {
  if (!d.expect(1, 1) || d.operand(0).kind != Operand::Kind::Integer)
    return d.error("takes a constant");
  d.inst.imm = d.operand(0).imm;
  if (Shift == 0 && d.inst.imm)
    return d.error("only rounding to nearest is supported");
  return d.emit(execMode<Shift>, Class::Control);
}

/// The address behind this instruction. Symbols are relative to it, wherever
/// the text says rel32, so one value will do for all.
Step execGetpc(Ctx &c, const Inst &inst, uint32_t) {
  setScalar<uint64_t>(c, inst.op[0], CodeBase);
  return Step::Next;
}
bool decodeGetpc(InstDecoder &d) {
  return d.expect(1, 1) && d.scalarResult(0, 2, 0) &&
         d.emit(execGetpc, Class::Move);
}

//===-- Calls -------------------------------------------------------------===//

/// op[1]: where to; op[0]: what comes back, or NoSlot.
Step execCall(Ctx &c, const Inst &inst, uint32_t) {
  uint64_t at = scalarOf<uint64_t>(c, inst.op[1]) - codeAddress(0);
  if (at % 8 || at / 8 >= c.code->insts.size())
    return c.fail(inst, 0, "bad-call", "the register holds no address of code");
  if (inst.op[0] != NoSlot)
    setScalar<uint64_t>(c, inst.op[0], codeAddress(c.pc + 1));
  c.pc = uint32_t(at / 8);
  return Step::Jump;
}
template <bool Returns> bool decodeCall(InstDecoder &d) {
  d.inst.endsBlock = true;
  return d.expect(1 + Returns, 1 + Returns) &&
         d.scalar(Returns, 2, Imm::B64, 1, Needed) &&
         (!Returns || d.scalarResult(0, 2, 0)) &&
         d.emit(execCall, Class::Control);
}

//===-- Caches ------------------------------------------------------------===//

/// Invalidations are what acquires are made of. What releases write back is
/// there when it was waited for.
Step execCache(Ctx &c, const Inst &, uint32_t mask) {
  if (c.checker && c.launch->group->synchronizes)
    c.checker->acquireFence(c, mask);
  return Step::Next;
}
bool decodeCache(InstDecoder &d) {
  for (const char *name : {"sc0", "sc1", "nt", "scope", "th"})
    d.has(name);
  return d.emit(execCache, Class::Control);
}
} // namespace

void tile::sim::amdgcn::registerControl(OpcodeTable &t) {
  t.insert({
      {"s_branch", decodeBranch<When::Always>},
      {"s_cbranch_scc0", decodeBranch<When::Scc0>},
      {"s_cbranch_scc1", decodeBranch<When::Scc1>},
      {"s_cbranch_vccz", decodeBranch<When::VccZero>},
      {"s_cbranch_vccnz", decodeBranch<When::VccNonzero>},
      {"s_cbranch_execz", decodeBranch<When::ExecZero>},
      {"s_cbranch_execnz", decodeBranch<When::ExecNonzero>},
      {"s_endpgm", decodeEnd},
      {"s_trap", decodeTrap},
      {"s_waitcnt", decodeWait},
      {"s_waitcnt_vmcnt", decodeWaitOne<Counter::Load>},
      {"s_waitcnt_vscnt", decodeWaitOne<Counter::Store>},
      {"s_waitcnt_lgkmcnt", decodeWaitOne<Counter::Ds>},
      {"s_wait_loadcnt", decodeWaitCounter<Counter::Load>},
      {"s_wait_storecnt", decodeWaitCounter<Counter::Store>},
      {"s_wait_dscnt", decodeWaitCounter<Counter::Ds>},
      {"s_wait_kmcnt", decodeWaitCounter<Counter::Km>},
      {"s_wait_asynccnt", decodeWaitCounter<Counter::Async>},
      {"s_wait_tensorcnt", decodeWaitCounter<Counter::Tensor>},
      {"s_wait_loadcnt_dscnt", decodeWaitCounter<Counter::Ds, Counter::Load>},
      {"s_wait_storecnt_dscnt", decodeWaitCounter<Counter::Ds, Counter::Store>},
      {"s_barrier", decodeBarrier},
      {"s_barrier_signal", decodeSignal},
      {"s_barrier_wait", decodeBarrierWait},
      {"s_setreg_b32", decodeSetreg},
      {"s_setreg_imm32_b32", decodeSetreg},
      {"s_getreg_b32", decodeGetreg},
      {"s_denorm_mode", decodeMode<4>},
      {"s_round_mode", decodeMode<0>},
      {"s_getpc_b64", decodeGetpc},
      {"s_get_pc_i64", decodeGetpc},
      {"s_setpc_b64", decodeCall<false>},
      {"s_set_pc_i64", decodeCall<false>},
      {"s_swappc_b64", decodeCall<true>},
      {"s_swap_pc_i64", decodeCall<true>},
      {"buffer_wbl2", decodeCache},
      {"buffer_inv", decodeCache},
      {"buffer_wbinvl1", decodeCache},
      {"buffer_wbinvl1_vol", decodeCache},
      {"buffer_invl2", decodeCache},
      {"buffer_gl0_inv", decodeCache},
      {"buffer_gl1_inv", decodeCache},
      {"global_inv", decodeCache},
      {"global_wb", decodeCache},
      {"global_wbinv", decodeCache},
      {"s_dcache_inv", decodeCache},
      {"s_dcache_wb", decodeCache},
      {"s_gl1_inv", decodeCache},
      {"s_sleep", decodeHint<execYield>},
  });
  // What concerns speed alone.
  for (const char *name :
       {"s_nop", "s_setprio", "s_delay_alu", "s_clause", "s_inst_prefetch",
        "s_set_inst_prefetch_distance", "s_waitcnt_depctr", "s_wait_idle",
        "s_wait_alu", "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_expcnt",
        // RegisterMode.cpp
        "s_set_vgpr_msb", "s_wait_xcnt", "s_code_end", "s_sendmsg",
        "s_icache_inv", "s_waitcnt_expcnt", "s_ttracedata", "s_version",
        "s_set_gpr_idx_off", "s_sethalt", "s_wakeup", "s_setprio_inc_wg",
        "s_incperflevel", "s_decperflevel", "s_ttracedata_imm",
        "s_prefetch_data", "s_prefetch_data_pc_rel", "s_prefetch_inst",
        "s_prefetch_inst_pc_rel", "s_buffer_prefetch_data"})
    t.emplace(name, decodeHint<execNothing>);
}
