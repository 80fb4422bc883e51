//===-- LLVMWorkarounds.cpp - What is done about faults of LLVM -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LLVMWorkarounds.h"

#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <mutex>
#include <vector>

using namespace mlir;
using namespace mlir::triton;

bool LLVMWorkaround::concerns(llvm::StringRef processor) const {
  return processors.empty() ||
         llvm::any_of(processors, [&](llvm::StringRef beginning) {
           return processor.starts_with(beginning);
         });
}

std::string
triton::getFeaturesOfWorkarounds(llvm::ArrayRef<LLVMWorkaround> table,
                                 llvm::StringRef processor) {
  std::string features;
  for (const LLVMWorkaround &row : table)
    if (!row.features.empty() && row.concerns(processor))
      features += (features.empty() ? "" : ",") + row.features.str();
  return features;
}

void triton::applyWorkarounds(llvm::ArrayRef<LLVMWorkaround> table,
                              llvm::Module &module,
                              const llvm::TargetMachine &machine) {
  for (const LLVMWorkaround &row : table)
    if (row.rewrite && row.concerns(machine.getTargetCPU()))
      row.rewrite(module);
}

void triton::insertPassesOfWorkarounds(llvm::StringRef architecture,
                                       llvm::ArrayRef<LLVMWorkaround> table) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<llvm::RegisterTargetPassConfigCallback>>
      callbacks;
  std::lock_guard lock(mutex);
  callbacks.push_back(std::make_unique<llvm::RegisterTargetPassConfigCallback>(
      [architecture = architecture.str(),
       table](llvm::TargetMachine &machine, llvm::PassManagerBase &,
              llvm::TargetPassConfig *config) {
        if (machine.getTargetTriple().getArchName() != architecture)
          return;
        for (const LLVMWorkaround &row : table)
          if (row.insertPass && row.concerns(machine.getTargetCPU()))
            row.insertPass(*config);
      }));
}
