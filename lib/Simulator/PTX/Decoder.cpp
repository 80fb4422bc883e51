//===-- Decoder.cpp - Functions, symbols and modifiers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "../Checkers/ComparedLoads.h"
#include "../Checkers/RegisterChecker.h"
#include "PtxProgram.h"
#include "Requirements.h"

#include "tile/Rules/Rates.h"
#include <algorithm>
#include <span>

using namespace tile::sim;
using OK = ast::Operand::Kind;

const DecodeTable &tile::sim::decodeTable() {
  static const DecodeTable table = [] {
    DecodeTable t;
    for (auto *add :
         {registerInteger,        registerLogic,      registerFloat,
          registerTranscendental, registerConvert,    registerMove,
          registerCompare,        registerControl,    registerMemory,
          registerAtomic,         registerCollective, registerBarrier,
          registerAsyncCopy,      registerMbarrier,   registerTensorMap,
          registerMatrix,         registerMma,        registerWgmma,
          registerWmma,           registerMultimem,   registerTcgen05,
          registerRefused,        registerStack,      registerVideo})
      add(t);
    return t;
  }();
  return table;
}

SlotClass tile::sim::classOf(Type type) {
  if (type == Type::Pred)
    return SlotClass::Pred;
  unsigned bits = bitsOf(type);
  return bits <= 32   ? SlotClass::Word
         : bits <= 64 ? SlotClass::Double
                      : SlotClass::Quad;
}

//===-- Programs ----------------------------------------------------------===//

const ast::Function *
ProgramBuilder::findFunction(const std::string &name) const {
  for (const ast::Function &f : module.functions)
    if (f.name == name)
      return &f;
  return nullptr;
}

static std::vector<ParamSlot> placeParams(const ast::Function &function,
                                          const std::vector<int> &symbols,
                                          uint32_t &offset) {
  std::vector<ParamSlot> out;
  for (int s : symbols) {
    const ast::Variable &v = function.symbols[s];
    ParamSlot p;
    p.name = v.name;
    p.type = v.type;
    p.isArray = v.isArray;
    p.isRegister = v.space == Space::Reg;
    p.size = uint32_t(v.sizeInBytes());
    unsigned align = std::max(1u, v.alignment());
    if (!p.isRegister) {
      offset = (offset + align - 1) / align * align;
      p.offset = offset;
      offset += p.size;
    }
    out.push_back(p);
  }
  return out;
}

std::vector<ParamSlot> tile::sim::layoutParams(const ast::Function &function,
                                               uint32_t *bytes) {
  uint32_t offset = 0;
  std::vector<ParamSlot> out = placeParams(function, function.params, offset);
  if (bytes)
    *bytes = offset;
  return out;
}

Code *ProgramBuilder::codeFor(const std::string &name) {
  if (auto it = codeIndex.find(name); it != codeIndex.end())
    return program->codes[it->second].get();
  const ast::Function *function = findFunction(name);
  if (!function || !function->hasBody)
    return nullptr;
  auto code = std::make_unique<Code>();
  code->name = name;
  code->index = uint32_t(program->codes.size());
  // The parameters' places are needed by callers before the body is decoded.
  code->params = layoutParams(*function, &code->paramBytes);
  if (!function->isEntry) {
    uint32_t offset = code->paramBytes;
    code->returns = placeParams(*function, function->returns, offset);
    code->localBytes = (offset + 15) / 16 * 16;
  }
  codeIndex[name] = code->index;
  pending.push_back(function);
  program->functions[size_t(function - module.functions.data())] = code.get();
  program->codes.push_back(std::move(code));
  return program->codes.back().get();
}

void ProgramBuilder::decodePointedTo() {
  for (const ast::Variable &v : module.variables)
    for (const ast::InitValue &value : v.init)
      if (!value.symbol.empty())
        codeFor(value.symbol);
}

/// More bytes than any GPU has; only a launch says how large the dynamic array
/// is.
constexpr uint32_t kMostShared = 1u << 24;

/// Behind the last shared variable.
void ProgramBuilder::leaveGap() {
  if (program->sharedNames.empty())
    return;
  program->sharedGaps.push_back(
      {program->staticShared, program->sharedNames.back().first});
  program->staticShared += Gap::bytes;
}

