//===-- OperandEncodings.cpp - Operands in LDS ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandEncodings.h"
#include "amd/TransposedLoads.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Layout/SharedMemory.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

unsigned amd::getInnerDim(DotOperandEncodingAttr operand, unsigned rank) {
  return operand.getOpIdx() == 0 ? rank - 1 : rank - 2;
}

/// A layout of rows along K, or of rows as memory has them, whose pieces are
/// exchanged so that neighbouring rows start at different banks. `least`
/// elements stay together.
static Attribute getSwizzledEncoding(RankedTensorType source,
                                     DotOperandEncodingAttr operand,
                                     BankGeometry banks, unsigned least) {
  MLIRContext *context = source.getContext();
  SmallVector<unsigned> order = getOrder(source);
  CTALayoutAttr ctaLayout = getCTALayout(source.getEncoding());
  unsigned rank = source.getRank(), k = amd::getInnerDim(operand, rank);
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
  vec = std::max(vec, std::min(least, size));
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

/// What it costs a wave to move all that it has of a tensor. It counts how many
/// times the wave accesses the banks, and instructions. Each of these takes as
/// long as several accesses, not least because elements then come to registers
/// piece by piece.
static unsigned getAccessCost(const LinearLayout &distributed,
                              const LinearLayout &shared, unsigned bits,
                              BankGeometry banks) {
  constexpr unsigned kInstructionCost = 8;
  LinearLayout distinct =
      removeBroadcastedRegisters(distributed).apply(distributed);
  LinearLayout offsets = getOffsetLayout(distinct, shared);
  unsigned vecLog2 = getVectorAccess(offsets, bits).vecLog2;
  unsigned instructions = 1u << (offsets.getInDimSizeLog2(kRegister) - vecLog2);
  return instructions *
         (kInstructionCost + countWavefronts(offsets, bits, vecLog2, banks));
}

/// What lanes' addresses are of where transposing loads read `operand`.
static std::optional<LinearLayout>
getTransposedAddresses(RankedTensorType operand,
                       const amd::TargetModel &model) {
  std::optional<amd::TransposedLoad> load = amd::findTransposedLoad(
      model.getFacts(), operand.getElementTypeBitWidth());
  return load ? amd::getAddressedLayout(toLinearLayout(operand), *load)
              : std::nullopt;
}

bool amd::mayTransposeLoads(RankedTensorType operand,
                            const TargetModel &model) {
  return getTransposedAddresses(operand, model).has_value();
}

/// The layout with `count` neighbours to a lane, the first ones, and what else
/// lanes hold as if other waves had it.
static LinearLayout keepPieces(const LinearLayout &layout, unsigned count) {
  LinearLayout::Bases bases = layout.getBases();
  LinearLayout::DimBases rest;
  for (auto &[name, of] : bases)
    if (name == kRegister && of.size() > llvm::Log2_32(count)) {
      rest.assign(of.begin() + llvm::Log2_32(count), of.end());
      of.resize(llvm::Log2_32(count));
    }
  for (auto &[name, of] : bases)
    if (name == kWarp)
      llvm::append_range(of, rest);
  return LinearLayout(bases, layout.getOutDims(), layout.isSurjective());
}

Attribute amd::getOperandSharedEncoding(LoadOp load,
                                        std::optional<unsigned> pieceBytes) {
  const TargetModel &model = TargetModel::of(load);
  auto source = cast<RankedTensorType>(load.getType());
  auto operand =
      cast<RankedTensorType>((*load->user_begin())->getResult(0).getType());
  MLIRContext *context = source.getContext();
  BankGeometry banks = model.getSharedMemoryBanks();
  auto encoding = cast<DotOperandEncodingAttr>(operand.getEncoding());
  unsigned bits = source.getElementTypeBitWidth();
  unsigned piece = pieceBytes && bits >= 8 ? 8 * *pieceBytes / bits : 1;
  Attribute swizzled = getSwizzledEncoding(source, encoding, banks, piece);
  if (bits < 8)
    return swizzled;
  LinearLayout write = toLinearLayout(source), read = toLinearLayout(operand);
  if (pieceBytes)
    write = keepPieces(write, piece);
  unsigned k = getInnerDim(encoding, source.getRank());
  if (getOrder(source).front() != k)
    read = getTransposedAddresses(operand, model).value_or(read);
  auto getCost = [&](const LinearLayout &shared) {
    return getAccessCost(write, shared, bits, banks) +
           getAccessCost(read, shared, bits, banks);
  };
  auto chosen = chooseSwizzledSharedLayout(write, read, bits,
                                           /*maxBytes=*/INT64_MAX, banks);
  if (!chosen)
    return swizzled;
  LinearLayout layout = chosen->layout.removeInDim(kRepetition);
  // Pieces that the other layout takes apart.
  if (pieceBytes)
    for (unsigned i = 0; i < llvm::Log2_32(piece); ++i)
      if (i >= write.getInDimSizeLog2(kRegister) ||
          layout.getBasis(kOffset, i) != write.getBasis(kRegister, i))
        return swizzled;
  auto rows = MemDescType::get(source.getShape(), source.getElementType(),
                               swizzled, SharedMemorySpaceAttr::get(context),
                               /*mutableMemory=*/true);
  if (getCost(layout) >= getCost(toLinearLayout(rows)))
    return swizzled;
  constexpr unsigned kAlignment = 16;
  return SharedLinearEncodingAttr::get(context, layout, kAlignment);
}
