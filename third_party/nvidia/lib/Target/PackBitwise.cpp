//===-- PackBitwise.cpp - Bitwise operations on packed elements -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two elements of 16 bits share a register, or four of 8 bits. Code that
// unpacks weights of four bits masks, shifts and completes each element in a
// register of its own, and packs the results. Here the elements are packed
// first, and a bitwise operation is one instruction for all of them:
//
//   insertelement(or(zext a, 0x6400), or(zext b, 0x6400))
//     -> or(prmt(a, b), 0x64006400)
//
// The elements of a word are its lanes. A lane whose type is smaller than its
// share of the word has zeros above: extending it costs nothing.
//
// LLVM's SLPVectorizer does the same with vectors. The code generator for
// NVIDIA takes zext, shl and lshr of vectors apart again.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Target/PackBitwise.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

#include <map>

using namespace llvm;

namespace {
constexpr unsigned kBitsOfWord = 32;
constexpr unsigned kBitsOfByte = 8;
constexpr unsigned kBytesOfWord = kBitsOfWord / kBitsOfByte;
/// What `prmt` selects for a byte of zeros, from a second operand that is zero.
constexpr unsigned kZeroByte = kBytesOfWord;
/// What `prmt` selects for all bytes of its first operand, where they are.
constexpr unsigned kIdentity = 0x3210;
/// Instructions that a word must save. One alone is saved on paper: ptxas often
/// has that operation within another one.
constexpr int kLeastSaved = 2;

using Lanes = SmallVector<Value *, 4>;

enum class Kind { Constant, Same, Bitwise, Shift, Float, Leaf };

/// How the lanes of a word are computed: alike, from the lanes of operands.
struct Step {
  Kind kind = Kind::Leaf;
  SmallVector<Lanes, 2> operands;
};

unsigned getBits(const Value *value) {
  return value->getType()->getScalarSizeInBits();
}

bool isSmall(const Type *type) {
  return (type->isIntegerTy() || type->isFloatingPointTy()) &&
         (type->getScalarSizeInBits() == 8 ||
          type->getScalarSizeInBits() == 16);
}

Lanes getOperands(ArrayRef<Value *> lanes, unsigned index) {
  return Lanes(map_range(lanes, [&](Value *lane) {
    return cast<Instruction>(lane)->getOperand(index);
  }));
}

Kind getKind(const Instruction &inst) {
  switch (inst.getOpcode()) {
  case Instruction::BitCast:
  case Instruction::ZExt:
    return isSmall(inst.getOperand(0)->getType()) ? Kind::Same : Kind::Leaf;
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return Kind::Bitwise;
  case Instruction::Shl:
  case Instruction::LShr:
    return Kind::Shift;
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
    return Kind::Float;
  default:
    return Kind::Leaf;
  }
}

/// The amount by which all lanes are shifted.
const ConstantInt *getShift(ArrayRef<Value *> lanes) {
  Value *amount = cast<Instruction>(lanes.front())->getOperand(1);
  bool isOne = all_of(getOperands(lanes, 1),
                      [&](Value *other) { return other == amount; });
  auto *constant = dyn_cast<ConstantInt>(amount);
  return isOne && constant && constant->getValue().ult(getBits(amount))
             ? constant
             : nullptr;
}

Step getStep(ArrayRef<Value *> lanes) {
  if (all_of(lanes, IsaPred<ConstantInt, ConstantFP>))
    return {Kind::Constant, {}};
  auto *first = dyn_cast<Instruction>(lanes.front());
  if (!first)
    return {};
  Kind kind = getKind(*first);
  // What else needs a lane would compute it a second time. Casts are free.
  for (Value *lane : lanes) {
    auto *inst = dyn_cast<Instruction>(lane);
    if (!inst || !inst->isSameOperationAs(first) ||
        (kind != Kind::Same && !inst->hasOneUse()))
      return {};
  }
  switch (kind) {
  case Kind::Same:
    return {kind, {getOperands(lanes, 0)}};
  case Kind::Shift:
    if (!getShift(lanes))
      return {};
    return {kind, {getOperands(lanes, 0)}};
  case Kind::Bitwise:
  case Kind::Float:
    return {kind, {getOperands(lanes, 0), getOperands(lanes, 1)}};
  default:
    return {};
  }
}

/// Where the bytes of lanes are in a register.
struct Bytes {
  /// The vector of which all lanes are elements, and their word in it.
  Value *vector = nullptr;
  unsigned word = 0;
  /// Of each byte of the packed word, what `prmt` selects.
  unsigned selector = 0;
};

/// Finds the lanes in one register; the vector is null where they are not.
Bytes findBytes(ArrayRef<Value *> lanes) {
  unsigned bytes = getBits(lanes.front()) / kBitsOfByte;
  unsigned share = kBytesOfWord / lanes.size();
  Bytes found;
  for (auto [i, lane] : enumerate(lanes)) {
    auto *extract = dyn_cast<ExtractElementInst>(lane);
    auto *place =
        extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
    auto *type =
        extract ? dyn_cast<FixedVectorType>(extract->getVectorOperandType())
                : nullptr;
    if (!place || !type)
      return {};
    unsigned bits = type->getPrimitiveSizeInBits();
    uint64_t first = place->getZExtValue() * bytes;
    if ((bits % kBitsOfWord && bits != 16) || first * kBitsOfByte >= bits)
      return {};
    if (i == 0)
      found = {extract->getVectorOperand(), unsigned(first / kBytesOfWord), 0};
    if (extract->getVectorOperand() != found.vector ||
        first / kBytesOfWord != found.word)
      return {};
    for (unsigned byte = 0; byte < share; ++byte) {
      unsigned from = byte < bytes ? first % kBytesOfWord + byte : kZeroByte;
      found.selector |= from << 4 * (i * share + byte);
    }
  }
  return found;
}

/// Instructions that pack lanes which are computed one by one. Lanes of one
/// register would have to be taken out of it otherwise.
int countPacking(ArrayRef<Value *> lanes) {
  return findBytes(lanes).vector ? 0 : lanes.size() - 1;
}

/// Instructions that packing the lanes early saves, with those at the end.
int countSaved(ArrayRef<Value *> lanes) {
  Step step = getStep(lanes);
  int saved = step.kind == Kind::Bitwise ? lanes.size() - 1 : 0;
  if (step.kind == Kind::Leaf)
    saved -= countPacking(lanes);
  for (const Lanes &operand : step.operands)
    saved += countSaved(operand);
  return saved;
}

class Packer {
public:
  explicit Packer(Function &function) : builder(function.getContext()) {}

