//===-- Control.cpp - Branches, calls, exits ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Builtins.h"
#include "Families.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;
using OK = ast::Operand::Kind;

//===-- Branches ----------------------------------------------------------===//

/// Lanes of `mask` leave the running fragment for another place.
static void split(Ctx &c, uint32_t mask, uint32_t pc, Frame *frame) {
  Fragment f;
  f.pc = pc;
  f.mask = mask;
  f.frame = frame;
  f.stamp = c.warp->frags[c.current].stamp;
  ++frame->refs;
  c.warp->frags.push_back(f);
  c.active &= ~mask;
}

Step tile::sim::execJump(Ctx &c, const Inst &inst, uint32_t) {
  c.pc = inst.target - 1; // the loop adds one
  return Step::Next;
}

static Step execBranch(Ctx &c, const Inst &inst, uint32_t mask) {
  ++c.worker->counters.branches;
  if (mask == c.active) {
    c.pc = inst.target - 1;
    return Step::Next;
  }
  ++c.worker->counters.divergentBranches;
  split(c, mask, inst.target, c.frame);
  ++c.pc;
  return Step::Jump;
}

static Step execIndexedBranch(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint32_t *index = c.src<uint32_t>(inst.op[0]);
  uint32_t left = mask;
  bool whole = mask == c.active;
  while (left) {
    unsigned l = firstLane(left);
    if (index[l] >= inst.extCount)
      return c.fail(inst, l, "bad-branch-index",
                    "branch index " + std::to_string(index[l]) +
                        " is beyond the " + std::to_string(inst.extCount) +
                        " targets");
    uint32_t same = 0;
    for (uint32_t m = left; m; m &= m - 1)
      same |= uint32_t(index[std::countr_zero(m)] == index[l])
              << std::countr_zero(m);
    left &= ~same;
    uint32_t target = c.code->ext[inst.ext + index[l]];
    if (left == 0 && whole) {
      c.pc = target;
      return Step::Jump;
    }
    split(c, same, target, c.frame);
  }
  ++c.pc;
  return Step::Jump;
}

//===-- Leaving -----------------------------------------------------------===//

Step tile::sim::execExit(Ctx &c, const Inst &inst, uint32_t mask) {
  bool all = mask == c.active;
  rememberExit(c, inst, mask);
  ++c.pc;
  exitLanes(c, inst, mask);
  return all ? Step::Done : Step::Jump;
}

static void copyLocal(Ctx &c, uint32_t mask, uint32_t from, uint32_t to,
                      uint32_t size) {
  eachLane(mask, [&](unsigned l) {
    std::byte *lane = c.warp->local.data() + size_t(l) * c.warp->localStride;
    std::memmove(lane + to, lane + from, size);
    c.markLocal(l, to, size);
  });
}

static void copySlot(std::byte *to, const std::byte *from, SlotClass cls,
                     uint32_t mask) {
  if (cls == SlotClass::Pred) {
    uint32_t a, b;
    std::memcpy(&a, to, 4);
    std::memcpy(&b, from, 4);
    a = (a & ~mask) | (b & mask);
    std::memcpy(to, &a, 4);
  } else if (cls == SlotClass::Word) {
    commit(reinterpret_cast<uint32_t *>(to),
           reinterpret_cast<const uint32_t *>(from), mask);
  } else {
    commit(reinterpret_cast<uint64_t *>(to),
           reinterpret_cast<const uint64_t *>(from), mask);
    if (cls == SlotClass::Quad)
      commit(reinterpret_cast<uint64_t *>(to) + Lanes,
             reinterpret_cast<const uint64_t *>(from) + Lanes, mask);
  }
}

