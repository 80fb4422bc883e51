//===-- TensorMemoryLayout.cpp - Places of elements in tensor memory ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// Collects where the bits of the two coordinates of a matrix go.
class PlaceBuilder {
public:
  PlaceBuilder(unsigned bitWidth, gpu::CTALayoutAttr blocks)
      : slots(32 / bitWidth), numBlocks(blocks.getNumCTAs()),
        blocksOfParts(blocks.getLinearLayout().pseudoinvert()) {}

  void addLane(unsigned dim, int32_t lane) {
    bases[dim].push_back({0, 0, lane, 0});
  }
  /// `element` counts elements from the first column on.
  void addElement(unsigned dim, int64_t element) {
    bases[dim].push_back(
        {int32_t(element % slots), int32_t(element / slots), 0, 0});
  }
  void addColumn(unsigned dim, int64_t column) {
    bases[dim].push_back({0, int32_t(column), 0, 0});
  }
  /// The parts of a dimension, which blocks of the cluster have.
  void addBlocks(unsigned dim) {
    for (unsigned bit = 0; bit < blocksOfParts.getInDimSizeLog2(kDim(dim));
         ++bit)
      bases[dim].push_back(
          {0, 0, 0, blocksOfParts.getBasis(kDim(dim), bit, kBlock)});
  }

  LinearLayout get() const {
    LinearLayout::NamedSizes outs{{kTensorSlot, slots},
                                  {kTensorColumn, kTensorMemoryColumns},
                                  {kTensorLane, kTensorMemoryLanes},
                                  {kBlock, int32_t(numBlocks)}};
    return LinearLayout({{kDim(0), bases[0]}, {kDim(1), bases[1]}}, outs,
                        /*requireSurjective=*/false);
  }

  int32_t slots;

private:
  unsigned numBlocks;
  LinearLayout blocksOfParts;
  LinearLayout::DimBases bases[2];
};

} // namespace

/// Where the elements of a matrix of `m` x `n` per block of the cluster are.
static LinearLayout getPlaces(TensorMemoryEncodingAttr encoding, int64_t m,
                              int64_t n, unsigned bitWidth) {
  PlaceBuilder places(bitWidth, encoding.getCTALayout());
  unsigned blockM = encoding.getBlockM();
  int64_t blockN = std::min<int64_t>(encoding.getBlockN(), n);
  int64_t stride = getElementStride(encoding);
  bool halvesColumns = dividesColumnsByLanes(encoding);

  // Elements of a row of blocks, and of one block, in whole columns.
  int64_t pitch = std::max<int64_t>(
      (halvesColumns ? blockN / 2 : blockN) * stride, places.slots);
  int64_t rowPitch = pitch * (n / blockN);

  bool usesHalfWindows = blockM == 64 && !halvesColumns;
  for (unsigned row = 1; row < blockM; row *= 2)
    places.addLane(0, usesHalfWindows && row >= 16 ? 2 * row : row);
  unsigned rowBlocks = m / blockM;
  for (unsigned i = 1, step = 1; i < rowBlocks; i *= 2)
    if (usesHalfWindows && i == 1) {
      places.addLane(0, 16);
    } else {
      places.addElement(0, rowPitch * step);
      step *= 2;
    }
  places.addBlocks(0);

  for (int64_t column = 1; column < blockN; column *= 2)
    if (halvesColumns && column == blockN / 2)
      places.addLane(1, 64);
    else
      places.addElement(1, column * stride);
  for (int64_t i = 1; i < n / blockN; i *= 2)
    places.addElement(1, pitch * i);
  places.addBlocks(1);
  return places.get();
}

static LinearLayout getPlaces(TensorMemoryScalesEncodingAttr encoding,
                              int64_t rows, int64_t scales) {
  PlaceBuilder places(8, encoding.getCTALayout());
  for (int64_t row = 1; row < rows; row *= 2)
    if (row < 32)
      places.addLane(0, row);
    else
      places.addColumn(0, row / 32);
  places.addBlocks(0);
  int64_t pitch = llvm::divideCeil(rows, 32);
  for (int64_t scale = 1; scale < scales; scale *= 2)
    if (scale < 4)
      places.addElement(1, scale);
    else
      places.addColumn(1, pitch * (scale / 4));
  places.addBlocks(1);
  return places.get();
}

bool mlir::triton::nvidia_gpu::isInAllWindows(gpu::MemDescType type) {
  return isa<TensorMemoryScalesEncodingAttr>(type.getEncoding());
}

LinearLayout
mlir::triton::nvidia_gpu::getTensorMemoryPlaces(gpu::MemDescType type) {
  // A view lies where its part of the whole buffer lies.
  ArrayRef<int64_t> whole = type.getAllocShape().take_back(2);
  LinearLayout places;
  if (auto matrix = dyn_cast<TensorMemoryEncodingAttr>(type.getEncoding())) {
    places = getPlaces(matrix, whole[0] / matrix.getCTASplitM(),
                       whole[1] / matrix.getCTASplitN(),
                       type.getElementTypeBitWidth());
  } else {
    auto scales = cast<TensorMemoryScalesEncodingAttr>(type.getEncoding());
    places = getPlaces(scales, whole[0] / scales.getCTASplitM(),
                       whole[1] / scales.getCTASplitN());
  }
  for (auto [dim, size] : llvm::enumerate(type.getShape().take_back(2)))
    places = places.resizeInDim(kDim(dim), size);
  return places;
}

bool mlir::triton::nvidia_gpu::usesBlockPairs(ModuleOp module) {
  auto isPair = [](Type type) {
    auto buffer = dyn_cast<gpu::MemDescType>(type);
    auto encoding =
        buffer ? dyn_cast<TensorMemoryEncodingAttr>(buffer.getEncoding())
               : nullptr;
    return encoding && encoding.getTwoCTAs();
  };
  return module
      .walk([&](Operation *op) {
        auto mma = dyn_cast<MMAv5OpInterface>(op);
        return (mma && mma.usesTwoCTAs()) ||
                       llvm::any_of(op->getResultTypes(), isPair)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

int32_t mlir::triton::nvidia_gpu::getTensorMemoryPartStart(
    gpu::MemDescType whole, unsigned dim, int64_t start) {
  if (whole.getRank() == 3)
    return start * getTensorMemoryPitch(whole);
  LinearLayout places = getTensorMemoryPlaces(whole);
  int32_t column = 0, lane = 0;
  for (int bit = 0; start >> bit; ++bit)
    if (start >> bit & 1) {
      column += places.getBasis(kDim(dim), bit, kTensorColumn);
      lane += places.getBasis(kDim(dim), bit, kTensorLane);
    }
  return getTensorAddress(lane, column);
}

unsigned mlir::triton::nvidia_gpu::getTensorMemoryPitch(gpu::MemDescType type) {
  FailureOr<TensorMemoryFootprint> footprint = getTensorMemoryFootprint(type);
  assert(succeeded(footprint) && "the type was verified");
  return type.getRank() == 3 ? footprint->columns / type.getShape().front()
                             : footprint->columns;
}
