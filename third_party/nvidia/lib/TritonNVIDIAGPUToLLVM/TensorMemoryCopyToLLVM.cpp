//===-- TensorMemoryCopyToLLVM.cpp - tcgen05.cp ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction reads a matrix of lanes by bytes from shared memory, and
// writes its rows to lanes. Where the bytes of each lane come from follows from
// two layouts: where elements are in the source, and where in the destination.
//
//===----------------------------------------------------------------------===//

#include "TensorCorePattern.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

/// The bytes of a column.
constexpr unsigned kColumnBytes = 4;
/// Tiles of scales in shared memory: rows modulo 32, rows / 32, scales.
constexpr int64_t kScaleTile[] = {32, 4, 4};

/// Where the source has the element of a bit of a coordinate.
struct SourceBit {
  int32_t offset; ///< in elements
  int32_t block;  ///< of the cluster
};

/// For both coordinates of the destination, where the source has their bits.
using SourceBits = std::array<SmallVector<SourceBit>, 2>;

/// What one instruction copies.
struct CopyShape {
  StringRef name;
  unsigned lanes, bytes;
};

struct CopyPattern : nvt::TensorCorePattern<ttng::TMEMCopyOp> {
  using TensorCorePattern::TensorCorePattern;
  LogicalResult
  matchAndRewrite(ttng::TMEMCopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!facts.hasTensorMemory)
      return decline(op, "the target has no tcgen05.cp");
    ttg::MemDescType from = op.getSrc().getType(), to = op.getDst().getType();
    if (from.getElementTypeBitWidth() < 8)
      return decline(op, "elements are smaller than a byte");
    std::optional<SourceBits> source = findSource(from, to);
    if (!source)
      return decline(op, "scales in shared memory must have the shape of the "
                         "destination, or that of its tiles: rows / 128 x "
                         "scales / 4 x 32 x 4 x 4");
    SmallVector<int32_t> lanes, bytes, places;
    if (failed(matchPlaces(op, *source, lanes, bytes, places)))
      return failure();
    std::optional<CopyShape> shape = chooseShape(to, places);
    if (!shape)
      return decline(op, "an instruction writes at least 16 bytes of a lane, "
                         "which are not side by side here");
    nvt::MatrixTile tile{/*outerDim=*/0,
                         /*innerDim=*/1,
                         shape->lanes,
                         shape->bytes,
                         int64_t(1) << lanes.size(),
                         int64_t(1) << bytes.size(),
                         /*elementBits=*/8};
    tile.mayBeTransposed = false;
    auto descriptor = nvt::matchMatrixDescriptor(lanes, bytes, tile,
                                                 nvt::MatrixUnit::TensorMemory);
    if (!descriptor)
      return decline(op, "no matrix descriptor fits the layout of the source");

    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::ElectedThread elected(b, target, op,
                               getIssuePredicate(b, inPairs, /*pred=*/{}));
    nvt::InstructionText text(elected.getAsm());
    nvt::SharedOperand operand{
        *descriptor,
        nvt::emitMatrixDescriptor(b, adaptor.getSrc(), from, *descriptor)};
    text.add("tcgen05.fence::after_thread_sync");
    for (unsigned byte = 0; byte < 1u << bytes.size(); byte += shape->bytes) {
      int32_t place = 0;
      for (auto [bit, value] : llvm::enumerate(places))
        if (byte >> bit & 1)
          place += value;
      text.add(Twine("tcgen05.cp") + getGroup() + "." + shape->name + " " +
               text.tensor(adaptor.getDst(), place / kColumnBytes) + ", " +
               text.shared(operand, 0, byte));
    }
    if (Value barrier = op.getBarrier())
      addCommit(b, text, adaptor.getBarrier(), barrier, /*condition=*/{},
                getHearers(b, op, /*operands=*/{}));
    text.finish();
    elected.emit();
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Nothing where the coordinates of the source mean nothing known.
  static std::optional<SourceBits> findSource(ttg::MemDescType from,
                                              ttg::MemDescType to) {
    LinearLayout offsets = toLinearLayout(from).pseudoinvert();
    SourceBits result;
    auto add = [&](unsigned coordinate, unsigned dim) {
      int64_t size = from.getShape()[dim];
      for (unsigned bit = 0; bit < llvm::Log2_64(size); ++bit)
        result[coordinate].push_back(
            {offsets.getBasis(kDim(dim), bit, kOffset),
             offsets.getBasis(kDim(dim), bit, kBlock)});
    };
    if (from.getShape() == to.getShape() && from.getRank() == 2) {
      add(0, 0);
      add(1, 1);
      return result;
    }
    if (from.getRank() != 5 ||
        from.getShape().drop_front(2) != ArrayRef(kScaleTile) ||
        to.getShape() !=
            ArrayRef<int64_t>{from.getShape()[0] * 128, from.getShape()[1] * 4})
      return std::nullopt;
    for (unsigned dim : {2, 3, 0})
      add(0, dim);
    for (unsigned dim : {4, 1})
      add(1, dim);
    return result;
  }