Step tile::sim::execReturn(Ctx &c, const Inst &inst, uint32_t mask) {
  Frame *callee = c.frame, *caller = callee->parent;
  if (!caller)
    return execExit(c, inst, mask);
  const Inst &call = *callee->call;
  const Code &code = *callee->code;
  // The call's list: results first, then arguments, each a slot or an offset in
  // the caller.
  for (size_t i = 0; i < code.returns.size() && i < call.mod[0]; ++i) {
    const ParamSlot &r = code.returns[i];
    uint32_t to = caller->code->ext[call.ext + i];
    if (r.isRegister)
      copySlot(reinterpret_cast<std::byte *>(caller->regs.data()) + to,
               c.regs + r.slot, classOf(r.type), mask);
    else
      copyLocal(c, mask, callee->localBase + r.offset, caller->localBase + to,
                r.size);
  }
  if (mask != c.active) {
    split(c, mask, callee->returnPc, caller);
    ++c.pc;
    return Step::Jump;
  }
  ++caller->refs;
  c.pc = callee->returnPc;
  c.setFrame(caller);
  c.saveFragment();
  c.release(callee);
  return Step::Jump;
}

//===-- Calls -------------------------------------------------------------===//

static Step enter(Ctx &c, const Inst &inst, uint32_t mask, const Code *callee) {
  if (c.frame->depth > 1000)
    return c.fail(inst, firstLane(mask), "stack-overflow",
                  "more than 1000 nested calls of '" + callee->name + "'");
  uint64_t local = uint64_t(c.frame->localEnd()) + callee->localBytes;
  if (local > mostLocal)
    return c.fail(inst, firstLane(mask), "stack-overflow",
                  "the call of '" + callee->name + "' needs " +
                      std::to_string(local) +
                      " bytes of local memory, a thread has " +
                      std::to_string(mostLocal));
  uint32_t returnPc = c.pc + 1;
  Frame *caller = c.frame;
  if (mask != c.active) {
    // The other lanes wait behind the call: the deeper frame runs first.
    split(c, c.active & ~mask, returnPc, caller);
    c.active = mask;
  }
  Frame *frame = c.newFrame(callee, caller);
  frame->returnPc = returnPc;
  frame->call = &inst;
  for (size_t i = 0; i < callee->params.size(); ++i) {
    const ParamSlot &p = callee->params[i];
    uint32_t from = c.code->ext[inst.ext + inst.mod[0] + i];
    if (p.isRegister)
      copySlot(reinterpret_cast<std::byte *>(frame->regs.data()) + p.slot,
               c.src<std::byte>(from), classOf(p.type), mask);
    else
      copyLocal(c, mask, caller->localBase + from, frame->localBase + p.offset,
                p.size);
  }
  c.pc = 0;
  c.setFrame(frame);
  c.saveFragment();
  return Step::Jump;
}

static Step execCall(Ctx &c, const Inst &inst, uint32_t mask) {
  return enter(c, inst, mask, inst.callee);
}

static Step execIndirectCall(Ctx &c, const Inst &inst, uint32_t mask) {
  const uint64_t *address = c.src<uint64_t>(inst.op[0]);
  unsigned l = firstLane(mask);
  uint64_t index = address[l] - CodeWindow;
  const auto &functions = c.launch->program->functions;
  if (index >= functions.size() || !functions[index] ||
      functions[index]->index == 0)
    return c.fail(inst, l, "bad-call",
                  "the address called is not a function's");
  uint32_t same = 0;
  for (uint32_t m = mask; m; m &= m - 1)
    same |= uint32_t(address[std::countr_zero(m)] == address[l])
            << std::countr_zero(m);
  const Code *callee = functions[index];
  if (callee->params.size() != size_t(inst.extCount - inst.mod[0]) ||
      callee->returns.size() != inst.mod[0])
    return c.fail(inst, l, "bad-call",
                  "'" + callee->name +
                      "' takes other arguments than the call gives");
  if (same != mask) {
    // Lanes with another target come back to this instruction.
    split(c, mask & ~same, c.pc, c.frame);
    if (uint32_t skip = c.active & ~same)
      split(c, skip, c.pc + 1, c.frame);
  }
  return enter(c, inst, same, callee);
}

/// mod[1]: the builtin; the argument offsets are in the call's list.
static Step execBuiltin(Ctx &c, const Inst &inst, uint32_t mask) {
  return runBuiltin(c, inst, mask, Builtin(inst.mod[1]));
}

static Step execTrap(Ctx &c, const Inst &inst, uint32_t mask) {
  return c.fail(inst, firstLane(mask), "trap", "the kernel executed a trap");
}
static Step execNothing(Ctx &, const Inst &, uint32_t) { return Step::Next; }

