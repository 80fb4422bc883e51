//===-- FloatConversionToLLVM.cpp - 8-bit floats by hardware --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine converts two 8-bit floats from and to f32. What is beyond the
// greatest number becomes that one, as elsewhere; the instructions alone would
// make a NaN of it.
//
//===----------------------------------------------------------------------===//

#include "amd/TritonAMDGPUToLLVM/Patterns.h"

#include "tile/Conversion/TritonGPUToLLVM/FloatConversion.h"
#include "tile/Conversion/TritonGPUToLLVM/FloatPairPattern.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
struct SmallFormat {
  /// As in the names of instructions.
  StringRef name;
  double greatest;
};

/// The formats that the machine converts.
std::optional<SmallFormat> getFormat(const amd::AMDTarget &target, Type type) {
  if (!target.hasFP8Conversion)
    return std::nullopt;
  if (target.hasFNUZ) {
    if (isa<Float8E4M3FNUZType>(type))
      return SmallFormat{"fp8", 240.0};
    if (isa<Float8E5M2FNUZType>(type))
      return SmallFormat{"bf8", 57344.0};
    return std::nullopt;
  }
  if (isa<Float8E4M3FNType>(type))
    return SmallFormat{"fp8", 448.0};
  if (isa<Float8E5M2Type>(type))
    return SmallFormat{"bf8", 57344.0};
  return std::nullopt;
}

FloatPair split(const LLVMBuilder &b, Value vector) {
  return {b.extractElem(vector, 0), b.extractElem(vector, 1)};
}

FloatPair widen(const LLVMBuilder &b, FloatPair bytes, const SmallFormat &from,
                Type to) {
  Type f32 = b.getBuilder().getF32Type();
  Value low = b.bitcast(b.packVector(bytes), b.intTy(16));
  Value word = b.zext(b.intTy(32), low);
  FloatPair values =
      split(b, b.intrinsic(LLVMBuilder::vecTy(f32, 2),
                           ("llvm.amdgcn.cvt.pk.f32." + from.name).str(),
                           ValueRange{word, /*upper half=*/b.i1(false)}));
  for (Value &value : values) {
    if (!to.isBF16()) {
      value = convertFloat(b, value, f32, to, RoundingMode::RTNE);
      continue;
    }
    // Its upper half holds all of it: there is nothing to round.
    Value bits = b.lshr(b.bitcast(value, b.intTy(32)), b.i32(16));
    value = b.bitcast(b.trunc(b.intTy(16), bits), to);
  }
  return values;
}

FloatPair narrow(const LLVMBuilder &b, FloatPair values, Type from,
                 const SmallFormat &to) {
  Type f32 = b.getBuilder().getF32Type();
  Value greatest = b.floatVal(f32, to.greatest);
  Value least = b.floatVal(f32, -to.greatest);
  for (Value &value : values) {
    value = from.isF64()
                ? narrowToOdd(b, value)
                : convertFloat(b, value, from, f32, RoundingMode::RTNE);
    Value inside = b.intrinsic(f32, "llvm.amdgcn.fmed3",
                               ValueRange{value, least, greatest});
    Value isNan =
        b.create<LLVM::FCmpOp>(LLVM::FCmpPredicate::uno, value, value);
    value = b.select(isNan, value, inside);
  }
  Value word =
      b.intrinsic(b.intTy(32), ("llvm.amdgcn.cvt.pk." + to.name + ".f32").str(),
                  ValueRange{values[0], values[1], b.poison(b.intTy(32)),
                             /*upper half=*/b.i1(false)});
  return split(b, b.bitcast(b.trunc(b.intTy(16), word),
                            LLVMBuilder::vecTy(b.intTy(8), 2)));
}
} // namespace

void amd::populateFloatConversionPatterns(const LoweringContext &context,
                                          const TargetInfo &target) {
  const AMDTarget &facts = target.getFacts();
  FloatPairConversions pairs;
  pairs.has = [&facts](Type from, Type to, RoundingMode rounding) {
    if (getFormat(facts, to))
      return rounding == RoundingMode::RTNE && from.getIntOrFloatBitWidth() > 8;
    return getFormat(facts, from) && to.getIntOrFloatBitWidth() > 8;
  };
  pairs.isBetterAlone = [](Type, Type) { return false; };
  pairs.convert = [&facts](const LLVMBuilder &b, FloatPair values, Type from,
                           Type to, RoundingMode) {
    if (auto format = getFormat(facts, to))
      return narrow(b, values, from, *format);
    return widen(b, values, *getFormat(facts, from), to);
  };
  populateFloatPairPatterns(context, pairs);
}