uint32_t ProgramBuilder::sharedOffset(const ast::Variable &variable,
                                      const void *key) {
  // The dynamic array starts where the static variables end, which is known
  // only after the last body: decoding is done twice if it was used (see
  // build()).
  if (variable.isExtern || variable.isUnsized) {
    if (!dynamicAlign)
      dynamicName = variable.name;
    dynamicAlign = std::max({dynamicAlign, 16u, variable.alignment()});
    return program->staticShared;
  }
  if (auto it = shared.find(key); it != shared.end())
    return it->second;
  if (variable.sizeInBytes() > kMostShared ||
      program->staticShared > kMostShared)
    return UINT32_MAX;
  leaveGap();
  uint32_t align = std::max(1u, variable.alignment());
  uint32_t offset = (program->staticShared + align - 1) / align * align;
  program->staticShared = offset + uint32_t(variable.sizeInBytes());
  program->sharedNames.push_back(
      {variable.name, {offset, uint32_t(variable.sizeInBytes())}});
  shared[key] = offset;
  return offset;
}

std::unique_ptr<Program> ProgramBuilder::build(const ast::Function &entry) {
  uint32_t staticShared = 0;
  decltype(Program::sharedNames) names;
  std::vector<Gap> gaps;
  std::unique_ptr<Program> result;
  // The first round finds the static variables that are used; the second places
  // the dynamic array behind them.
  for (int round = 0; round < 2; ++round) {
    result = std::make_unique<PtxProgram>();
    program = result.get();
    program->sharedBanks = tile::rates::sharedBanks;
    program->functions.resize(module.functions.size());
    program->device = deviceOf(module.target);
    program->staticShared = staticShared;
    program->sharedNames = names;
    program->sharedGaps = gaps;
    if (round == 1) {
      if (dynamicAlign)
        leaveGap();
      uint32_t align = std::max(dynamicAlign, 16u);
      program->staticShared =
          (program->staticShared + align - 1) / align * align;
    }
    program->maxThreads = entry.maxThreads;
    program->maxRegisters = entry.maxRegisters;
    program->requiredThreads = entry.requiredThreads;
    program->requiredCluster = entry.requiredCluster;
    codeIndex.clear();
    pending.clear();
    codeFor(entry.name);
    while (!pending.empty()) {
      const ast::Function *function = pending.back();
      pending.pop_back();
      Code &code = *program->codes[codeIndex[function->name]];
      if (!FunctionDecoder(*this, *function, code).decode())
        return nullptr;
    }
    if (program->staticShared == 0 || round == 1)
      break;
    staticShared = program->staticShared;
    names = program->sharedNames;
    gaps = program->sharedGaps;
  }
  // Compilers of tile programs give all of shared memory this name, which says
  // nothing to their users.
  if (dynamicAlign && dynamicName != "global_smem")
    result->sharedNames.push_back(
        {dynamicName, {result->staticShared, kMostShared}});
  return result;
}

//===-- Functions ---------------------------------------------------------===//

bool FunctionDecoder::decode() {
  if (!declareSymbols())
    return false;
  code.sources = function.sources;
  starts.reserve(function.body.size() + 1);
  for (const ast::Instruction &instruction : function.body) {
    starts.push_back(uint32_t(code.insts.size()));
    if (!decodeInstruction(instruction))
      return false;
  }
  starts.push_back(uint32_t(code.insts.size()));
  // Falling off the end of a body is a return.
  in = nullptr;
  inst = Inst{};
  inst.fn = function.isEntry ? execExit : execReturn;
  inst.name = "ret";
  inst.cls = Class::Control;
  inst.endsBlock = true;
  inst.micro = true;
  inst.line =
      function.body.empty() ? function.loc.line : function.body.back().loc.line;
  code.insts.push_back(inst);
  markMatrixRegisters();
  if (!layoutBlocks(code, starts, diag))
    return false;
  auto &symbols = static_cast<PtxProgram &>(*builder.program).symbols;
  symbols.resize(std::max<size_t>(symbols.size(), code.index + 1));
  symbols[code.index] = {&function, std::move(symbolSlots)};
  findDoubtfulRegisters(code);
  markComparedLoads(code);
  if (readsOrderOfAtomics())
    builder.program->usesGlobalAtomics = true;
  return true;
}

/// Does anything read what an atomic that commutes returned? What a function
/// returns counts as read.
bool FunctionDecoder::readsOrderOfAtomics() const {
  std::vector<bool> results(code.frameBytes / 4 + 1);
  bool any = false;
  auto uses = [&](const Inst &inst) {
    return std::span(code.registers).subspan(inst.regs, inst.regCount);
  };
  for (const Inst &inst : code.insts)
    for (const RegisterUse &use : uses(inst))
      if (inst.commutes && use.written)
        any = results[use.slot / 4] = true;
  if (!any || !function.isEntry)
    return any;
  for (const Inst &inst : code.insts)
    for (const RegisterUse &use : uses(inst))
      if (!use.written && results[use.slot / 4])
        return true;
  return false;
}

