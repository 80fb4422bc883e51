//===-- TensorMap.cpp - How TMA sees blocks in shared memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Where boxes may begin in shared memory.
static constexpr int64_t kBufferAlignment = 128;

/// The rows after which a swizzle repeats.
static constexpr int64_t kSwizzleRows = 8;

/// The bytes of a row of a core matrix.
static constexpr int64_t kCoreBytes = 16;

static bool isShared(gpu::CTALayoutAttr division, unsigned bit) {
  return llvm::all_of(division.getBasis(bit),
                      [](int32_t step) { return step == 0; });
}

/// Of how many bits of the number of a block a part is independent.
static unsigned countSharers(gpu::CTALayoutAttr division) {
  return llvm::count_if(llvm::seq(division.getNumBases()),
                        [&](unsigned bit) { return isShared(division, bit); });
}

/// Whether what has no swizzle lies in panels: matrices where a core matrix has
/// its rows.
static bool hasPanelsOfCoreMatrices(gpu::NVMMASharedEncodingAttr encoding,
                                    ArrayRef<int64_t> shape) {
  return encoding.getRank() <= 2 &&
         llvm::product_of(shape.drop_back()) >= kSwizzleRows;
}

SmallVector<int64_t>
mlir::triton::nvidia_gpu::getTMABoxShape(RankedTensorType block) {
  constexpr int64_t kMaxBoxDim = 256;
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  SmallVector<int64_t> box = gpu::getShapePerCTA(encoding, block.getShape());
  for (int64_t &size : box)
    size = std::min(size, kMaxBoxDim);
  unsigned bytes = encoding.getSwizzlingByteWidth();
  // The encoding says what it counts elements in.
  if (!bytes && hasPanelsOfCoreMatrices(encoding, box))
    bytes = kCoreBytes * block.getElementTypeBitWidth() /
            encoding.getElementBitWidth();
  if (bytes)
    box.back() = std::min<int64_t>(
        box.back(),
        bytes * 8 / (block.getElementTypeBitWidth() * getTMAPacking(block)));
  // The pattern of a swizzle has eight rows.
  for (unsigned i = 0, e = countSharers(encoding.getCTALayout());
       i < e && box.size() > 1 && box.front() > kSwizzleRows; ++i)
    box.front() /= 2;
  return box;
}

SmallVector<int64_t>
mlir::triton::nvidia_gpu::getTMAPixelBoxShape(RankedTensorType block) {
  // Of pixels a copy takes more than of rows, and all of them.
  SmallVector<int64_t> box = getTMABoxShape(block);
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  box.front() = gpu::getShapePerCTA(encoding, block.getShape()).front();
  return box;
}

/// Where the hardware puts the byte that would lie at `address` without a
/// swizzle: bits of the number of the 128-byte row go into that of the 16-byte
/// chunk. Swizzling twice changes nothing.
static int64_t swizzle(int64_t address, unsigned swizzlingByteWidth) {
  int64_t chunks = swizzlingByteWidth ? swizzlingByteWidth - 16 : 0;
  return address ^ (address >> 3 & chunks);
}

