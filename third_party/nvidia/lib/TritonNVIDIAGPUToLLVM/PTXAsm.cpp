//===-- PTXAsm.cpp - Inline PTX -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

PTXAsm::Operand PTXAsm::output(StringRef registerClass) {
  assert(inputs.empty() && "outputs come before inputs");
  constraints += (numOperands ? ",=" : "=") + registerClass.str();
  ++numOutputs;
  return {numOperands++};
}

PTXAsm::Operand PTXAsm::input(Value value, StringRef registerClass) {
  constraints += (numOperands ? "," : "") + registerClass.str();
  inputs.push_back(value);
  return {numOperands++};
}

PTXAsm::Operand PTXAsm::tied(Value value, Operand output) {
  return input(value, std::to_string(output.number));
}

PTXAsm &PTXAsm::operator<<(ArrayRef<Operand> vector) {
  if (vector.size() == 1)
    return *this << vector.front();
  text += "{";
  llvm::interleave(
      vector, [&](Operand operand) { *this << operand; },
      [&] { text += ", "; });
  text += "}";
  return *this;
}

SmallVector<Value> PTXAsm::emit(TypeRange results, Effects effects) {
  assert(results.size() == numOutputs);
  MLIRContext *ctx = b.getContext();
  Type type = LLVM::LLVMVoidType::get(ctx);
  if (results.size() == 1)
    type = results.front();
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(ctx, llvm::to_vector(results));
  if (effects == SideEffects)
    constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
  auto assembly = b.create<LLVM::InlineAsmOp>(
      results.empty() ? TypeRange() : TypeRange(type), inputs, text,
      constraints, /*has_side_effects=*/effects != Pure,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(ctx, LLVM::AsmDialect::AD_ATT), ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(assembly.getResult(0));
  else
    for (unsigned i = 0; i < results.size(); ++i)
      values.push_back(b.extractVal(assembly.getResult(0), i));
  return values;
}