  /// Sorts the offsets of the source, in bytes, by the bits of the lanes and of
  /// the bytes of a lane that they are copied to. `byteOfBit` gets these bytes.
  LogicalResult matchPlaces(ttng::TMEMCopyOp op, const SourceBits &source,
                            SmallVectorImpl<int32_t> &lanes,
                            SmallVectorImpl<int32_t> &bytes,
                            SmallVectorImpl<int32_t> &byteOfBit) const {
    ttg::MemDescType to = op.getDst().getType();
    LinearLayout places = ttng::getTensorMemoryPlaces(to);
    int32_t elementBytes = to.getElementTypeBitWidth() / 8;
    // The bytes of one element.
    std::map<int32_t, int32_t> laneBits, byteBits;
    for (int32_t byte = 1; byte < elementBytes; byte *= 2)
      byteBits[byte] = byte;
    for (auto [dim, bits] : llvm::enumerate(source))
      for (auto [bit, from] : llvm::enumerate(bits)) {
        int32_t lane = places.getBasis(kDim(dim), bit, ttng::kTensorLane);
        int32_t byte =
            places.getBasis(kDim(dim), bit, ttng::kTensorColumn) *
                kColumnBytes +
            places.getBasis(kDim(dim), bit, ttng::kTensorSlot) * elementBytes;
        if (places.getBasis(kDim(dim), bit, kBlock) != from.block)
          return decline(op, "blocks of the cluster hold other parts in shared "
                             "memory than in tensor memory");
        if (lane)
          laneBits[lane] = from.offset * elementBytes;
        else if (byte)
          byteBits[byte] = from.offset * elementBytes;
      }
    for (auto [lane, offset] : laneBits)
      lanes.push_back(offset);
    for (auto [byte, offset] : byteBits) {
      bytes.push_back(offset);
      byteOfBit.push_back(byte);
    }
    return success();
  }

  /// The widest instruction that writes nothing between the bytes of a lane.
  static std::optional<CopyShape> chooseShape(ttg::MemDescType to,
                                              ArrayRef<int32_t> byteOfBit) {
    unsigned run = 1;
    for (int32_t byte : byteOfBit)
      if (byte == int32_t(run))
        run *= 2;
    for (CopyShape shape :
         {CopyShape{"128x256b", 128, 32}, CopyShape{"128x128b", 128, 16},
          CopyShape{"32x128b.warpx4", 32, 16}})
      if (ttng::isInAllWindows(to) == (shape.lanes == 32) && shape.bytes <= run)
        return shape;
    return std::nullopt;
  }
};

} // namespace

void nvt::populateTensorMemoryCopyPatterns(const LoweringContext &context,
                                           const TargetInfo &target,
                                           const TensorMemoryUse &use) {
  context.patterns.add<CopyPattern>(context, target, use);
}