/// Boxes of the shape `box` that make up what one block of a cluster holds of a
/// tensor with this shape and encoding. It is the first part of a tensor with
/// the shape `whole`, in memory as well.
static std::optional<SmallVector<TMABox>>
getBoxes(ArrayRef<int64_t> tensor, ArrayRef<int64_t> whole,
         gpu::NVMMASharedEncodingAttr encoding, int64_t elementBytes,
         ArrayRef<int64_t> box) {
  unsigned rank = tensor.size();
  unsigned width = encoding.getSwizzlingByteWidth();
  SmallVector<int64_t> shape = gpu::getShapePerCTA(encoding, tensor);
  FailureOr<LinearLayout> memory = gpu::tryToLinearLayout(whole, encoding);
  if (failed(memory) || elementBytes == 0)
    return std::nullopt;
  LinearLayout toOffset = memory->pseudoinvert();
  auto getByte = [&](ArrayRef<int64_t> coords) -> int64_t {
    LinearLayout::NamedSizes index;
    for (auto [i, coord] : llvm::enumerate(coords))
      index.push_back({kDim(i), int32_t(coord)});
    for (auto [name, value] : toOffset.apply(index))
      if (name == kOffset)
        return value * elementBytes;
    return 0;
  };

  // Inside a box, elements follow one another in row-major order. The layout is
  // linear, and so is the swizzle: what holds for every bit of a coordinate
  // holds for all coordinates.
  constexpr int64_t kPaddedBytes = 8; // and so many that nobody uses
  int64_t boxBytes = elementBytes;
  for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, rank)))
    for (int64_t bit = 1; bit < box[dim]; bit *= 2) {
      if (encoding.getFp4Padded() && boxBytes == kPaddedBytes)
        boxBytes *= 2;
      SmallVector<int64_t> coords(rank, 0);
      coords[dim] = bit;
      if (getByte(coords) != swizzle(boxBytes, width))
        return std::nullopt;
      boxBytes *= 2;
    }

  SmallVector<TMABox> boxes;
  SmallVector<int64_t> start(rank, 0);
  while (true) {
    int64_t offset = swizzle(getByte(start), width);
    if (offset % boxBytes != 0 || offset % kBufferAlignment != 0)
      return std::nullopt;
    boxes.push_back({start, offset});
    int dim = rank - 1;
    for (; dim >= 0; --dim) {
      start[dim] += box[dim];
      if (start[dim] < shape[dim])
        break;
      start[dim] = 0;
    }
    if (dim < 0)
      return boxes;
  }
}

std::optional<SmallVector<TMABox>>
mlir::triton::nvidia_gpu::getTMABoxes(RankedTensorType block) {
  return getBoxes(block.getShape(), block.getShape(),
                  cast<gpu::NVMMASharedEncodingAttr>(block.getEncoding()),
                  block.getElementTypeBitWidth() / 8, getTMABoxShape(block));
}

bool mlir::triton::nvidia_gpu::isMulticast(gpu::MemDescType buffer) {
  gpu::CTALayoutAttr division = gpu::getCTALayout(buffer.getEncoding());
  return llvm::product_of(division.getCTAsPerCGA()) > 1 &&
         llvm::product_of(division.getCTASplitNum()) == 1;
}

/// Gives the blocks with and without bit `bit` of their number, which hold the
/// same, half of the boxes each. Fails if there is one box.
static LogicalResult divideBoxes(TMACopy &copy, unsigned bit) {
  unsigned rank = copy.boxes.front().start.size();
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t last = 0;
    for (const TMABox &box : copy.boxes)
      last = std::max(last, box.start[dim]);
    if (last == 0)
      continue;
    // Boxes start at all sums of some steps, all powers of two.
    int64_t half = llvm::bit_floor<uint64_t>(last);
    for (const TMABox &box : copy.boxes) {
      bool isFirst = llvm::all_of_zip(box.start, llvm::seq(rank),
                                      [&](int64_t start, unsigned d) {
                                        return start == (d == dim ? half : 0);
                                      });
      if (isFirst)
        copy.offsetSteps[bit] = box.offset - copy.boxes.front().offset;
    }
    copy.steps[bit][dim] = half;
    llvm::erase_if(copy.boxes,
                   [&](const TMABox &box) { return box.start[dim] >= half; });
    return success();
  }
  return failure();
}

/// Whether a view is a part of a buffer. Its panels are as far apart as those
/// of the buffer. Blocks of a cluster hold other parts of it than of a buffer
/// with the shape of the view.
static bool isPart(gpu::MemDescType buffer) {
  return buffer.getAllocShape().take_back(buffer.getShape().size()) !=
         buffer.getShape();
}

