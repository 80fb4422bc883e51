//===-- LLVMFlagScope.cpp - Options of LLVM for a while -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LLVMFlagScope.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

using namespace mlir;
using namespace mlir::triton;

/// An option, and who needs it now.
struct LLVMFlagScope::Flag {
  std::function<unsigned()> get;
  std::function<void(unsigned)> set;
  /// Counts it as an option of the command line, or no longer.
  std::function<bool()> isStated;
  std::function<void(unsigned)> state;
  std::function<void()> reset;
  unsigned users = 0, before = 0;
  bool wasStated = false;
};

namespace {
std::mutex mutex;
std::condition_variable left;
} // namespace

template <typename T>
void LLVMFlagScope::enter(llvm::StringRef name, T value, bool isStated) {
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
    found.isStated = [option] { return option->getNumOccurrences() > 0; };
    found.state = [option](unsigned to) {
      option->reset();
      option->addOccurrence(0, option->ArgStr, std::to_string(to));
    };
    found.reset = [option] { option->reset(); };
  }
  flag = &found;
  left.wait(lock, [&] {
    return flag->users == 0 ||
           (flag->get() == value && (!isStated || flag->isStated()));
  });
  if (flag->users++ == 0) {
    flag->before = flag->get();
    flag->wasStated = flag->isStated();
    if (isStated)
      flag->state(value);
    else
      flag->set(value);
  }
}

LLVMFlagScope::LLVMFlagScope(llvm::StringRef name, bool value, bool isStated) {
  enter(name, value, isStated);
}

LLVMFlagScope::LLVMFlagScope(llvm::StringRef name, unsigned value) {
  enter(name, value);
}

LLVMFlagScope::~LLVMFlagScope() {
  if (!flag)
    return;
  {
    std::lock_guard lock(mutex);
    if (--flag->users == 0) {
      if (flag->isStated() && !flag->wasStated)
        flag->reset();
      flag->set(flag->before);
    }
  }
  left.notify_all();
}
