//===-- WarpGroupOperands.cpp - What wgmma works on -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WarpGroupOperands.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace wgmma = mlir::triton::nvidia::wgmma;
namespace ttg = mlir::triton::gpu;

SmallVector<Value> wgmma::toRegisters(const LLVMBuilder &b,
                                      ArrayRef<Value> elements) {
  if (elements.empty() || !elements.front().getType().isF16())
    return SmallVector<Value>(elements);
  SmallVector<Value> registers;
  for (unsigned i = 0; i < elements.size(); i += 2)
    registers.push_back(
        b.bitcast(b.packVector({elements[i], elements[i + 1]}), b.intTy(32)));
  return registers;
}

SmallVector<Value> wgmma::toElements(const LLVMBuilder &b,
                                     ArrayRef<Value> registers, Type element) {
  if (!element.isF16())
    return SmallVector<Value>(registers);
  SmallVector<Value> elements;
  for (Value word : registers)
    llvm::append_range(elements, b.unpackVector(b.bitcast(
                                     word, LLVMBuilder::vecTy(element, 2))));
  return elements;
}

StringRef wgmma::getRegisterClass(Value value) {
  return value.getType().isF32() ? "f" : "r";
}

SmallVector<Value> wgmma::emitWait(const LLVMBuilder &b, unsigned pendings,
                                   ArrayRef<Value> registers,
                                   ArrayRef<Value> inUse) {
  nvt::PTXAsm wait(b);
  wait << "wgmma.wait_group.sync.aligned " + std::to_string(pendings) + ";";
  wait.emit({}, nvt::PTXAsm::InOrder);
  if (registers.empty() && inUse.empty())
    return {};
  nvt::PTXAsm ptx(b);
  SmallVector<nvt::PTXAsm::Operand> outputs;
  for (Value value : registers)
    outputs.push_back(ptx.output(getRegisterClass(value)));
  for (auto [value, output] : llvm::zip(registers, outputs))
    ptx.tied(value, output);
  for (Value value : inUse)
    ptx.input(value, "r");
  return ptx.emit(llvm::to_vector(ValueRange(registers).getTypes()),
                  nvt::PTXAsm::InOrder);
}

std::optional<StringRef> wgmma::getTypeName(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  if (type.isInteger(8))
    return "s8";
  return std::nullopt;
}

void wgmma::Instruction::append(nvt::PTXAsm &ptx,
                                ArrayRef<nvt::PTXAsm::Operand> ds,
                                ArrayRef<nvt::PTXAsm::Operand> as,
                                StringRef aDescriptor,
                                StringRef bDescriptor) const {
  ptx << "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" +
             std::to_string(k) + "." + d.str() + "." + a.str() + "." + b.str() +
             " "
      << ds << ", ";
  if (as.empty())
    ptx << aDescriptor;
  else
    ptx << as;
  ptx << ", " << bDescriptor << ", p";
  if (!isInteger)
    ptx << ", 1, 1";
  if (is16Bit && as.empty())
    ptx << (transA ? ", 1" : ", 0");
  if (is16Bit)
    ptx << (transB ? ", 1" : ", 0");
  ptx << ";\n\t";
}

wgmma::SharedOperand wgmma::makeSharedOperand(
    const LLVMBuilder &b, Value converted, ttg::MemDescType type, Value group,
    ArrayRef<int32_t> groupBases, nvt::MatrixDescriptor descriptor) {
  // Coordinates of the group to bytes: each bit of its number is one basis.
  SmallVector<int32_t> groupOffsets;
  for (int32_t basis : groupBases)
    groupOffsets.push_back(descriptor.getOffset(basis, 0));
  Value offset;
  if (group && llvm::any_of(groupOffsets, [](int32_t o) { return o != 0; }))
    offset = evaluateLinear(b, group, groupOffsets);
  Value first =
      nvt::emitMatrixDescriptor(b, converted, type, descriptor, offset);
  return {std::move(descriptor), first};
}

std::optional<wgmma::RegisterOperand>
wgmma::RegisterOperand::make(const LLVMBuilder &b, Value converted,
                             RankedTensorType type) {
  RegisterTable table(toLinearLayout(type));
  SmallVector<Value> values = unpackElements(b, converted, type);
  unsigned perRegister = 32 / type.getElementTypeBitWidth();
  SmallVector<int32_t> inner = table.getContributions(1);
  RegisterOperand result;
  if (inner.size() % (2 * perRegister))
    return std::nullopt;
  for (int32_t row : table.getContributions(0)) {
    if (row & 8)
      continue;
    for (unsigned k = 0; k < inner.size(); k += 2 * perRegister) {
      SmallVector<Value> &words = result.words[{row, k / (2 * perRegister)}];
      for (unsigned half : {0u, perRegister})
        for (int32_t at : {row, row | 8}) {
          SmallVector<Value> elements;
          for (unsigned i = 0; i < perRegister; ++i) {
            int32_t r = table.lookup({at, inner[k + half + i]});
            if (r < 0)
              return std::nullopt;
            elements.push_back(values[r]);
          }
          words.push_back(b.bitcast(b.packVector(elements), b.intTy(32)));
        }
    }
  }
  return result;
}