/// The copy of `boxes` by the first thread block. Each block of the cluster has
/// its part of a tensor with this shape and encoding.
static TMACopy makeCopy(SmallVector<TMABox> boxes, ArrayRef<int64_t> tensor,
                        gpu::NVMMASharedEncodingAttr encoding) {
  TMACopy copy;
  copy.boxes = std::move(boxes);
  gpu::CTALayoutAttr division = encoding.getCTALayout();
  if (division.isDefault())
    return copy;
  unsigned rank = tensor.size(), numBits = division.getNumBases();
  copy.steps.assign(numBits, SmallVector<int64_t>(rank, 0));
  copy.offsetSteps.assign(numBits, 0);
  SmallVector<int64_t> part = gpu::getShapePerCTA(encoding, tensor);
  for (unsigned bit = 0; bit < numBits; ++bit)
    if (isShared(division, bit))
      copy.sharedBits |= 1 << bit;
    else
      for (unsigned dim = 0; dim < rank; ++dim)
        copy.steps[bit][dim] = division.getBasis(bit)[dim] * part[dim];
  return copy;
}

/// Gives the blocks that hold the same a part of the boxes each; where there
/// are too few, only some of the blocks.
static void divideAmongSharers(TMACopy &copy) {
  for (unsigned bit = 0, e = copy.steps.size(); bit < e; ++bit)
    if (copy.sharedBits >> bit & 1 && failed(divideBoxes(copy, bit)))
      copy.idleBits |= 1 << bit;
}

SmallVector<int32_t>
mlir::triton::nvidia_gpu::getTMAViewBases(gpu::MemDescType view, unsigned dim) {
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(view.getEncoding());
  LinearLayout toOffset = gpu::toLinearLayout(view).pseudoinvert();
  SmallVector<int32_t> bases;
  for (unsigned i = 0, e = toOffset.getInDimSizeLog2(kDim(dim)); i < e; ++i)
    bases.push_back(swizzle(toOffset.getBasis(kDim(dim), i, kOffset) *
                                int64_t(view.getElementTypeBitWidth() / 8),
                            encoding.getSwizzlingByteWidth()));
  return bases;
}

/// Whether boxes may begin where a view, a part of a buffer, may begin. All
/// blocks of a cluster have the same part of theirs.
static bool mayHoldBoxes(gpu::MemDescType view) {
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(view.getEncoding());
  gpu::CTALayoutAttr division = encoding.getCTALayout();
  for (auto [dim, size] : llvm::enumerate(view.getShape())) {
    bool isDivided =
        llvm::any_of(llvm::seq(division.getNumBases()), [&](unsigned bit) {
          return division.getBasis(bit)[dim] != 0;
        });
    if (isDivided && size != view.getAllocShape()[dim])
      return false;
    // A view starts at a multiple of its size.
    for (auto [bit, step] : llvm::enumerate(getTMAViewBases(view, dim)))
      if ((int64_t(1) << bit) >= size && step % kBufferAlignment != 0)
        return false;
  }
  return true;
}

std::optional<TMACopy>
mlir::triton::nvidia_gpu::getTMACopy(RankedTensorType block,
                                     gpu::MemDescType buffer, bool divide) {
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(buffer.getEncoding());
  bool isOfOneBlock = encoding.getCTALayout().isDefault();
  ArrayRef<int64_t> whole = block.getShape();
  // Buffers of an array follow one another.
  bool isPartOfOne =
      isPart(buffer) && buffer.getShape().size() == encoding.getRank();
  if (isPartOfOne)
    whole = buffer.getAllocShape().take_back(buffer.getShape().size());
  if ((isPartOfOne || !isOfOneBlock) && buffer.getRank() != block.getRank())
    return std::nullopt;
  // A matrix may have panels where blocks of higher rank have whole rows.
  auto blockEncoding = cast<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  if (!encoding.getSwizzlingByteWidth() &&
      encoding.getRank() != blockEncoding.getRank() &&
      block.getShape().back() * block.getElementTypeBitWidth() / 8 >
          kCoreBytes &&
      hasPanelsOfCoreMatrices(encoding, block.getShape()) !=
          hasPanelsOfCoreMatrices(blockEncoding, block.getShape()))
    return std::nullopt;
  if (isPartOfOne && !mayHoldBoxes(buffer))
    return std::nullopt;
  if (isOfOneBlock)
    encoding = cast<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  auto boxes =
      getBoxes(block.getShape(), whole, encoding,
               block.getElementTypeBitWidth() / 8, getTMABoxShape(block));
  if (!boxes)
    return std::nullopt;
  TMACopy copy = makeCopy(std::move(*boxes), block.getShape(), encoding);
  if (divide)
    divideAmongSharers(copy);
  return copy;
}

