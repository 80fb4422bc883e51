//===-- Kernels.cpp - From the assembly of a kernel to a program ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Checkers/ComparedLoads.h"
#include "Decoder.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;
using namespace tile::sim::amdgcn;
using OK = Operand::Kind;

bool tile::sim::amdgcn::branchTarget(InstDecoder &d, size_t i) {
  const Operand &o = d.operand(i);
  auto it = d.module.labels.find(o.text);
  if (o.kind != OK::Symbol || it == d.module.labels.end())
    return d.error("unknown label '" + o.text + "'");
  if (!d.codeIndex(it->second, d.inst.target))
    return d.error("the label '" + o.text + "' is in another kernel");
  return true;
}

/// How many registers of a file the kernel names.
static uint32_t countRegisters(const Assembly &module,
                               const std::vector<InstDecoder::Range> &ranges,
                               File file) {
  uint32_t most = file == File::Vector ? 1 : 0;
  for (const InstDecoder::Range &r : ranges)
    for (uint32_t i = r.first; i < r.end; ++i)
      for (const Operand &o : module.body[i].operands)
        if (o.isRegister(file))
          most = std::max(most, o.reg + o.count);
  return most;
}

/// A kernel's code, and if it calls anything, all functions of the module.
static std::vector<InstDecoder::Range> rangesOf(const Assembly &module,
                                                const Kernel &kernel) {
  std::vector<InstDecoder::Range> ranges = {{kernel.first, kernel.end, 0}};
  bool calls = false;
  for (uint32_t i = kernel.first; i < kernel.end; ++i)
    calls |= module.body[i].opcode == "s_swappc_b64" ||
             module.body[i].opcode == "s_swap_pc_i64";
  for (auto [first, end] : module.functions)
    if (calls) {
      // Behind each range stands what tells of running past it.
      const InstDecoder::Range &last = ranges.back();
      ranges.push_back({first, end, last.base + (last.end - last.first) + 1});
    }
  return ranges;
}

bool InstDecoder::codeIndex(uint32_t at, uint32_t &out) const {
  for (const Range &r : *ranges)
    if (at >= r.first && at < r.end) {
      out = r.base + (at - r.first);
      return true;
    }
  return false;
}

static bool decodeInstruction(InstDecoder &d) {
  std::string name = d.in->opcode;
  if (name.starts_with("v_dual_"))
    name.erase(2, 5);
  if (std::string_view move = relativeMove(d); !move.empty())
    name = move;
  auto it = opcodeTable().find(name);
  if (it == opcodeTable().end())
    return d.diag.error(d.in->loc,
                        "unknown instruction '" + d.in->opcode + "'");
  d.understood.assign(d.in->modifiers.size(), false);
  // Those of one value are counted as one lane.
  d.inst.mod[3] = name.starts_with("s_") ? OneLane : 0;
  return it->second(d);
}

static Step runPastEnd(Ctx &c, const Inst &inst, uint32_t) {
  return c.fail(inst, 0, "past-end",
                "the kernel runs past its last instruction, which does not end "
                "it");
}

/// Does `second` read what `first` writes?
static bool feeds(const Code &code, const Inst &first, const Inst &second) {
  for (uint32_t i = 0; i < first.regCount; ++i)
    for (uint32_t j = 0; j < second.regCount; ++j) {
      const RegisterUse &a = code.registers[first.regs + i],
                        &b = code.registers[second.regs + j];
      if (a.written && !b.written && a.slot == b.slot)
        return true;
    }
  return false;
}

/// Two instructions that are issued as one read their sources before either
/// writes: the one that reads the other's result comes first.
static bool orderPair(Code &code, const Instruction &in, Diagnostic &diag) {
  Inst &second = code.insts.back(), &first = *(&second - 1);
  if (!feeds(code, first, second))
    return true;
  if (feeds(code, second, first))
    return diag.error(in.loc, "both halves of a dual instruction read what the "
                              "other one writes, which is not supported");
  std::swap(first, second);
  return true;
}

static bool
decodeRange(const Assembly &module, const Kernel &kernel, WaveProgram &program,
            const std::unordered_map<std::string, GlobalVariable> &globals,
            const std::vector<InstDecoder::Range> &ranges,
            const InstDecoder::Range &range, Diagnostic &diag) {
  Code &code = *program.codes[0];
  for (uint32_t i = range.first; i < range.end; ++i) {
    InstDecoder d{module, kernel, program, code, globals, diag};
    d.in = &module.body[i];
    d.ranges = &ranges;
    d.inst.line = d.in->loc.line;
    d.inst.source = d.in->source;
    d.inst.name = d.in->opcode.c_str();
    d.inst.regs = uint32_t(code.registers.size());
    d.inst.watch = Inst::Program;
    if (!decodeInstruction(d))
      return false;
    code.insts.push_back(d.inst);
    if (i > range.first && module.body[i - 1].encoding == "dual" &&
        !orderPair(code, module.body[i], diag))
      return false;
  }
  // Behind a function comes another one, or nothing.
  Inst end;
  end.fn = runPastEnd;
  end.cls = Class::Control;
  end.micro = true;
  end.line = module.body[range.end - 1].loc.line;
  end.name = "the end of the code";
  code.insts.push_back(end);
  return true;
}

