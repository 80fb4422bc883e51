//===-- EncodingTest.h - Encodings from text, owners by formula -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TEST_UNIT_DIALECT_TRITONGPU_ENCODINGTEST_H
#define TILE_TEST_UNIT_DIALECT_TRITONGPU_ENCODINGTEST_H

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include <gtest/gtest.h>

namespace mlir::triton {

inline void PrintTo(const LinearLayout &layout, std::ostream *os) {
  *os << "\n" << layout.toString();
}

namespace gpu {

class EncodingTest : public ::testing::Test {
protected:
  using Coords = SmallVector<int64_t>;

  EncodingTest() { context.loadDialect<TritonGPUDialect>(); }

  Attribute parse(const std::string &text) {
    Attribute result = parseAttribute("#ttg." + text, &context);
    EXPECT_TRUE(result) << text;
    return result;
  }

  LinearLayout layoutOf(ArrayRef<int64_t> shape, const std::string &text) {
    auto emitError = [&] { return emitErrorAt(); };
    FailureOr<LinearLayout> layout =
        tryToLinearLayout(shape, parse(text), emitError);
    EXPECT_TRUE(succeeded(layout)) << text;
    return *layout;
  }

  /// Expects that there is no layout, and returns the reason.
  std::string reasonAgainst(ArrayRef<int64_t> shape, const std::string &text) {
    std::string reason;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      reason = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(
        tryToLinearLayout(shape, parse(text), [&] { return emitErrorAt(); })));
    return reason;
  }

  /// Compares every index of a distributed layout with a formula.
  void expectOwners(
      const LinearLayout &layout,
      llvm::function_ref<Coords(int reg, int lane, int warp, int block)>
          formula) {
    ASSERT_EQ(layout.getInDimNames(),
              SmallVector<StringRef>({kRegister, kLane, kWarp, kBlock}));
    for (int64_t flat = 0; flat < layout.getTotalInDimSize(); ++flat) {
      auto index = layout.unflattenIn(flat);
      Coords found;
      for (auto [name, value] : layout.apply(index))
        found.push_back(value);
      Coords expected = formula(index[0].second, index[1].second,
                                index[2].second, index[3].second);
      ASSERT_EQ(found, expected)
          << "register " << index[0].second << " lane " << index[1].second
          << " warp " << index[2].second << " block " << index[3].second
          << layout.toString();
    }
  }

  /// Compares the offset of every element with a formula.
  void expectOffsets(const LinearLayout &layout,
                     llvm::function_ref<int64_t(ArrayRef<int64_t>)> formula) {
    ASSERT_EQ(layout.getInDimNames(),
              SmallVector<StringRef>({kOffset, kBlock}));
    ASSERT_TRUE(layout.isInvertible());
    LinearLayout inverse = layout.invert();
    for (int64_t flat = 0; flat < layout.getTotalOutDimSize(); ++flat) {
      auto index = layout.unflattenOut(flat);
      Coords coords;
      for (auto [name, value] : index)
        coords.push_back(value);
      ASSERT_EQ(inverse.apply(index)[0].second, formula(coords))
          << layout.toString();
    }
  }

  InFlightDiagnostic emitErrorAt() {
    return emitError(UnknownLoc::get(&context));
  }

  MLIRContext context;
};

} // namespace gpu
} // namespace mlir::triton

#endif // TILE_TEST_UNIT_DIALECT_TRITONGPU_ENCODINGTEST_H