/// Other instructions that name a register which some wgmma uses are watched.
void FunctionDecoder::markMatrixRegisters() {
  std::vector<bool> used(code.frameBytes / 4 + 1);
  bool any = false;
  for (const Inst &inst : code.insts)
    for (uint32_t i = 0; inst.isWgmma && i < inst.extCount; ++i)
      if (uint32_t slot = code.ext[inst.ext + i]; !(slot & ConstBit))
        any = used[slot / 4] = true;
  for (Inst &inst : code.insts)
    for (uint32_t i = 0; any && !inst.isWgmma && i < inst.regCount; ++i)
      if (used[code.registers[inst.regs + i].slot / 4])
        inst.watch |= Inst::Matrix;
}

uint32_t FunctionDecoder::allocate(SlotClass cls) {
  static const uint32_t sizes[] = {4, 128, 256, 512};
  uint32_t align = cls == SlotClass::Pred ? 4 : 64;
  uint32_t slot = (code.frameBytes + align - 1) / align * align;
  code.frameBytes = slot + sizes[size_t(cls)];
  return slot;
}

uint32_t FunctionDecoder::temp(SlotClass cls) { return allocate(cls); }

bool FunctionDecoder::declareSymbols() {
  symbolSlots.resize(function.symbols.size(), NoSlot);
  // Predicates first: they are small, and the rest stays aligned.
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < function.symbols.size(); ++i) {
      const ast::Variable &v = function.symbols[i];
      if (v.space != Space::Reg || (v.type == Type::Pred) != (pass == 0))
        continue;
      SlotClass cls = classOf(v.type);
      symbolSlots[i] = allocate(cls);
      for (unsigned extra = 1; extra < v.vector; ++extra)
        allocate(cls);
    }
  auto place = [&](const std::vector<int> &symbols,
                   std::vector<ParamSlot> &slots) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (slots[i].isRegister)
        slots[i].slot = symbolSlots[symbols[i]];
      else
        symbolSlots[symbols[i]] = slots[i].offset;
    }
  };
  place(function.params, code.params);
  if (!function.isEntry)
    place(function.returns, code.returns);
  std::string lastLocal;
  for (size_t i = 0; i < function.symbols.size(); ++i) {
    const ast::Variable &v = function.symbols[i];
    if (symbolSlots[i] != NoSlot)
      continue;
    if (v.space == Space::Local || v.space == Space::Param) {
      uint32_t align = std::max(1u, v.alignment());
      if (v.space == Space::Local && !lastLocal.empty()) {
        code.localGaps.push_back({code.localBytes, lastLocal});
        code.localBytes += Gap::bytes;
      }
      lastLocal = v.space == Space::Local ? v.name : "";
      uint64_t offset = (code.localBytes + align - 1) / align * align;
      if (offset + v.sizeInBytes() > mostLocal)
        return diag.error(v.loc,
                          "'" + v.name + "' does not fit into local memory");
      symbolSlots[i] = uint32_t(offset);
      code.localBytes = uint32_t(offset + v.sizeInBytes());
    } else if (v.space == Space::Shared) {
      // Keyed by place in the syntax tree, which both rounds of
      // ProgramBuilder::build share.
      uint32_t offset = builder.sharedOffset(v, &v);
      if (offset == UINT32_MAX)
        return diag.error(v.loc,
                          "'" + v.name + "' does not fit into shared memory");
      symbolSlots[i] = offset;
    } else if (v.space != Space::Reg) {
      return diag.error(
          v.loc, "variables of this space are not allowed in a function");
    }
  }
  code.localBytes = (code.localBytes + 15) / 16 * 16;
  return true;
}

bool FunctionDecoder::decodeInstruction(const ast::Instruction &instruction) {
  in = &instruction;
  inst = Inst{};
  modifiers.assign(instruction.modifiers.begin(), instruction.modifiers.end());
  epilogues.clear();
  uses.clear();
  auto it = decodeTable().find(instruction.opcode);
  if (it == decodeTable().end())
    return diag.error(instruction.loc,
                      "unknown instruction '" + instruction.opcode + "'");
  if (instruction.guard >= 0 &&
      function.symbols[instruction.guard].type != Type::Pred)
    return diag.error(instruction.loc, "the guard is not a predicate");
  if (!meetsRequirements())
    return false;
  if (!it->second(*this))
    return diag.isSet() ? false : error("operands do not fit");
  if (!modifiers.empty())
    return error("unknown modifier '." + std::string(modifiers.front()) + "'");
  return true;
}