/// Of a 64-bit address in scalar registers: at once, or its lower half by a
/// constant and its upper half by the carry alone.
static bool addsConstant(const Code &code, const Inst &inst, int64_t &added) {
  std::string_view name = inst.name;
  bool isWhole = name == "s_add_nc_u64",
       isLow = name == "s_add_u32" || name == "s_add_co_u32",
       isHigh = name == "s_addc_u32" || name == "s_add_co_ci_u32";
  if ((!isWhole && !isLow && !isHigh) || inst.op[0] != inst.op[1] ||
      !(inst.op[2] & ConstBit))
    return false;
  uint32_t at = inst.op[2] & ~(ConstBit | ScalarBit);
  std::memcpy(&added, code.consts[at / 64].bytes + at % 64, 8);
  added = isWhole ? added : int64_t(uint32_t(added));
  return !isHigh || added == 0;
}

/// Does a scalar load read what a swap behind it accesses at the same base, at
/// an offset that is zero in all lanes?
static bool loadsPlaceOf(const Code &code, const Inst &swap, const Inst &load) {
  if (!std::string_view(load.name).starts_with("s_load_"))
    return false;
  if (load.op[1] != swap.op[2] || load.op[2] != NoSlot || load.imm != swap.imm)
    return false;
  for (const Inst *inst = &load + 1; inst != &swap; ++inst)
    for (uint32_t i = 0; i < inst->regCount; ++i) {
      const RegisterUse &use = code.registers[inst->regs + i];
      if (use.written && use.slot - code.registers[load.regs].slot < 2)
        return false;
    }
  for (const Inst *inst = &swap; inst != code.insts.data();) {
    if ((--inst)->op[0] != swap.op[1])
      continue;
    if (inst->cls != Class::Move || !(inst->op[1] & ConstBit))
      return false;
    uint32_t at = inst->op[1] & ~(ConstBit | ScalarBit), value;
    std::memcpy(&value, code.consts[at / 64].bytes + at % 64, 4);
    return value == 0;
  }
  return false;
}

std::unique_ptr<Program> tile::sim::amdgcn::buildProgram(
    const Assembly &module, const Kernel &kernel,
    const std::unordered_map<std::string, GlobalVariable> &globals,
    Diagnostic &diag) {
  auto program = std::make_unique<WaveProgram>();
  WaveProgram &p = *program;
  p.followsOrigins = true;
  p.target = Target::find(module.target);
  if (!p.target) {
    diag.error({1, 1}, "the simulator does not run '" + module.target +
                           "'; it runs " + Target::names());
    return nullptr;
  }
  p.kernel = &kernel;
  p.entry = Entry(kernel, *p.target);
  bool small = kernel.directive("wavefront_size32", p.target->generation >= 10);
  p.waveLanes = small ? 32 : 64;
  p.loadsKeepUnwritten = true;
  p.device.mostShared = p.target->mostShared;
  p.device.mostClusterCtas = 1;
  p.sharedBanks = p.target->name == "gfx950" || p.target->gfx1250 ? 64 : 32;
  p.staticShared = uint32_t(kernel.directive(
      "group_segment_fixed_size", kernel.meta("group_segment_fixed_size")));
  std::vector<InstDecoder::Range> ranges = rangesOf(module, kernel);
  p.vectorCount = countRegisters(module, ranges, File::Vector);
  p.accumulatorCount = countRegisters(module, ranges, File::Accumulator);
  if (p.vectorCount > (p.target->gfx1250 ? 1024u : 256u)) {
    diag.error(kernel.loc, "the kernel names register v" +
                               std::to_string(p.vectorCount - 1) +
                               ", which there is not");
    return nullptr;
  }
  uint32_t vectors = p.vectorCount + p.accumulatorCount;
  p.vectorBase = uint32_t((sizeof(Wave) + 63) / 64 * 64);
  p.definedBase = p.vectorBase + vectors * p.waveLanes * 4;
  p.pendingBase = p.definedBase + vectors * 8;
  p.codes.push_back(std::make_unique<Code>());
  Code &code = *p.codes[0];
  code.name = kernel.name;
  code.frameBytes =
      p.pendingBase + (FirstVector + vectors) * uint32_t(sizeof(Pending));
  for (const char *name : {"next_free_vgpr", "next_free_sgpr"})
    if (int64_t count = kernel.directive(name); count < 0 || count > 1024) {
      diag.error(kernel.loc, "the kernel takes " + std::to_string(count) +
                                 " registers (.amdhsa_" + name + ")");
      return nullptr;
    }
  if (int64_t bytes = kernel.directive("kernarg_size");
      bytes < 0 || bytes > 1 << 20) {
    diag.error(kernel.loc, "the kernel takes " + std::to_string(bytes) +
                               " bytes of arguments");
    return nullptr;
  }
  int64_t scratch = std::max(kernel.directive("private_segment_fixed_size"),
                             kernel.meta("private_segment_fixed_size"));
  if (scratch < 0 || scratch > mostLocal) {
    diag.error(kernel.loc, "the kernel asks for " + std::to_string(scratch) +
                               " bytes of scratch memory a work-item");
    return nullptr;
  }
  code.localBytes = uint32_t(scratch);
  for (const Argument &a : kernel.args)
    if (!a.isHidden())
      code.paramBytes = std::max(code.paramBytes, a.offset + a.size);
  code.sources = module.sources;
  code.consts.emplace_back();
  for (const InstDecoder::Range &r : ranges)
    if (!decodeRange(module, kernel, p, globals, ranges, r, diag))
      return nullptr;
  markComparedLoads(
      code,
      [&](const Inst &inst, int64_t &added) {
        return addsConstant(code, inst, added);
      },
      [&](const Inst &swap, const Inst &load) {
        return (swap.op[4] != NoSlot && swap.op[4] == load.op[0]) ||
               loadsPlaceOf(code, swap, load);
      });
  return program;
}