/// imm: registers of a thread; mod[0]: gives some back. More are to be had once
/// other warps of the CTA have given theirs back.
static Step execSetmaxnreg(Ctx &c, const Inst &inst, uint32_t) {
  uint32_t &own = c.warp->registers, wanted = uint32_t(inst.imm);
  if (inst.mod[0]) {
    if (wanted < own) {
      c.cta->freeRegisters += own - wanted;
      own = wanted;
      ++c.cluster->progress;
    }
    return Step::Next;
  }
  if (wanted <= own || wanted - own <= c.cta->freeRegisters) {
    c.cta->freeRegisters -= wanted > own ? wanted - own : 0;
    own = std::max(own, wanted);
    return Step::Next;
  }
  Fragment &f = c.warp->frags[c.current];
  f.spinCount = f.spinStamp == c.cluster->progress ? f.spinCount + 1 : 0;
  f.spinStamp = c.cluster->progress;
  f.spinAt = &inst;
  --c.pc; // once more
  return Step::Yield;
}
static Step execYield(Ctx &, const Inst &, uint32_t) { return Step::Yield; }

//===-- Decoders ----------------------------------------------------------===//

namespace {
bool decodeBra(FunctionDecoder &d) {
  d.has("uni");
  if (!d.expectOperands(1, 1))
    return false;
  if (d.operand(0).kind != OK::Name)
    return d.errorAt(d.operand(0), "expected a label");
  int target = d.labelTarget(d.operand(0).name);
  if (target < 0)
    return d.errorAt(d.operand(0), "unknown label '" + d.operand(0).name + "'");
  d.inst.target = uint32_t(target);
  d.inst.endsBlock = true;
  d.inst.hasTarget = true;
  return d.emit(execBranch, Class::Control);
}

bool decodeBrx(FunctionDecoder &d) {
  if (!d.has("idx"))
    return d.error("needs .idx");
  d.has("uni");
  if (!d.expectOperands(2, 2) || !d.src(0, Type::B32, 0))
    return false;
  const auto *targets = d.targetList(d.operand(1).name);
  if (!targets || targets->empty())
    return d.errorAt(d.operand(1),
                     "unknown list of targets '" + d.operand(1).name + "'");
  std::vector<uint32_t> indices;
  for (const std::string &label : *targets) {
    int target = d.labelTarget(label);
    if (target < 0)
      return d.errorAt(d.operand(1), "unknown label '" + label + "'");
    indices.push_back(uint32_t(target));
  }
  d.setExt(indices);
  d.inst.endsBlock = true;
  return d.emit(execIndexedBranch, Class::Control);
}

bool decodeRet(FunctionDecoder &d) {
  d.has("uni");
  d.inst.endsBlock = true;
  return d.emit(d.function.isEntry ? execExit : execReturn, Class::Control);
}
bool decodeExit(FunctionDecoder &d) {
  d.inst.endsBlock = true;
  return d.emit(execExit, Class::Control);
}
bool decodeTrap(FunctionDecoder &d) { return d.emit(execTrap, Class::Control); }

/// One argument or result: a .param variable's offset in the caller, or a
/// register slot.
bool callOperand(FunctionDecoder &d, const ast::Operand &operand,
                 const ParamSlot *expected, bool isResult, uint32_t &out) {
  bool isVariable = operand.kind == OK::Name && operand.symbol >= 0 &&
                    d.function.symbols[operand.symbol].space == Space::Param;
  if (isVariable) {
    if (expected && expected->isRegister)
      return d.errorAt(operand, "expected a register");
    if (expected &&
        expected->size > d.function.symbols[operand.symbol].sizeInBytes())
      return d.errorAt(operand, "'" + operand.name +
                                    "' is smaller than the parameter '" +
                                    expected->name + "'");
    out = d.variableOffset(operand.symbol);
    return true;
  }
  if (!expected || !expected->isRegister)
    return d.errorAt(operand, "expected a .param variable");
  return isResult ? d.dst(operand, expected->type, out)
                  : d.src(operand, expected->type, out);
}

bool decodeCall(FunctionDecoder &d) {
  d.has("uni");
  size_t at = 0;
  std::vector<const ast::Operand *> results, arguments;
  if (at < d.operandCount() && d.operand(at).kind == OK::List) {
    for (const ast::Operand &e : d.operand(at).elems)
      results.push_back(&e);
    ++at;
  }
  if (at >= d.operandCount() || d.operand(at).kind != OK::Name)
    return d.error("expected a function");
  const ast::Operand &target = d.operand(at++);
  if (at < d.operandCount() && d.operand(at).kind == OK::List) {
    for (const ast::Operand &e : d.operand(at).elems)
      arguments.push_back(&e);
    ++at;
  }
  const Code *callee = nullptr;
  ExecFn fn = execIndirectCall;
  if (target.symbol < 0) {
    const ast::Function *function = d.builder.findFunction(target.name);
    if (!function)
      return d.errorAt(target, "unknown function '" + target.name + "'");
    if (function->isEntry)
      return d.errorAt(target, "a kernel cannot be called");
    if (function->hasBody) {
      callee = d.builder.codeFor(target.name);
      fn = execCall;
    } else {
      Builtin builtin = findBuiltin(target.name);
      if (builtin == Builtin::None)
        return d.errorAt(target, "the extern function '" + target.name +
                                     "' is not known to the simulator");
      d.inst.mod[1] = uint8_t(builtin);
      fn = execBuiltin;
    }
    if (callee && (callee->params.size() != arguments.size() ||
                   callee->returns.size() != results.size()))
      return d.error("'" + target.name + "' takes " +
                     std::to_string(callee->params.size()) +
                     " arguments and returns " +
                     std::to_string(callee->returns.size()));
    if (!callee && arguments.size() != builtinArguments(Builtin(d.inst.mod[1])))
      return d.error("wrong number of arguments for '" + target.name + "'");
  } else {
    d.builder.decodePointedTo();
    if (!d.src(target, Type::B64, d.inst.op[0]))
      return false;
  }
  std::vector<uint32_t> list;
  for (size_t i = 0; i < results.size(); ++i)
    if (!callOperand(d, *results[i], callee ? &callee->returns[i] : nullptr,
                     true, list.emplace_back()))
      return false;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!callOperand(d, *arguments[i], callee ? &callee->params[i] : nullptr,
                     false, list.emplace_back()))
      return false;
  d.inst.callee = callee;
  d.inst.mod[0] = uint8_t(results.size());
  d.setExt(list);
  // Room for the loop's pc + 1 to stay inside the list.
  return d.emit(fn, Class::Control);
}

