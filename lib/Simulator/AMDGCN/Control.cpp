//===-- Control.cpp - SOPP: branches, waits, barriers, mode ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Checkers/OrderChecker.h"
#include "Decoder.h"

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

/// mod[0] to mod[2]: how many loads, stores, LDS operations may be left; 255:
/// any number.
Step execWait(Ctx &c, const Inst &inst, uint32_t mask) {
  static const Counter counters[] = {Counter::Load, Counter::Store,
                                     Counter::Ds};
  for (unsigned i = 0; i < 3; ++i)
    if (inst.mod[i] != 255)
      waitFor(c, counters[i], inst.mod[i]);
  // What this wave wrote before is there for whoever learns of it now.
  bool all = inst.mod[programOf(c).target->isGfx9() ? 0 : 1] == 0;
  if (all && c.checker && c.launch->program->usesGlobalAtomics)
    c.checker->fence(c, mask);
  return Step::Next;
}

/// `vmcnt(0) & lgkmcnt(1)`, with or without the sign between, or the number
/// that the instruction encodes.
bool decodeWait(InstDecoder &d) {
  d.inst.mod[0] = d.inst.mod[1] = d.inst.mod[2] = 255;
  if (!d.expect(1, 1))
    return false;
  const Operand &o = d.operand(0);
  if (o.kind == Operand::Kind::Integer) {
    auto n = uint32_t(o.imm);
    if (d.target().generation == 9) {
      uint32_t vm = (n & 15) | (n >> 14 & 3) << 4, lgkm = n >> 8 & 15;
      d.inst.mod[0] = vm == 63 ? 255 : uint8_t(vm);
      d.inst.mod[2] = lgkm == 15 ? 255 : uint8_t(lgkm);
    } else {
      uint32_t vm = n >> 10 & 63, lgkm = n >> 4 & 63;
      d.inst.mod[0] = vm == 63 ? 255 : uint8_t(vm);
      d.inst.mod[2] = lgkm == 63 ? 255 : uint8_t(lgkm);
    }
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
    auto left = uint8_t(std::min<int64_t>(n, 254));
    if (name == "vmcnt")
      d.inst.mod[0] = left;
    else if (name == "lgkmcnt")
      d.inst.mod[2] = left;
    else if (name != "expcnt")
      return d.error("unknown counter '" + std::string(name) + "'");
    s.remove_prefix(close + 1);
  }
  return d.emit(execWait, Class::Control);
}

/// s_waitcnt_vscnt null, 0x0
template <unsigned Index> bool decodeWaitOne(InstDecoder &d) {
  d.inst.mod[0] = d.inst.mod[1] = d.inst.mod[2] = 255;
  if (!d.expect(2, 2) || d.operand(1).kind != Operand::Kind::Integer)
    return d.error("takes null and a number");
  if (d.operand(0).reg != Null)
    return d.error("a register as the count is not supported");
  d.inst.mod[Index] = uint8_t(std::min<int64_t>(d.operand(1).imm & 63, 254));
  return d.emit(execWait, Class::Control);
}

//===-- Barrier -----------------------------------------------------------===//

Step execBarrier(Ctx &c, const Inst &inst, uint32_t mask) {
  const CounterState &shared = waveOf(c).counters[size_t(Counter::Ds)];
  if (shared.lastWrite > shared.completed && (c.checks & CheckAsync))
    c.note(inst, 0, "missing-wait",
           std::string("writes to LDS may not be done at this barrier: no wait "
                       "for ") +
               programOf(c).target->nameOf(Counter::Ds) +
               " comes before it, and LDS orders no operations of different "
               "waves");
  NamedBarrier &b = c.cta->barriers[0];
  b.expected = c.cta->liveThreads;
  b.forAll = true;
  return arriveAtBarrier(c, inst, mask, 0, uint32_t(std::popcount(mask)),
                         false);
}
bool decodeBarrier(InstDecoder &d) {
  return d.expect(0, 0) && d.emit(execBarrier, Class::Barrier);
}