  /// Packs the elements of a vector early, where that saves something.
  void run(InsertElementInst &vector);
  /// Removes what was packed late.
  void finish() {
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
  }

private:
  Value *pack(ArrayRef<Value *> lanes);
  Value *packLeaf(ArrayRef<Value *> lanes);
  Value *takeFromRegister(const Bytes &bytes);
  Value *takeEach(ArrayRef<Value *> lanes);
  Value *computeFloats(ArrayRef<Value *> lanes, ArrayRef<Value *> words);
  Value *shift(ArrayRef<Value *> lanes, Value *word);
  /// The bits, in each lane.
  Value *inLanes(uint64_t bits, size_t lanes) {
    uint32_t word = 0;
    for (size_t i = 0; i < lanes; ++i)
      word |= uint32_t(bits) << (i * kBitsOfWord / lanes);
    return builder.getInt32(word);
  }

  IRBuilder<> builder;
  /// Lanes that more than one word is computed from.
  std::map<Lanes, Value *> leaves;
  /// Vectors that nothing needs any more. They stay to the end, as `leaves`
  /// knows values by their addresses.
  SmallVector<WeakTrackingVH> replaced;
};
} // namespace

Value *Packer::shift(ArrayRef<Value *> lanes, Value *word) {
  auto *first = cast<Instruction>(lanes.front());
  unsigned bits = getBits(first);
  APInt all = APInt::getAllOnes(bits);
  const APInt &amount = getShift(lanes)->getValue();
  bool isLeft = first->getOpcode() == Instruction::Shl;
  // What left one lane must not be in the next one.
  uint64_t kept = (isLeft ? all.shl(amount) : all.lshr(amount)).getZExtValue();
  uint64_t by = amount.getZExtValue();
  Value *moved =
      isLeft ? builder.CreateShl(word, by) : builder.CreateLShr(word, by);
  return builder.CreateAnd(moved, inLanes(kept, lanes.size()));
}