std::optional<TMACopy>
mlir::triton::nvidia_gpu::getTMARowCopy(RankedTensorType row,
                                        gpu::MemDescType buffer, bool divide) {
  constexpr int64_t kRowsOfCopy = 4;
  auto encoding = dyn_cast<gpu::NVMMASharedEncodingAttr>(buffer.getEncoding());
  if (!encoding || isPart(buffer))
    return std::nullopt;
  SmallVector<int64_t> box = getTMABoxShape(row);
  box.front() = kRowsOfCopy;
  auto boxes = getBoxes(buffer.getShape(), buffer.getShape(), encoding,
                        buffer.getElementTypeBitWidth() / 8, box);
  if (!boxes)
    return std::nullopt;
  TMACopy copy = makeCopy(std::move(*boxes), buffer.getShape(), encoding);
  if (divide)
    copy.idleBits = copy.sharedBits;
  return copy;
}

std::optional<TMACopy>
mlir::triton::nvidia_gpu::getTMAPixelCopy(RankedTensorType block,
                                          gpu::MemDescType buffer, bool divide,
                                          unsigned rank) {
  auto encoding = cast<gpu::NVMMASharedEncodingAttr>(buffer.getEncoding());
  if (buffer.getRank() != block.getRank() ||
      (isPart(buffer) && !mayHoldBoxes(buffer)))
    return std::nullopt;
  auto boxes =
      getBoxes(block.getShape(), buffer.getAllocShape().take_back(2), encoding,
               block.getElementTypeBitWidth() / 8, getTMAPixelBoxShape(block));
  if (!boxes)
    return std::nullopt;
  TMACopy copy = makeCopy(std::move(*boxes), block.getShape(), encoding);
  if (divide)
    divideAmongSharers(copy);
  // The walk from pixel to pixel has no place in the middle to begin at: a copy
  // of all pixels is of a few channels.
  auto takeChannels = [&](SmallVector<int64_t> &start) {
    SmallVector<int64_t> whole(rank, 0);
    whole.back() = start.back();
    bool isFirst = start.front() == 0;
    start = whole;
    return isFirst;
  };
  for (TMABox &box : copy.boxes)
    if (!takeChannels(box.start))
      return std::nullopt;
  for (SmallVector<int64_t> &step : copy.steps)
    if (!takeChannels(step))
      return std::nullopt;
  return copy;
}

bool mlir::triton::nvidia_gpu::isTMAReduction(DescriptorReduceKind kind,
                                              Type element) {
  bool isInteger = element.isInteger(32) || element.isInteger(64);
  // Of maps of signed 64-bit integers an H200 takes the others for illegal
  // instructions.
  bool hasSums = element.isInteger(32) || element.isUnsignedInteger(64);
  bool isHalf = element.isF16() || element.isBF16();
  switch (kind) {
  case DescriptorReduceKind::ADD:
    return hasSums || isHalf || element.isF32();
  case DescriptorReduceKind::MIN:
  case DescriptorReduceKind::MAX:
    return isInteger || isHalf;
  case DescriptorReduceKind::INC:
  case DescriptorReduceKind::DEC:
    return element.isInteger(32);
  case DescriptorReduceKind::AND:
  case DescriptorReduceKind::OR:
  case DescriptorReduceKind::XOR:
    return hasSums;
  }
  return false;
}

unsigned mlir::triton::nvidia_gpu::getTMAPacking(RankedTensorType block) {
  auto encoding =
      dyn_cast_or_null<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  return encoding && encoding.getFp4Padded() ? 2 : 1;
}