bool FunctionDecoder::emit(ExecFn fn, Class cls) {
  inst.fn = fn;
  inst.cls = cls;
  inst.line = in->loc.line;
  inst.source = in->source;
  inst.name = decodeTable().find(in->opcode)->first.data();
  if (in->guard >= 0) {
    inst.guard = symbolSlots[in->guard];
    inst.guardNegated = in->guardNegated;
  }
  inst.regs = uint32_t(code.registers.size());
  inst.regCount = uint16_t(uses.size());
  code.registers.insert(code.registers.end(), uses.begin(), uses.end());
  code.insts.push_back(inst);
  for (const Epilogue &e : epilogues) {
    emitMicro(classConversion(e.from, e.to), {e.slot, e.temp}, 0, true);
  }
  epilogues.clear();
  return true;
}

void FunctionDecoder::emitMicro(ExecFn fn, std::initializer_list<uint32_t> ops,
                                int64_t imm, bool guarded) {
  Inst micro;
  micro.fn = fn;
  micro.micro = true;
  micro.imm = imm;
  micro.cls = Class::Other;
  micro.line = in->loc.line;
  micro.source = in->source;
  micro.name = "(operand)";
  std::copy(ops.begin(), ops.end(), micro.op);
  if (guarded && in->guard >= 0) {
    micro.guard = symbolSlots[in->guard];
    micro.guardNegated = in->guardNegated;
  }
  code.insts.push_back(micro);
}

//===-- Modifiers ---------------------------------------------------------===//

bool FunctionDecoder::has(std::string_view modifier) {
  auto it = std::find(modifiers.begin(), modifiers.end(), modifier);
  if (it == modifiers.end())
    return false;
  modifiers.erase(it);
  return true;
}

int FunctionDecoder::hasOneOf(std::initializer_list<std::string_view> list) {
  int index = 0;
  for (std::string_view name : list) {
    if (has(name))
      return index;
    ++index;
  }
  return -1;
}

bool FunctionDecoder::hasPrefix(std::string_view prefix,
                                std::string_view &rest) {
  for (auto it = modifiers.begin(); it != modifiers.end(); ++it)
    if (it->substr(0, prefix.size()) == prefix) {
      rest = it->substr(prefix.size());
      modifiers.erase(it);
      return true;
    }
  return false;
}

Type FunctionDecoder::peekType() const {
  for (std::string_view m : modifiers)
    if (Type type = parseType(m); type != Type::None)
      return type;
  return Type::None;
}

Type FunctionDecoder::takeType() {
  for (auto it = modifiers.begin(); it != modifiers.end(); ++it)
    if (Type type = parseType(*it); type != Type::None) {
      modifiers.erase(it);
      return type;
    }
  return Type::None;
}

bool FunctionDecoder::error(const std::string &message) const {
  std::string spelled = in->opcode;
  for (const std::string &m : in->modifiers)
    spelled += "." + m;
  return diag.error(in->loc, "'" + spelled + "': " + message);
}

bool FunctionDecoder::errorAt(const ast::Operand &operand,
                              const std::string &message) const {
  return diag.error(operand.loc, message);
}

bool FunctionDecoder::needType(Type type) const {
  return type != Type::None || error("a type is missing");
}
bool FunctionDecoder::badType(Type type) const {
  return error(type == Type::None ? std::string("a type is missing")
                                  : "type ." + std::string(nameOf(type)) +
                                        " is not allowed here");
}

bool FunctionDecoder::expectOperands(size_t low, size_t high) {
  if (operandCount() >= low && operandCount() <= high)
    return true;
  std::string range = low == high
                          ? std::to_string(low)
                          : std::to_string(low) + " to " + std::to_string(high);
  return error("expected " + range + " operands, found " +
               std::to_string(operandCount()));
}

int FunctionDecoder::labelTarget(const std::string &label) const {
  for (int s = in->scope; s >= 0; s = function.scopes[s].parent)
    if (auto it = function.scopes[s].labels.find(label);
        it != function.scopes[s].labels.end())
      return int(it->second);
  return -1;
}

const std::vector<std::string> *
FunctionDecoder::targetList(const std::string &label) const {
  for (int s = in->scope; s >= 0; s = function.scopes[s].parent)
    if (auto it = function.scopes[s].targetLists.find(label);
        it != function.scopes[s].targetLists.end())
      return &it->second;
  return nullptr;
}
