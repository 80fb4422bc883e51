//===-- Module.cpp - Loading: variables and programs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ModuleImpl.h"
#include "Numeric.h"
#include "tile/Simulator/Parser.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

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
    return uint64_t(int64_t(v.real));
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
  if (!parseModule(text, impl.ast, diag))
    return nullptr;
  if (!impl.placeVariables(diag))
    return nullptr;
  for (const ast::Function &f : impl.ast.functions)
    for (const ast::Instruction &in : f.body)
      if (!decodeTable().count(in.opcode)) {
        diag.error(in.loc, "unknown instruction '" + in.opcode + "'");
        return nullptr;
      }
  for (const ast::Function &f : impl.ast.functions) {
    if (!f.isEntry || !f.hasBody)
      continue;
    Entry entry;
    entry.function = &f;
    for (const ParamSlot &p : layoutParams(f))
      entry.params.push_back({p.name, p.type, p.offset, p.size, p.isArray});
    impl.entries.emplace_back(f.name, std::move(entry));
  }
  // A module of one kernel is of no use without it.
  if (impl.entries.size() == 1 && !impl.program(impl.entries.front().second)) {
    diag = impl.entries.front().second.error;
    return nullptr;
  }
  return module;
}

const Program *Module::Impl::program(const Entry &entry) const {
  std::lock_guard lock(decoding);
  if (!entry.program && !entry.error.isSet())
    entry.program =
        ProgramBuilder(ast, globals, entry.error).build(*entry.function);
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
uint32_t Module::staticShared(std::string_view entry) const {
  const Entry *e = impl->find(entry);
  const Program *program = e ? impl->program(*e) : nullptr;
  return program ? program->sharedBytes() : 0;
}
