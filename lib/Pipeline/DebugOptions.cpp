//===-- DebugOptions.cpp - Options that our tools share
//-----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/DebugOptions.h"

#include "tile/Support/PassStatistic.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace {
struct DebugOptions {
  llvm::cl::opt<bool, true> debug{
      "debug", llvm::cl::desc("Print the debug output of every component"),
      llvm::cl::location(llvm::DebugFlag)};
  llvm::cl::list<std::string> debugOnly{
      "debug-only", llvm::cl::CommaSeparated,
      llvm::cl::desc("Print the debug output of these components (a pass's "
                     "component is its argument)"),
      llvm::cl::value_desc("types"),
      llvm::cl::callback([](const std::string &type) { addType(type); })};

  static void addType(const std::string &type) {
    static std::vector<std::string> types;
    types.push_back(type);
    std::vector<const char *> pointers;
    for (const std::string &name : types)
      pointers.push_back(name.c_str());
    // A macro where NDEBUG is set, hence no qualified name.
    using namespace llvm;
    setCurrentDebugTypes(pointers.data(), pointers.size());
    llvm::DebugFlag = true;
  }
};
} // namespace

namespace {
struct StatisticsOption {
  llvm::cl::opt<bool> print{
      "pass-statistics",
      llvm::cl::desc("Print what the passes counted, at the end")};

  ~StatisticsOption() {
    if (print)
      mlir::triton::printPassStatistics(llvm::errs());
  }
};
} // namespace

void mlir::triton::printPassStatistics(llvm::raw_ostream &os) {
  std::string last;
  for (const PassStatistic::Value &value : PassStatistic::getAll()) {
    if (value.pass != last)
      os << value.pass << "\n";
    last = value.pass;
    os << llvm::format("%10llu ", static_cast<unsigned long long>(value.count))
       << value.name << ": " << value.description << "\n";
  }
}

void mlir::triton::registerDebugOptions() {
  static StatisticsOption statistics;
  if (llvm::cl::getRegisteredOptions().contains("debug"))
    return;
  static DebugOptions options;
}

void mlir::triton::registerVersion() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "tile " TILE_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
}