Value *Packer::computeFloats(ArrayRef<Value *> lanes, ArrayRef<Value *> words) {
  auto *first = cast<Instruction>(lanes.front());
  auto *type = FixedVectorType::get(first->getType(), lanes.size());
  Value *result =
      builder.CreateBinOp(Instruction::BinaryOps(first->getOpcode()),
                          builder.CreateBitCast(words[0], type),
                          builder.CreateBitCast(words[1], type));
  if (auto *made = dyn_cast<Instruction>(result)) {
    made->copyIRFlags(first);
    for (Value *lane : lanes)
      made->andIRFlags(lane);
  }
  return builder.CreateBitCast(result, builder.getInt32Ty());
}

/// The last of the lanes, behind which all of them are known; null where they
/// are not instructions of one block.
static Instruction *findLast(ArrayRef<Value *> lanes) {
  auto *last = dyn_cast<Instruction>(lanes.front());
  for (Value *lane : lanes) {
    auto *inst = dyn_cast<Instruction>(lane);
    if (!last || !inst || inst->getParent() != last->getParent() ||
        inst->isTerminator())
      return nullptr;
    if (last->comesBefore(inst))
      last = inst;
  }
  return last;
}

/// The lanes of one register, in their places.
Value *Packer::takeFromRegister(const Bytes &bytes) {
  Type *wordType = builder.getInt32Ty();
  unsigned bits = bytes.vector->getType()->getPrimitiveSizeInBits();
  Value *word;
  if (bits < kBitsOfWord) {
    word = builder.CreateZExt(
        builder.CreateBitCast(bytes.vector, builder.getIntNTy(bits)), wordType);
  } else {
    auto *words = FixedVectorType::get(wordType, bits / kBitsOfWord);
    word = builder.CreateExtractElement(
        builder.CreateBitCast(bytes.vector, words), bytes.word);
  }
  if (bytes.selector == kIdentity)
    return word;
  return builder.CreateIntrinsic(
      Intrinsic::nvvm_prmt, {},
      {word, builder.getInt32(0), builder.getInt32(bytes.selector)});
}

/// Lanes that are in registers of their own.
Value *Packer::takeEach(ArrayRef<Value *> lanes) {
  unsigned bits = kBitsOfWord / lanes.size();
  auto *type = FixedVectorType::get(builder.getIntNTy(bits), lanes.size());
  Value *vector = PoisonValue::get(type);
  for (auto [i, lane] : enumerate(lanes)) {
    Value *integer =
        builder.CreateBitCast(lane, builder.getIntNTy(getBits(lane)));
    integer = builder.CreateZExt(integer, type->getElementType());
    vector = builder.CreateInsertElement(vector, integer, i);
  }
  return builder.CreateBitCast(vector, builder.getInt32Ty());
}

Value *Packer::packLeaf(ArrayRef<Value *> lanes) {
  Lanes key(lanes);
  if (auto known = leaves.find(key); known != leaves.end())
    return known->second;
  IRBuilder<>::InsertPointGuard guard(builder);
  // Behind the last of them the word is there for all that use these lanes.
  Instruction *last = findLast(lanes);
  if (last) {
    builder.SetInsertPoint(*last->getInsertionPointAfterDef());
    builder.SetCurrentDebugLocation(last->getDebugLoc());
  }
  Bytes bytes = findBytes(lanes);
  Value *word = bytes.vector ? takeFromRegister(bytes) : takeEach(lanes);
  if (last)
    leaves[key] = word;
  return word;
}