//===-- Mode --------------------------------------------------------------===//

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
  d.inst.mod[0] = name == "HW_REG_MODE" || name == "1" ? 1 : 0;
  d.inst.mod[1] = uint8_t(first);
  d.inst.mod[2] = uint8_t(bits);
  return true;
}

uint32_t fieldMask(const Inst &inst) {
  uint32_t ones = inst.mod[2] == 32 ? ~0u : (1u << inst.mod[2]) - 1;
  return ones << inst.mod[1];
}
Step execSetreg(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t mask = fieldMask(inst), value = scalarOf<uint32_t>(c, inst.op[1]);
  uint32_t &mode = waveOf(c).scalar[Mode];
  if (inst.mod[0])
    mode = (mode & ~mask) | (value << inst.mod[1] & mask);
  return Step::Next;
}
bool decodeSetreg(InstDecoder &d) {
  if (!d.expect(2, 2) || !takeHardwareRegister(d, 0))
    return false;
  if (!d.inst.mod[0])
    return d.error("'" + d.operand(0).text + "' is not supported");
  return d.scalar(1, 1, Imm::B32, 1) && d.emit(execSetreg, Class::Control);
}
Step execGetreg(Ctx &c, const Inst &inst, uint32_t) {
  setScalar<uint32_t>(
      c, inst.op[0], (waveOf(c).scalar[Mode] & fieldMask(inst)) >> inst.mod[1]);
  return Step::Next;
}
/// Which hardware unit a wave runs on: here, always the first.
Step execGetUnit(Ctx &c, const Inst &inst, uint32_t) {
  setScalar<uint32_t>(c, inst.op[0], 0);
  return Step::Next;
}
bool decodeGetreg(InstDecoder &d) {
  return d.expect(2, 2) && d.scalarResult(0, 1, 0) &&
         takeHardwareRegister(d, 1) &&
         d.emit(d.inst.mod[0] ? execGetreg : execGetUnit, Class::Move);
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
  setScalar<uint64_t>(c, inst.op[0], CodeWindow);
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

/// Write-backs and invalidations are what releases and acquires are made of.
Step execCache(Ctx &c, const Inst &, uint32_t mask) {
  if (c.checker && c.launch->program->usesGlobalAtomics)
    c.checker->fence(c, mask);
  return Step::Next;
}
bool decodeCache(InstDecoder &d) {
  for (const char *name : {"sc0", "sc1", "nt", "scope"})
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
      {"s_waitcnt_vmcnt", decodeWaitOne<0>},
      {"s_waitcnt_vscnt", decodeWaitOne<1>},
      {"s_waitcnt_lgkmcnt", decodeWaitOne<2>},
      {"s_barrier", decodeBarrier},
      {"s_setreg_b32", decodeSetreg},
      {"s_setreg_imm32_b32", decodeSetreg},
      {"s_getreg_b32", decodeGetreg},
      {"s_denorm_mode", decodeMode<4>},
      {"s_round_mode", decodeMode<0>},
      {"s_getpc_b64", decodeGetpc},
      {"s_setpc_b64", decodeCall<false>},
      {"s_swappc_b64", decodeCall<true>},
      {"buffer_wbl2", decodeCache},
      {"buffer_inv", decodeCache},
      {"buffer_wbinvl1", decodeCache},
      {"buffer_wbinvl1_vol", decodeCache},
      {"buffer_invl2", decodeCache},
      {"buffer_gl0_inv", decodeCache},
      {"buffer_gl1_inv", decodeCache},
      {"s_dcache_inv", decodeCache},
      {"s_dcache_wb", decodeCache},
      {"s_gl1_inv", decodeCache},
      {"s_sleep", decodeHint<execYield>},
  });
  // What concerns speed alone.
  for (const char *name :
       {"s_nop", "s_setprio", "s_delay_alu", "s_clause", "s_inst_prefetch",
        "s_set_inst_prefetch_distance", "s_waitcnt_depctr", "s_wait_idle",
        "s_code_end", "s_sendmsg", "s_icache_inv", "s_waitcnt_expcnt",
        "s_ttracedata", "s_version", "s_set_gpr_idx_off", "s_sethalt"})
    t.emplace(name, decodeHint<execNothing>);
}
