//===-- Module.cpp - Loading: variables and programs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AMDGCN/Decoder.h"
#include "Checkers/UndefinedLanes.h"
#include "ModuleImpl.h"
#include "Numeric.h"
#include "PTX/Decoder.h"
#include "tile/Simulator/Parser.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

Module::Impl::Impl() = default;
Module::Impl::~Impl() = default;
Module::Module() : impl(std::make_unique<Impl>()) {}
Module::~Module() = default;

static uint64_t valueBits(const ast::InitValue &v, Type type) {
  if (!v.isReal)
    return uint64_t(v.imm);
  switch (type) {
  case Type::F64:
    return bitsOfDouble(v.real);
  case Type::F32:
    return bitsOfFloat(float(v.real));
  default:
    // As cvt.rzi.s64 does.
    return v.real != v.real    ? 0
           : v.real >= 0x1p63  ? uint64_t(INT64_MAX)
           : v.real <= -0x1p63 ? uint64_t(INT64_MIN)
                               : uint64_t(int64_t(v.real));
  }
}

/// Bytes that the variables of a module may take together.
static constexpr uint64_t mostVariableBytes = uint64_t(1) << 29;

bool Module::Impl::placeVariables(Diagnostic &diag) {
  uint64_t total = 0;
  for (const ast::Variable &v : ast.variables) {
    if (v.space != Space::Global && v.space != Space::Const)
      continue;
    if (v.isExtern)
      continue;
    total += v.sizeInBytes();
    if (total > mostVariableBytes)
      return diag.error(v.loc, "'" + v.name +
                                   "' is too large: the variables of a module "
                                   "may take 512 MiB together");
    Storage s;
    s.variable = &v;
    uint64_t align = std::max(16u, v.alignment());
    s.bytes.resize(v.sizeInBytes() + align);
    s.address =
        (uint64_t(reinterpret_cast<uintptr_t>(s.bytes.data())) + align - 1) /
        align * align;
    globals[v.name] = {v.space, s.address, v.sizeInBytes()};
    storage.push_back(std::move(s));
  }
  return resetVariables(diag);
}

/// Gives every variable its initial value; addresses of other variables are
/// known by now.
bool Module::Impl::resetVariables(Diagnostic &diag) {
  for (Storage &s : storage) {
    auto *data = reinterpret_cast<std::byte *>(s.address);
    std::memset(data, 0, s.variable->sizeInBytes());
    unsigned size = bytesOf(s.variable->type);
    for (size_t i = 0; i < s.variable->init.size(); ++i) {
      const ast::InitValue &v = s.variable->init[i];
      uint64_t bits = valueBits(v, s.variable->type);
      if (!v.symbol.empty()) {
        auto it = globals.find(v.symbol);
        uint64_t address = it == globals.end() ? 0 : it->second.address;
        for (size_t f = 0; f < ast.functions.size(); ++f)
          if (ast.functions[f].name == v.symbol)
            address = CodeWindow + f;
        if (!address)
          return diag.error(s.variable->loc,
                            "the initial value of '" + s.variable->name +
                                "' names the unknown variable '" + v.symbol +
                                "'");
        bits += address;
      }
      std::memcpy(data + i * size, &bits, std::min<size_t>(size, 8));
    }
  }
  return true;
}

std::shared_ptr<const Module> Module::load(std::string_view text,
                                           Diagnostic &diag) {
  std::shared_ptr<Module> module(new Module());
  Impl &impl = *module->impl;
  impl.undefinedLoads = listUndefinedLoads(text);
  if (amdgcn::isAssembly(text) ? !impl.loadAssembly(text, diag)
                               : !impl.loadPtx(text, diag))
    return nullptr;
  if (!impl.storage.empty())
    impl.text = text;
  findFolders(impl.undefinedLoads, impl.ast.files);
  // A module of one kernel is of no use without it.
  if (impl.entries.size() == 1 && !impl.program(impl.entries.front().second)) {
    diag = impl.entries.front().second.error;
    return nullptr;
  }
  return module;
}

