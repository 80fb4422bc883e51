//===-- LinkLibrary.cpp - Linking bitcode into a kernel's module ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/LinkLibrary.h"
#include "tile/Target/LLVMIR.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;

/// The value as a parameter of another type takes it: an address may be a
/// number. Null if it does not.
static llvm::Value *convertArgument(llvm::IRBuilder<> &b, llvm::Value *value,
                                    llvm::Type *type) {
  llvm::Type *given = value->getType();
  if (given == type)
    return value;
  if (type->isPointerTy() && given->isIntegerTy(64))
    return b.CreateIntToPtr(value, type);
  return given->isPointerTy() && type->isIntegerTy(64)
             ? b.CreatePtrToInt(value, type)
             : nullptr;
}

/// What a kernel gets of a function that gives another type: zero of one that
/// gives nothing. Null if there is no such value.
static llvm::Value *convertResult(llvm::IRBuilder<> &b, llvm::Value *value,
                                  llvm::Type *type) {
  if (value->getType()->isVoidTy())
    return llvm::Constant::getNullValue(type);
  if (value->getType()->isIntegerTy() && type->isIntegerTy())
    return b.CreateZExtOrTrunc(value, type);
  return convertArgument(b, value, type);
}

/// A kernel has declared the function with other types than the library has.
static bool adaptCall(llvm::CallInst *call, llvm::Function &function) {
  if (call->arg_size() != function.arg_size())
    return false;
  llvm::IRBuilder<> b(call);
  llvm::SmallVector<llvm::Value *> arguments;
  for (auto [argument, parameter] :
       llvm::zip(call->args(), function.getFunctionType()->params()))
    arguments.push_back(convertArgument(b, argument, parameter));
  if (llvm::is_contained(arguments, nullptr))
    return false;
  llvm::CallInst *made = b.CreateCall(&function, arguments);
  llvm::Value *result = convertResult(b, made, call->getType());
  if (!result)
    return false;
  call->replaceAllUsesWith(result);
  call->eraseFromParent();
  return true;
}

static std::string print(llvm::FunctionType *type) {
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

/// LLVM takes a call of a function by another type for one that never happens.
static LogicalResult adaptCalls(ModuleOp diagnosticOp, llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(function.users())) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledOperand() != &function ||
          call->getFunctionType() == function.getFunctionType())
        continue;
      llvm::FunctionType *expected = call->getFunctionType();
      if (!adaptCall(call, function))
        return diagnosticOp.emitError("the library's function '")
               << function.getName() << "' has the type "
               << print(function.getFunctionType())
               << ", and the kernel calls it by " << print(expected);
    }
  }
  return success();
}

static LogicalResult link(ModuleOp diagnosticOp, llvm::Module &module,
                          std::unique_ptr<llvm::Module> library,
                          StringRef name) {
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  triton::CollectDiagnostics diagnostics(module.getContext());
  if (llvm::Linker::linkModules(module, std::move(library),
                                llvm::Linker::Flags::LinkOnlyNeeded,
                                internalize))
    return diagnosticOp.emitError("linking ")
           << name << " failed: " << diagnostics.getErrors();
  return adaptCalls(diagnosticOp, module);
}

LogicalResult triton::linkLibrary(ModuleOp diagnosticOp, llvm::Module &module,
                                  llvm::MemoryBufferRef bitcode) {
  StringRef name = bitcode.getBufferIdentifier();
  auto library = llvm::getLazyBitcodeModule(bitcode, module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot read ")
           << name << ": " << llvm::toString(library.takeError());
  return link(diagnosticOp, module, std::move(*library), name);
}

LogicalResult triton::linkLibraryFile(ModuleOp diagnosticOp,
                                      llvm::Module &module, StringRef path) {
  llvm::SMDiagnostic why;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(path, why, module.getContext());
  if (!library)
    return diagnosticOp.emitError("cannot read the library '")
           << path << "': " << why.getMessage();
  return link(diagnosticOp, module, std::move(library), path);
}