FailureOr<int32_t>
mlir::triton::nvidia_gpu::getTMAElementType(RankedTensorType block) {
  // .b4x16_p64
  if (getTMAPacking(block) == 2)
    return 14;
  Type type = block.getElementType();
  if (type.isF16())
    return 6;
  if (type.isF32())
    return 7;
  if (type.isF64())
    return 9;
  if (type.isBF16())
    return 10;
  if (!type.isIntOrFloat())
    return failure();
  // The rest are bits: there is no signed 8-bit or 16-bit type, nor 8-bit
  // floats.
  switch (type.getIntOrFloatBitWidth()) {
  case 8:
    return 0;
  case 16:
    return 1;
  case 32:
    return type.isUnsignedInteger() ? 2 : 3;
  case 64:
    return type.isUnsignedInteger() ? 4 : 5;
  default:
    return failure();
  }
}

FailureOr<int32_t>
mlir::triton::nvidia_gpu::getTMASwizzleMode(unsigned swizzlingByteWidth) {
  switch (swizzlingByteWidth) {
  case 0:
    return 0;
  case 32:
    return 1;
  case 64:
    return 2;
  case 128:
    return 3;
  default:
    return failure();
  }
}

FailureOr<gpu::NVMMASharedEncodingAttr>
mlir::triton::nvidia_gpu::getTMAEncoding(
    TensorDescType desc, function_ref<InFlightDiagnostic()> emitError) {
  RankedTensorType block = desc.getBlockType();
  auto encoding =
      dyn_cast_or_null<gpu::NVMMASharedEncodingAttr>(block.getEncoding());
  if (!encoding)
    return emitError()
           << "expected a descriptor of blocks with an nvmma_shared "
              "encoding, found "
           << desc;
  if (encoding.getTransposed())
    return emitError()
           << "expected a descriptor of blocks that lie in shared memory "
              "as in global memory, found transposed ones: "
           << desc;
  // The hardware writes 128 elements at a time, and has this swizzle for them.
  constexpr unsigned kPaddedSwizzle = 128;
  if (encoding.getFp4Padded() &&
      (encoding.getSwizzlingByteWidth() != kPaddedSwizzle ||
       gpu::getShapePerCTA(encoding, block.getShape()).back() <
           kPaddedSwizzle / 2))
    return emitError() << "expected a descriptor of padded 4-bit elements to "
                          "have a swizzle of 128 bytes, and rows of at least "
                          "128 elements (64 bytes), found "
                       << desc;
  return encoding;
}

SmallVector<Type>
mlir::triton::nvidia_gpu::getPixelPartTypes(TensorDescIm2ColType type) {
  constexpr unsigned kMostDims = 5, kMostCorners = kMostDims - 2;
  Builder builder(type.getContext());
  SmallVector<Type> types = {PointerType::get(
      TensorDescType::get(type.getBlockType()).getElementType())};
  types.append(kMostDims, builder.getI32Type());
  types.append(kMostDims, builder.getI64Type());
  types.push_back(builder.getI1Type());
  types.append(1 + kMostDims + 2 * kMostCorners, builder.getI32Type());
  return types;
}

BlockArgument mlir::triton::nvidia_gpu::getTensorMapBase(Value argument) {
  auto map = dyn_cast<BlockArgument>(argument);
  auto function =
      map ? dyn_cast<FunctionOpInterface>(map.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (!function)
    return {};
  auto facts = function.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(),
                                                         kTensorMapAttrName);
  if (!facts)
    return {};
  // Of what the launch computes, it is one of the inputs.
  bool isComputed = facts.contains("code");
  StringRef name =
      isComputed ? kTensorMapInputAttrName : kTensorMapBaseAttrName;
  Attribute wanted = facts.get(isComputed ? "base" : "index");
  for (BlockArgument base : function.getArguments())
    if (Attribute number = function.getArgAttr(base.getArgNumber(), name);
        number && number == wanted)
      return base;
  return {};
}
