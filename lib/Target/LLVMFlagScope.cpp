//===-- LLVMFlagScope.cpp - Options of LLVM for a while -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LLVMFlagScope.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"

#include <condition_variable>
#include <functional>
#include <mutex>

using namespace mlir;
using namespace mlir::triton;

/// An option, and who needs it now.
struct LLVMFlagScope::Flag {
  std::function<unsigned()> get;
  std::function<void(unsigned)> set;
  unsigned users = 0, before = 0;
};

namespace {
std::mutex mutex;
std::condition_variable left;
} // namespace

template <typename T> void LLVMFlagScope::enter(llvm::StringRef name, T value) {
  static llvm::StringMap<Flag> &flags = *new llvm::StringMap<Flag>();
  std::unique_lock lock(mutex);
  Flag &found = flags[name];
  if (!found.get) {
    auto *option = static_cast<llvm::cl::opt<T> *>(
        llvm::cl::getRegisteredOptions().lookup(name));
    if (!option)
      return;
    found.get = [option] { return unsigned(option->getValue()); };
    found.set = [option](unsigned to) { option->setValue(T(to)); };
  }
  flag = &found;
  left.wait(lock, [&] { return flag->users == 0 || flag->get() == value; });
  if (flag->users++ == 0) {
    flag->before = flag->get();
    flag->set(value);
  }
}

LLVMFlagScope::LLVMFlagScope(llvm::StringRef name, bool value) {
  enter(name, value);
}

LLVMFlagScope::LLVMFlagScope(llvm::StringRef name, unsigned value) {
  enter(name, value);
}

LLVMFlagScope::~LLVMFlagScope() {
  if (!flag)
    return;
  {
    std::lock_guard lock(mutex);
    if (--flag->users == 0)
      flag->set(flag->before);
  }
  left.notify_all();
}
