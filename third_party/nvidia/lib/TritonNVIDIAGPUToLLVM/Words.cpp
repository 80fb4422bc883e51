//===-- Words.cpp - Elements packed into registers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TritonNVIDIAGPUToLLVM/Words.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia;

WordShape nvidia::getWordShape(Type element, unsigned count) {
  unsigned elementBits = element.getIntOrFloatBitWidth();
  unsigned total = elementBits * count;
  unsigned word = std::min(32u, total);
  if (elementBits == 64)
    word = 64;
  return {std::max(16u, word), total / word, word};
}

SmallVector<Value> nvidia::packWords(const LLVMBuilder &b,
                                     ArrayRef<Value> elements,
                                     const WordShape &shape) {
  Type wordType = b.intTy(shape.bits);
  unsigned perWord = elements.size() / shape.count;
  SmallVector<Value> words;
  for (unsigned w = 0; w < shape.count; ++w) {
    Value packed = b.packVector(elements.slice(w * perWord, perWord));
    Value bits = b.bitcast(packed, b.intTy(shape.memoryBits));
    words.push_back(b.zext(wordType, bits));
  }
  return words;
}

SmallVector<Value> nvidia::unpackWords(const LLVMBuilder &b,
                                       ArrayRef<Value> words, Type element,
                                       unsigned count, const WordShape &shape) {
  unsigned perWord = count / shape.count;
  Type packed =
      perWord == 1 ? element : Type(LLVMBuilder::vecTy(element, perWord));
  SmallVector<Value> elements;
  for (Value word : words) {
    Value bits = b.trunc(b.intTy(shape.memoryBits), word);
    llvm::append_range(elements, b.unpackVector(b.bitcast(bits, packed)));
  }
  return elements;
}

std::string nvidia::getVectorSuffix(unsigned count) {
  return count == 1 ? "" : ".v" + std::to_string(count);
}

StringRef nvidia::getAddressClass(Value ptr) {
  unsigned space = cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace();
  return space == 3 || space == 7 ? "r" : "l";
}

StringRef nvidia::getSpaceName(Value ptr) {
  switch (cast<LLVM::LLVMPointerType>(ptr.getType()).getAddressSpace()) {
  case 1:
    return ".global";
  case 3:
    return ".shared";
  case 4:
    return ".const";
  case 7:
    return ".shared::cluster";
  default:
    return "";
  }
}