Value *Packer::pack(ArrayRef<Value *> lanes) {
  Step step = getStep(lanes);
  if (step.kind == Kind::Leaf)
    return packLeaf(lanes);
  if (step.kind == Kind::Constant) {
    uint32_t word = 0;
    for (auto [i, lane] : enumerate(lanes)) {
      auto *integer = dyn_cast<ConstantInt>(lane);
      APInt bits = integer
                       ? integer->getValue()
                       : cast<ConstantFP>(lane)->getValueAPF().bitcastToAPInt();
      word |= uint32_t(bits.getZExtValue()) << (i * kBitsOfWord / lanes.size());
    }
    return builder.getInt32(word);
  }
  SmallVector<Value *, 2> words;
  for (const Lanes &operand : step.operands)
    words.push_back(pack(operand));
  auto *first = cast<Instruction>(lanes.front());
  builder.SetCurrentDebugLocation(first->getDebugLoc());
  switch (step.kind) {
  case Kind::Same:
    return words.front();
  case Kind::Bitwise:
    return builder.CreateBinOp(Instruction::BinaryOps(first->getOpcode()),
                               words[0], words[1]);
  case Kind::Shift:
    return shift(lanes, words.front());
  case Kind::Float:
    return computeFloats(lanes, words);
  default:
    llvm_unreachable("has no operands");
  }
}

/// The elements of a vector that is made of them; empty for other vectors.
static SmallVector<Value *> getElements(InsertElementInst &vector) {
  auto *type = cast<FixedVectorType>(vector.getType());
  SmallVector<Value *> elements(type->getNumElements());
  Value *rest = &vector;
  while (auto *insert = dyn_cast<InsertElementInst>(rest)) {
    auto *place = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!place || place->uge(elements.size()))
      return {};
    if (Value *&slot = elements[place->getZExtValue()]; !slot)
      slot = insert->getOperand(1);
    rest = insert->getOperand(0);
  }
  return is_contained(elements, nullptr) ? SmallVector<Value *>() : elements;
}

void Packer::run(InsertElementInst &vector) {
  auto *type = dyn_cast<FixedVectorType>(vector.getType());
  if (!type || !isSmall(type->getElementType()) ||
      type->getPrimitiveSizeInBits() % kBitsOfWord ||
      any_of(vector.users(), IsaPred<InsertElementInst>))
    return;
  SmallVector<Value *> elements = getElements(vector);
  size_t count = kBitsOfWord / type->getScalarSizeInBits();
  bool isBetter = false;
  for (size_t i = 0; i < elements.size(); i += count) {
    // The elements need not be packed at the end.
    int saved = countSaved(ArrayRef(elements).slice(i, count)) + count - 1;
    isBetter |= saved >= kLeastSaved;
  }
  if (!isBetter)
    return;
  builder.SetInsertPoint(&vector);
  auto *words =
      FixedVectorType::get(builder.getInt32Ty(), elements.size() / count);
  Value *packed = PoisonValue::get(words);
  for (size_t i = 0; i < elements.size(); i += count)
    packed = builder.CreateInsertElement(
        packed, pack(ArrayRef(elements).slice(i, count)), i / count);
  vector.replaceAllUsesWith(builder.CreateBitCast(packed, type));
  replaced.push_back(&vector);
}

void mlir::triton::nvidia::packBitwise(Module &module) {
  for (Function &function : module) {
    SmallVector<InsertElementInst *> vectors;
    for (Instruction &inst : instructions(function))
      if (auto *vector = dyn_cast<InsertElementInst>(&inst))
        vectors.push_back(vector);
    Packer packer(function);
    for (InsertElementInst *vector : vectors)
      packer.run(*vector);
    packer.finish();
  }
}