bool Module::Impl::loadPtx(std::string_view text, Diagnostic &diag) {
  if (!parseModule(text, ast, diag) || !placeVariables(diag))
    return false;
  for (const ast::Function &f : ast.functions)
    for (const ast::Instruction &in : f.body)
      if (!decodeTable().count(in.opcode))
        return diag.error(in.loc, "unknown instruction '" + in.opcode + "'");
  for (const ast::Function &f : ast.functions) {
    if (!f.isEntry || !f.hasBody)
      continue;
    Entry entry;
    entry.function = &f;
    for (const ParamSlot &p : layoutParams(f))
      entry.params.push_back({p.name, p.type, p.offset, p.size, p.isArray});
    entries.emplace_back(f.name, std::move(entry));
  }
  return true;
}

/// How an argument that metadata describes by its size is passed.
static Param paramOf(const amdgcn::Argument &a, size_t index) {
  Type type = a.size == 1   ? Type::B8
              : a.size == 2 ? Type::B16
              : a.size == 4 ? Type::B32
              : a.size == 8 ? Type::B64
                            : Type::None;
  return {a.name.empty() ? "arg" + std::to_string(index) : a.name,
          type == Type::None ? Type::B8 : type, a.offset, a.size,
          type == Type::None};
}

bool Module::Impl::loadAssembly(std::string_view text, Diagnostic &diag) {
  assembly = std::make_unique<amdgcn::Assembly>();
  if (!amdgcn::parseAssembly(text, *assembly, diag))
    return false;
  ast.target = assembly->target;
  ast.files = assembly->files;
  for (const amdgcn::Variable &v : assembly->variables) {
    ast::Variable variable;
    variable.space = v.writable ? Space::Global : Space::Const;
    variable.type = Type::B8;
    variable.count = int64_t(v.bytes.size());
    variable.name = v.name;
    for (std::byte b : v.bytes)
      variable.init.push_back({int64_t(b), 0, false, false, ""});
    if (!v.bytes.empty())
      ast.variables.push_back(std::move(variable));
  }
  for (const amdgcn::Kernel &k : assembly->kernels) {
    Entry entry;
    entry.kernel = &k;
    for (const amdgcn::Argument &a : k.args)
      if (!a.isHidden())
        entry.params.push_back(paramOf(a, entry.params.size()));
    entries.emplace_back(k.name, std::move(entry));
  }
  return placeVariables(diag);
}

const Program *Module::Impl::program(const Entry &entry) const {
  std::lock_guard lock(decoding);
  if (entry.kernel && !entry.program && !entry.error.isSet())
    entry.program =
        amdgcn::buildProgram(*assembly, *entry.kernel, globals, entry.error);
  else if (!entry.program && !entry.error.isSet())
    entry.program =
        ProgramBuilder(ast, globals, entry.error).build(*entry.function);
  else
    return entry.program.get();
  if (entry.program)
    for (auto &code : entry.program->codes)
      markUndefinedLoads(*code, undefinedLoads, ast.files);
  return entry.program.get();
}

const Entry *Module::Impl::find(std::string_view name) const {
  for (auto &[known, entry] : entries)
    if (known == name)
      return &entry;
  return nullptr;
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (auto &[name, entry] : impl->entries)
    names.push_back(name);
  return names;
}
const std::vector<Param> *Module::params(std::string_view entry) const {
  const Entry *e = impl->find(entry);
  return e ? &e->params : nullptr;
}
std::string_view Module::target() const { return impl->ast.target; }
const std::vector<UndefinedLoad> &Module::undefinedLoads() const {
  return impl->undefinedLoads;
}
uint32_t Module::staticShared(std::string_view entry) const {
  const Entry *e = impl->find(entry);
  const Program *program = e ? impl->program(*e) : nullptr;
  return program ? program->sharedBytes() : 0;
}
