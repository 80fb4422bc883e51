//===-- LayoutRules.cpp - How tt operations relate layouts ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LayoutInferenceOpInterface of the operations of this dialect. Encodings are
// opaque here: the dialect that owns one computes the next.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

#include "tile/Dialect/Triton/IR/OpInterfaces.cpp.inc"

namespace {

using MaybeLocation = std::optional<Location>;

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Asks the dialect of `layout`.
FailureOr<Attribute>
infer(Attribute layout, MaybeLocation loc,
      function_ref<FailureOr<Attribute>(const DialectInferLayoutInterface &)>
          rule) {
  const DialectInferLayoutInterface *interface =
      getInferLayoutInterface(layout, loc);
  if (!interface)
    return failure();
  return rule(*interface);
}

} // namespace

//===----------------------------------------------------------------------===//
// Results that depend on no tensor
//===----------------------------------------------------------------------===//

LayoutRole MakeRangeOp::getLayoutRole() { return LayoutRole::Free; }

LayoutRole SplatOp::getLayoutRole() { return LayoutRole::Free; }

//===----------------------------------------------------------------------===//
// Readers of any layout
//===----------------------------------------------------------------------===//

LayoutRole UnsplatOp::getLayoutRole() { return LayoutRole::Neutral; }
bool UnsplatOp::acceptsAnyLayout(OpOperand &) { return true; }

LayoutRole AssertOp::getLayoutRole() { return LayoutRole::Neutral; }
bool AssertOp::acceptsAnyLayout(OpOperand &) { return true; }

LayoutRole PrintOp::getLayoutRole() { return LayoutRole::Neutral; }
bool PrintOp::acceptsAnyLayout(OpOperand &) { return true; }

LayoutRole HistogramOp::getLayoutRole() { return LayoutRole::Neutral; }
// A mask must have the layout of what it masks.
bool HistogramOp::acceptsAnyLayout(OpOperand &) { return !getMask(); }

// The indices decide about the result, unless both were chosen with the source.
LayoutRole GatherOp::getLayoutRole() {
  return getEfficientLayout() ? LayoutRole::Anchor : LayoutRole::Flexible;
}
bool GatherOp::acceptsAnyLayout(OpOperand &operand) {
  return !getEfficientLayout() && &operand == &getSrcMutable();
}

//===----------------------------------------------------------------------===//
// Reduction, expansion
//===----------------------------------------------------------------------===//

FailureOr<Attribute> ReduceOp::inferResultLayout(OpResult, Attribute layout,
                                                 MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferReduceLayout(layout, getAxis(), loc);
  });
}
FailureOr<Attribute> ReduceOp::inferOperandLayout(OpResult, Attribute layout,
                                                  MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferReduceOperandLayout(layout, getAxis(), loc);
  });
}

// What an inserted dimension takes away again is a slice.
FailureOr<Attribute> ExpandDimsOp::inferResultLayout(OpResult, Attribute layout,
                                                     MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferExpandDimsLayout(layout, getAxis(), loc);
  });
}
FailureOr<Attribute> ExpandDimsOp::inferOperandLayout(OpResult,
                                                      Attribute layout,
                                                      MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferReduceLayout(layout, getAxis(), loc);
  });
}
bool ExpandDimsOp::keepsDefaultResultLayout() { return true; }

// The default layout of the operand would leave most threads without elements
// of their own.
bool BroadcastOp::keepsDefaultResultLayout() { return true; }

//===----------------------------------------------------------------------===//
// Transposition, reshape
//===----------------------------------------------------------------------===//

FailureOr<Attribute> TransOp::inferResultLayout(OpResult, Attribute layout,
                                                MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferTransLayout(layout, shapeOf(getSrc()), getOrder(), loc);
  });
}
FailureOr<Attribute> TransOp::inferOperandLayout(OpResult, Attribute layout,
                                                 MaybeLocation loc) {
  SmallVector<int32_t> inverse(getOrder().size());
  for (auto [i, from] : llvm::enumerate(getOrder()))
    inverse[from] = i;
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferTransLayout(layout, shapeOf(getResult()), inverse, loc);
  });
}

LayoutRole ReshapeOp::getLayoutRole() {
  return getEfficientLayout() ? LayoutRole::Anchor : LayoutRole::Flexible;
}
FailureOr<Attribute> ReshapeOp::inferResultLayout(OpResult, Attribute layout,
                                                  MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferReshapeLayout(layout, shapeOf(getSrc()),
                                    shapeOf(getResult()), loc);
  });
}
FailureOr<Attribute> ReshapeOp::inferOperandLayout(OpResult, Attribute layout,
                                                   MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferReshapeLayout(layout, shapeOf(getResult()),
                                    shapeOf(getSrc()), loc);
  });
}

//===----------------------------------------------------------------------===//
// Join, split, cat
//===----------------------------------------------------------------------===//

FailureOr<Attribute> JoinOp::inferResultLayout(OpResult, Attribute layout,
                                               MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferJoinLayout(layout, shapeOf(getLhs()), loc);
  });
}
FailureOr<Attribute> JoinOp::inferOperandLayout(OpResult, Attribute layout,
                                                MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferSplitLayout(layout, shapeOf(getResult()), loc);
  });
}

FailureOr<Attribute> SplitOp::inferResultLayout(OpResult, Attribute layout,
                                                MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferSplitLayout(layout, shapeOf(getSrc()), loc);
  });
}
FailureOr<Attribute> SplitOp::inferOperandLayout(OpResult, Attribute layout,
                                                 MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferJoinLayout(layout, shapeOf(getOutLHS()), loc);
  });
}
// Both halves of a pair must be in one thread, as after a join; in the default
// layout of the operand they are not.
bool SplitOp::keepsDefaultResultLayout() { return true; }

// Which element lands where was decided with the layouts.
LayoutRole CatOp::getLayoutRole() { return LayoutRole::Anchor; }
FailureOr<Attribute> CatOp::inferResultLayout(OpResult, Attribute layout,
                                              MaybeLocation loc) {
  return infer(layout, loc, [&](const DialectInferLayoutInterface &rules) {
    return rules.inferCatLayout(layout, shapeOf(getLhs()), loc);
  });
}
