//===-- LLVMFlagScope.cpp - Options of LLVM for a while -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LLVMFlagScope.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"

#include <condition_variable>
#include <mutex>

using namespace mlir;
using namespace mlir::triton;

/// A flag, and who needs it now.
struct LLVMFlagScope::Flag {
  llvm::cl::opt<bool> *option = nullptr;
  unsigned users = 0;
  bool before = false;
};

namespace {
std::mutex mutex;
std::condition_variable left;
} // namespace

LLVMFlagScope::LLVMFlagScope(llvm::StringRef name, bool value) {
  static llvm::StringMap<Flag> &flags = *new llvm::StringMap<Flag>();
  std::unique_lock lock(mutex);
  flag = &flags[name];
  if (!flag->option)
    flag->option = static_cast<llvm::cl::opt<bool> *>(
        llvm::cl::getRegisteredOptions().lookup(name));
  if (!flag->option) {
    flag = nullptr;
    return;
  }
  left.wait(lock, [&] {
    return flag->users == 0 || flag->option->getValue() == value;
  });
  if (flag->users++ == 0) {
    flag->before = flag->option->getValue();
    flag->option->setValue(value);
  }
}

LLVMFlagScope::~LLVMFlagScope() {
  if (!flag)
    return;
  {
    std::lock_guard lock(mutex);
    if (--flag->users == 0)
      flag->option->setValue(flag->before);
  }
  left.notify_all();
}
