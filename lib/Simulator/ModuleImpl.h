//===-- ModuleImpl.h - What a loaded module holds -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Program.h"
#include "tile/Simulator/Module.h"

#include <mutex>
#include <unordered_map>

namespace tile::sim {

namespace amdgcn {
struct Kernel;
struct Assembly;
} // namespace amdgcn

struct Entry {
  const ast::Function *function = nullptr; ///< of PTX
  const amdgcn::Kernel *kernel = nullptr;  ///< of AMDGCN
  std::vector<Param> params;
  /// Decoded when first asked for; null with an error if that failed.
  mutable std::unique_ptr<Program> program;
  mutable Diagnostic error;
};

struct Module::Impl {
  /// A .global or .const variable in host memory.
  struct Storage {
    const ast::Variable *variable = nullptr;
    std::vector<std::byte> bytes;
    uint64_t address = 0;
  };

  bool placeVariables(Diagnostic &diag);
  bool resetVariables(Diagnostic &diag);
  const Entry *find(std::string_view name) const;
  /// Null if the kernel cannot be decoded: Entry::error says why.
  const Program *program(const Entry &entry) const;

  bool loadPtx(std::string_view text, Diagnostic &diag);
  bool loadAssembly(std::string_view text, Diagnostic &diag);

  Impl();
  ~Impl();
  ast::Module ast;
  /// Kept if there are variables: another GPU has others.
  std::string text;
  /// What the module was, if not PTX; its variables and files are in `ast`.
  std::unique_ptr<amdgcn::Assembly> assembly;
  std::vector<Storage> storage;
  std::unordered_map<std::string, GlobalVariable> globals;
  std::vector<std::pair<std::string, Entry>> entries;
  std::vector<UndefinedLoad> undefinedLoads;
  mutable std::mutex decoding;
  /// Launches of a module with variables exclude each other: variables start
  /// fresh for each.
  std::mutex variables;
};

} // namespace tile::sim
