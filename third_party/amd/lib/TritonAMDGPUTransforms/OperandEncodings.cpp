//===-- OperandEncodings.cpp - Operands in LDS ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

unsigned amd::getInnerDim(DotOperandEncodingAttr operand, unsigned rank) {
  return operand.getOpIdx() == 0 ? rank - 1 : rank - 2;
}

Attribute amd::getOperandSharedEncoding(RankedTensorType source,
                                        DotOperandEncodingAttr operand,
                                        BankGeometry banks) {
  MLIRContext *context = source.getContext();
  SmallVector<unsigned> order = getOrder(source);
  CTALayoutAttr ctaLayout = getCTALayout(source.getEncoding());
  unsigned rank = source.getRank(), k = getInnerDim(operand, rank);
  bool isTransposed = order.front() != k;
  if (isTransposed) {
    // Lanes with neighbours along K write them together, so that they are read
    // together; others are written, and read, one by one.
    if (rank != 2 || getContigPerThread(source)[k] == 1)
      return SwizzledSharedEncodingAttr::get(context, 1, 1, 1, order,
                                             ctaLayout);
    std::swap(order[0], order[1]);
  }

  // A lane reads up to 16 bytes along K; the lanes that are served at once take
  // them from different rows. Rows that fill the banks together need no shift
  // among themselves, others must not start at the same bank.
  unsigned bytes = std::max(source.getElementTypeBitWidth() / 8, 1u);
  unsigned size = getShapePerCTA(source)[k];
  unsigned vec = std::min({operand.getKWidth(), 16 / bytes, size});
  unsigned allBanks = banks.numBanks * banks.bankBytes;
  unsigned lanesAtOnce = std::max(1u, allBanks / (vec * bytes));
  unsigned perPhase = std::max(1u, allBanks / (size * bytes));
  unsigned maxPhase =
      std::max(1u, std::min(lanesAtOnce / perPhase, size / vec));
  if (!isTransposed)
    return SwizzledSharedEncodingAttr::get(context, vec, perPhase, maxPhase,
                                           order, ctaLayout);
  // Lanes write to rows that are several apart, which start at the same bank
  // again after all phases: there the phases begin with another one.
  return AMDRotatingSharedEncodingAttr::get(context, vec, perPhase, maxPhase,
                                            order, ctaLayout);
}
