//===-- MmaEncodingTraitTest.cpp - A matrix encoding of no vendor ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An encoding of another dialect implements `MmaEncodingTrait`. Nothing in ttg
// knows it, and all of it works: its layouts, and those of operands.
//
//===----------------------------------------------------------------------===//

#include "EncodingTest.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

/// An instruction of 8x4 for 32 threads, and two warps along M. The right
/// operand lies in shared memory only.
class CubeAttr
    : public Attribute::AttrBase<
          CubeAttr, Attribute, AttributeStorage, LayoutEncodingTrait::Trait,
          DistributedEncodingTrait::Trait, MmaEncodingTrait::Trait> {
public:
  using Base::Base;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CubeAttr)
  using EmitError = function_ref<InFlightDiagnostic()>;
  static constexpr StringLiteral name = "cube.cube";

  static CubeAttr get(MLIRContext *context) { return Base::get(context); }

  unsigned getRank() const { return 2; }
  CTALayoutAttr getCTALayout() const {
    return CTALayoutAttr::getDefault(getContext(), 2);
  }
  SmallVector<unsigned> getDefaultOrder() const { return {1, 0}; }
  ArrayRef<unsigned> getWarpsPerCTA() const {
    static constexpr unsigned kWarps[] = {2, 1};
    return kWarps;
  }
  ArrayRef<unsigned> getInstrShape() const {
    static constexpr unsigned kShape[] = {8, 4};
    return kShape;
  }

  FailureOr<LinearLayout> getAccumulatorLayout(ArrayRef<int64_t> shape,
                                               EmitError) const {
    return LinearLayout::identity1D(8, kLane, kDim(0)) *
           LinearLayout::identity1D(4, kLane, kDim(1)) *
           LinearLayout::identity1D(2, kWarp, kDim(0)) *
           LinearLayout::identity1D(shape[0] / 16, kRegister, kDim(0)) *
           LinearLayout::identity1D(shape[1] / 4, kRegister, kDim(1));
  }

  FailureOr<LinearLayout> getOperandLayout(ArrayRef<int64_t> shape, unsigned,
                                           unsigned kWidth,
                                           EmitError emitError) const {
    if (shape[1] != 4 * kWidth) {
      emitError() << "one instruction is deep enough";
      return failure();
    }
    return LinearLayout::identity1D(8, kLane, kDim(0)) *
           LinearLayout::identity1D(kWidth, kRegister, kDim(1)) *
           LinearLayout::identity1D(4, kLane, kDim(1)) *
           LinearLayout::identity1D(2, kWarp, kDim(0));
  }

  unsigned getDefaultKWidth(Type elementType) const {
    return 32 / elementType.getIntOrFloatBitWidth();
  }

  LogicalResult verifyOperand(EmitError emitError, unsigned opIdx) const {
    if (opIdx == 0)
      return success();
    return emitError() << "only the left operand of a cube is in registers";
  }
};

class CubeDialect : public Dialect {
public:
  explicit CubeDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<CubeDialect>()) {
    addAttributes<CubeAttr>();
  }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CubeDialect)
  static constexpr StringLiteral getDialectNamespace() { return "cube"; }
  void printAttribute(Attribute, DialectAsmPrinter &printer) const override {
    printer << "cube";
  }
};

class MmaEncodingTraitTest : public EncodingTest {
protected:
  MmaEncodingTraitTest() {
    context.loadDialect<CubeDialect>();
    cube = CubeAttr::get(&context);
  }

  LinearLayout layoutOf(ArrayRef<int64_t> shape, Attribute encoding) {
    return *tryToLinearLayout(shape, encoding, [&] { return emitErrorAt(); });
  }

  Attribute cube;
};

TEST_F(MmaEncodingTraitTest, Accumulator) {
  expectOwners(layoutOf({16, 8}, cube), [](int i, int lane, int warp, int) {
    return Coords{lane % 8 + 8 * warp, lane / 8 + 4 * i};
  });
}

TEST_F(MmaEncodingTraitTest, Operand) {
  auto left = DotOperandEncodingAttr::get(&context, 0, cube,
                                          Float16Type::get(&context));
  EXPECT_EQ(left.getKWidth(), 2u);
  EXPECT_EQ(left.getDefaultOrder(), SmallVector<unsigned>({1, 0}));
  expectOwners(layoutOf({16, 8}, left), [](int i, int lane, int warp, int) {
    return Coords{lane % 8 + 8 * warp, i + 2 * (lane / 8)};
  });
}

TEST_F(MmaEncodingTraitTest, ItsOwnErrors) {
  std::string reason;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    reason = diagnostic.str();
    return success();
  });
  auto emitError = [&] { return emitErrorAt(); };
  EXPECT_FALSE(DotOperandEncodingAttr::getChecked(emitError, &context, 1u, cube,
                                                  /*kWidth=*/2u));
  EXPECT_EQ(reason, "only the left operand of a cube is in registers");
  auto left = DotOperandEncodingAttr::get(&context, 0u, cube, /*kWidth=*/4u);
  EXPECT_TRUE(failed(tryToLinearLayout({16, 8}, left, emitError)));
  EXPECT_EQ(reason, "one instruction is deep enough");
}

} // namespace