bool decodeNanosleep(FunctionDecoder &d) {
  d.takeType();
  return d.emit(execYield, Class::Control);
}
bool decodePmevent(FunctionDecoder &d) {
  d.has("mask");
  return d.emit(execNothing, Class::Control);
}
bool decodeGriddep(FunctionDecoder &d) {
  if (d.hasOneOf({"launch_dependents", "wait"}) < 0)
    return d.error("needs .launch_dependents or .wait");
  return d.emit(execNothing, Class::Control);
}
bool decodeSetmaxnreg(FunctionDecoder &d) {
  int direction = d.hasOneOf({"inc", "dec"});
  if (direction < 0)
    return d.error("needs .inc or .dec");
  d.inst.mod[0] = uint8_t(direction);
  d.has("sync");
  d.has("aligned");
  d.takeType();
  int64_t count = 0;
  if (!d.expectOperands(1, 1) || !d.immediate(d.operand(0), count))
    return false;
  if (count < 24 || count > 256 || count % 8)
    return d.errorAt(d.operand(0), "expected a multiple of 8 from 24 to 256");
  d.inst.imm = count;
  return d.emit(execSetmaxnreg, Class::Control);
}
} // namespace

void tile::sim::registerControl(DecodeTable &t) {
  t.insert({{"bra", decodeBra},
            {"brx", decodeBrx},
            {"ret", decodeRet},
            {"exit", decodeExit},
            {"trap", decodeTrap},
            {"brkpt", decodeTrap},
            {"call", decodeCall},
            {"nanosleep", decodeNanosleep},
            {"pmevent", decodePmevent},
            {"griddepcontrol", decodeGriddep},
            {"setmaxnreg", decodeSetmaxnreg}});
}
