//===-- TensorMemoryAccess.cpp - Instructions that move tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The layout of registers, followed by the places of elements, says at which
// place each bit of a register's, a lane's and a warp's number is. A shape of
// tcgen05.ld says the same of its own registers and lanes. Where the lanes
// agree, the bits of the tensor's registers have to be those of the shape's
// registers, those of further repetitions, and those that tell instructions
// apart.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// A thread has at most so many registers for one instruction of any shape.
constexpr unsigned kMostWords = 128;
constexpr unsigned kLanesPerWarp = 32;
/// The bits of a warp's number that choose its window.
constexpr unsigned kWindowBits = 2;

/// A place, with its parts side by side.
struct Place {
  int32_t slot = 0, column = 0, lane = 0;

  bool operator==(const Place &) const = default;
  bool isZero() const { return *this == Place(); }
  Place operator^(const Place &other) const {
    return {slot ^ other.slot, column ^ other.column, lane ^ other.lane};
  }
  uint64_t flatten() const {
    return uint64_t(slot) | uint64_t(column) << 8 | uint64_t(lane) << 24;
  }
};

/// The bits of a number of a register: first those of one repetition, then the
/// number of the repetition, which counts `step` columns.
struct ShapeRule {
  TensorShape shape;
  StringRef name;
  /// Where the lanes of the warp are.
  std::array<Place, 5> lanes;
  /// Where the registers of one repetition are.
  SmallVector<Place, 2> registers;
  int32_t step;
};

ArrayRef<ShapeRule> getRules() {
  auto row = [](int32_t lane) { return Place{0, 0, lane}; };
  auto column = [](int32_t column) { return Place{0, column, 0}; };
  static const ShapeRule rules[] = {
      {TensorShape::L32x32b,
       "32x32b",
       {row(1), row(2), row(4), row(8), row(16)},
       {},
       1},
      {TensorShape::L16x64b,
       "16x64b",
       {row(8), column(1), row(1), row(2), row(4)},
       {},
       2},
      {TensorShape::L16x128b,
       "16x128b",
       {column(1), column(2), row(1), row(2), row(4)},
       {row(8)},
       4},
      {TensorShape::L16x256b,
       "16x256b",
       {column(2), column(4), row(1), row(2), row(4)},
       {column(1), row(8)},
       8},
      // The last bit of the lane is a number of columns that the instruction
      // says.
      {TensorShape::L16x32bx2,
       "16x32bx2",
       {row(1), row(2), row(4), row(8), Place()},
       {},
       1}};
  return rules;
}

const ShapeRule &getRule(TensorShape shape) {
  return *llvm::find_if(
      getRules(), [&](const ShapeRule &rule) { return rule.shape == shape; });
}

/// Matches the places of a tensor's elements against one shape.
class Matcher {
public:
  Matcher(const LinearLayout &places, gpu::CTALayoutAttr blocks,
          unsigned elementBits, bool inAllWindows, unsigned mostWords)
      : places(places), blocks(blocks), elementBits(elementBits),
        inAllWindows(inAllWindows), mostWords(mostWords) {}

  /// Fails and leaves the reason in `reason`.
  FailureOr<TensorMemoryAccess> match() {
    if (failed(readWarps()) || failed(checkBlocks()))
      return failure();
    if (places.getInDimSize(kLane) != kLanesPerWarp)
      return fail("a warp has " + std::to_string(places.getInDimSize(kLane)) +
                  " lanes");
    for (const ShapeRule &rule : getRules())
      // Two columns to a register take fewer registers.
      for (bool packs : {true, false})
        if (auto access = match(rule, packs))
          return *access;
    return fail("no shape of the instructions gives its elements to the lanes "
                "and registers of a warp");
  }

  const std::string &getReason() const { return reason; }

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }

  Place get(StringRef inDim, unsigned bit) const {
    return {places.getBasis(inDim, bit, kTensorSlot),
            places.getBasis(inDim, bit, kTensorColumn),
            places.getBasis(inDim, bit, kTensorLane)};
  }

  /// Each warp holds only what its window has.
  LogicalResult readWarps() {
    unsigned warpBits = places.getInDimSizeLog2(kWarp);
    if (warpBits < kWindowBits)
      return fail("there are " + std::to_string(1 << warpBits) +
                  " warps, fewer than one for each of the four windows of "
                  "tensor memory");
    for (unsigned bit = 0; bit < kWindowBits; ++bit) {
      Place window{0, 0, inAllWindows ? 0 : 32 << bit};
      if (get(kWarp, bit) != window)
        return fail("warp " + std::to_string(1 << bit) + " holds " +
                    (inAllWindows ? "other elements than warp 0"
                                  : "not what lies in its window, the lanes "
                                    "of tensor memory from " +
                                        std::to_string(32 << bit) + " on"));
    }
    for (unsigned bit = kWindowBits; bit < warpBits; ++bit) {
      Place start = get(kWarp, bit);
      if (start.slot || start.lane & ~31 ||
          !isSingleBit(start.flatten(), /*orZero=*/true))
        return fail("warp " + std::to_string(1 << bit) +
                    " does not begin at a column, or at lane 16, of its "
                    "window");
      usedByWarps |= start.flatten();
      warpStarts.push_back(getTensorAddress(start.lane, start.column));
      if (start.isZero())
        copyingWarps |= 1 << bit;
    }
    return success();
  }

  LogicalResult checkBlocks() {
    for (StringRef inDim : {kRegister, kLane, kWarp, kBlock})
      for (unsigned bit = 0; bit < places.getInDimSizeLog2(inDim); ++bit) {
        // Blocks may hold copies, of which each keeps its own.
        bool divides =
            inDim == kBlock && bit < blocks.getNumBases() &&
            llvm::any_of(
                blocks.getBasis(bit), [](int32_t step) { return step != 0; });
        int32_t expected = divides ? 1 << bit : 0;
        if (places.getBasis(inDim, bit, kBlock) != expected)
          return fail("blocks of the cluster hold elements which lie in the "
                      "tensor memory of others");
        if (inDim == kBlock && get(inDim, bit).flatten())
          return fail("blocks of the cluster hold different parts of what "
                      "each of them keeps");
      }
    return success();
  }

  static bool isSingleBit(uint64_t bits, bool orZero = false) {
    return bits ? llvm::has_single_bit(bits) : orZero;
  }

  /// Numbers the bits of the places that registers tell apart, those of one
  /// register first, then those of one instruction.
  std::optional<TensorMemoryAccess> match(const ShapeRule &rule, bool packs) {
    TensorMemoryAccess access;
    access.shape = rule.shape;
    access.warpStarts = warpStarts;
    access.copyingWarps = copyingWarps;
    int32_t unit = packs ? 2 : 1;
    uint64_t usedByLanes = 0;
    for (auto [bit, expected] : llvm::enumerate(rule.lanes)) {
      Place found = get(kLane, bit);
      if (expected.isZero()) {
        // Both halves of a warp may have the same 16 rows.
        if (found.slot || found.lane ||
            !isSingleBit(found.flatten(), /*orZero=*/true))
          return std::nullopt;
        access.secondHalf = found.column;
      } else if (found != Place{0, expected.column * unit, expected.lane}) {
        return std::nullopt;
      }
      usedByLanes |= found.flatten();
    }

    uint64_t left = 0;
    for (unsigned bit = 0; bit < places.getInDimSizeLog2(kRegister); ++bit)
      left |= get(kRegister, bit).flatten();
    // What lanes and warps tell apart, registers must not. Bits 5 and 6 of the
    // lane are the window's.
    uint64_t windows = Place{0, 0, 32 | 64}.flatten();
    if (left & (usedByLanes | usedByWarps | windows))
      return std::nullopt;
    SmallVector<uint64_t> bits;
    auto take = [&](Place place) {
      if (!(left & place.flatten()))
        return false;
      bits.push_back(place.flatten());
      left &= ~place.flatten();
      return true;
    };

    unsigned slots = 32 / elementBits;
    access.packsHalves = packs;
    access.slots = slots;
    if (packs) {
      // Elements that share a column are not in the halves of two.
      bool shareColumns = left & Place{int32_t(slots - 1), 0, 0}.flatten();
      if (elementBits != 16 || shareColumns || !take({0, 1, 0}))
        return std::nullopt;
    } else {
      for (unsigned slot = 1; slot < slots; slot *= 2)
        // Slots between the elements stay empty.
        if (!take({int32_t(slot), 0, 0}))
          bits.push_back(0);
    }
    unsigned slotBits = bits.size();
    for (const Place &place : rule.registers)
      if (!take({0, place.column * unit, place.lane}))
        return std::nullopt;
    access.repeats = 1;
    unsigned mostRepeats = mostWords >> rule.registers.size();
    for (int32_t column = rule.step * unit;
         access.repeats < mostRepeats && take({0, column, 0}); column *= 2)
      access.repeats *= 2;
    access.words = access.repeats << rule.registers.size();
    unsigned instructionBits = bits.size();
    for (uint64_t rest = left; rest; rest &= rest - 1)
      bits.push_back(rest & -rest);
    if (!fillPositions(access, bits, slotBits, instructionBits))
      return std::nullopt;
    return access;
  }

  /// From the number that `bits` give to the places: element of a register,
  /// register, instruction.
  bool fillPositions(TensorMemoryAccess &access, ArrayRef<uint64_t> bits,
                     unsigned slotBits, unsigned instructionBits) const {
    auto number = [&](uint64_t place) {
      uint64_t result = 0;
      for (auto [i, bit] : llvm::enumerate(bits))
        if (bit && place & bit)
          result |= uint64_t(1) << i;
      return result;
    };
    unsigned numWords = access.words;
    llvm::BitVector reached(size_t(1) << bits.size());
    SmallVector<uint64_t> images{0};
    for (unsigned bit = 0; bit < places.getInDimSizeLog2(kRegister); ++bit) {
      uint64_t image = get(kRegister, bit).flatten();
      for (unsigned i = 0, e = images.size(); i < e; ++i)
        images.push_back(images[i] ^ image);
    }
    for (uint64_t image : images) {
      uint64_t n = number(image);
      reached.set(n);
      access.positions.push_back(
          {unsigned(n >> instructionBits),
           unsigned(n >> slotBits) & (numWords - 1),
           unsigned(n & ((uint64_t(1) << slotBits) - 1))});
    }
    for (uint64_t i = 0; i < uint64_t(1) << (bits.size() - instructionBits);
         ++i) {
      uint64_t start = 0;
      for (unsigned bit = instructionBits; bit < bits.size(); ++bit)
        if (i >> (bit - instructionBits) & 1)
          start |= bits[bit];
      access.starts.push_back(
          getTensorAddress(start >> 24, start >> 8 & 0xffff));
    }
    // Each element that the instructions move is one of the tensor's.
    unsigned empty = llvm::count(bits, uint64_t(0));
    return reached.count() << empty == reached.size();
  }

  const LinearLayout &places;
  gpu::CTALayoutAttr blocks; ///< of the buffer
  unsigned elementBits;
  bool inAllWindows;
  unsigned mostWords;
  SmallVector<int32_t> warpStarts;
  unsigned copyingWarps = 0;
  uint64_t usedByWarps = 0;
  std::string reason;
};

} // namespace

StringRef TensorMemoryAccess::getShapeName() const {
  return getRule(shape).name;
}

FailureOr<TensorMemoryAccess> mlir::triton::nvidia_gpu::getTensorMemoryAccess(
    RankedTensorType tensor, gpu::MemDescType memory,
    function_ref<InFlightDiagnostic()> emitError, unsigned mostWords) {
  LinearLayout places =
      toLinearLayout(tensor).compose(getTensorMemoryPlaces(memory));
  Matcher matcher(places, gpu::getCTALayout(memory.getEncoding()),
                  memory.getElementTypeBitWidth(), isInAllWindows(memory),
                  std::min(mostWords, kMostWords));
  FailureOr<TensorMemoryAccess> access = matcher.match();
  if (failed(access) && emitError)
    emitError() << "expected a layout of registers that tcgen05.ld and "
                   "tcgen05.st move, but "
                << matcher.getReason() << ": " << tensor;
  return access;
}

std::optional<TensorShape>
mlir::triton::nvidia_gpu::parseTensorShape(StringRef name) {
  for (const ShapeRule &rule : getRules())
    if (rule.name == name)
      return rule.shape;
  return std::nullopt;
}

std::optional<LinearLayout> mlir::triton::nvidia_gpu::getTensorMemoryRegisters(
    gpu::MemDescType memory, unsigned numWarps, TensorShape shape,
    bool dividesColumns) {
  if (numWarps < 4 || !llvm::isPowerOf2_32(numWarps))
    return std::nullopt;
  LinearLayout places = getTensorMemoryPlaces(memory);
  bool inAllWindows = isInAllWindows(memory);
  unsigned bits = memory.getElementTypeBitWidth();
  const ShapeRule &rule = getRule(shape);

  // The coordinates at each place, by its bits.
  llvm::MapVector<uint64_t, std::vector<int32_t>> left;
  for (unsigned dim = 0; dim < 2; ++dim)
    for (unsigned bit = 0; bit < places.getInDimSizeLog2(kDim(dim)); ++bit) {
      std::vector<int32_t> coordinates(2, 0);
      coordinates[dim] = 1 << bit;
      Place place{places.getBasis(kDim(dim), bit, kTensorSlot),
                  places.getBasis(kDim(dim), bit, kTensorColumn),
                  places.getBasis(kDim(dim), bit, kTensorLane)};
      if (!place.isZero())
        left[place.flatten()] = coordinates;
    }
  // The other bits of coordinates are those of parts that blocks have.
  gpu::CTALayoutAttr division = gpu::getCTALayout(memory.getEncoding());
  LinearLayout::DimBases blocks = division.getBases();
  for (std::vector<int32_t> &basis : blocks)
    for (unsigned dim : {0, 1})
      basis[dim] *= places.getInDimSize(kDim(dim)) /
                    int32_t(division.getCTASplitNum()[dim]);
  auto take = [&](Place place) -> std::optional<std::vector<int32_t>> {
    auto it = left.find(place.flatten());
    if (it == left.end())
      return std::nullopt;
    std::vector<int32_t> coordinates = it->second;
    left.erase(it);
    return coordinates;
  };

  LinearLayout::DimBases registers, lanes, warps;
  for (unsigned bit = 0; bit < kWindowBits; ++bit) {
    if (inAllWindows) {
      warps.push_back({0, 0});
      continue;
    }
    auto window = take({0, 0, 32 << bit});
    if (!window)
      return std::nullopt;
    warps.push_back(*window);
  }
  // Elements of one register come first, so that lanes count registers.
  for (int32_t slot = 1; slot < int32_t(32 / bits); slot *= 2)
    if (auto coordinates = take({slot, 0, 0}))
      registers.push_back(*coordinates);
  int32_t unit = 1;
  if (bits == 16 && registers.empty() && shape != TensorShape::L32x32b &&
      shape != TensorShape::L16x32bx2 && left.count(Place{0, 1, 0}.flatten())) {
    registers.push_back(*take({0, 1, 0}));
    unit = 2;
  }
  for (const Place &place : rule.lanes) {
    std::optional<std::vector<int32_t>> coordinates;
    if (place.isZero()) {
      // The upper half of the columns.
      uint64_t last = 0;
      for (const auto &[flat, columns] : left)
        if (columns[1] && !(flat >> 24))
          last = flat;
      coordinates = take({0, int32_t(last >> 8), 0});
    } else {
      coordinates = take({0, place.column * unit, place.lane});
    }
    if (!coordinates)
      return std::nullopt;
    lanes.push_back(*coordinates);
  }
  for (const Place &place : rule.registers) {
    auto coordinates = take({0, place.column * unit, place.lane});
    if (!coordinates)
      return std::nullopt;
    registers.push_back(*coordinates);
  }
  // The rest along the columns of the matrix, then its rows. Further warps take
  // the last of them.
  SmallVector<std::vector<int32_t>> columns, rows;
  for (const auto &[place, coordinates] : left)
    (coordinates[0] ? rows : columns).push_back(coordinates);
  for (unsigned bit = kWindowBits; bit < llvm::Log2_32(numWarps); ++bit) {
    auto &divided =
        columns.empty() || (!rows.empty() && !dividesColumns) ? rows : columns;
    warps.push_back(divided.empty() ? std::vector<int32_t>{0, 0}
                                    : divided.pop_back_val());
  }
  llvm::append_range(registers, columns);
  llvm::append_range(registers, rows);
  LinearLayout::NamedSizes outs{{kDim(0), places.getInDimSize(kDim(0))},
                                {kDim(1), places.getInDimSize(kDim(1))}};
  return LinearLayout({{kRegister, registers},
                       {kLane, lanes},
                       {kWarp, warps},
                       {kBlock, blocks}},
                      outs, /*requireSurjective=*/false);
}

gpu::LinearEncodingAttr
mlir::triton::nvidia_gpu::getTensorMemoryRegisters(gpu::MemDescType memory,
                                                   unsigned numWarps) {
  std::optional<LinearLayout> layout;
  // The last serves few columns.
  for (TensorShape shape :
       {TensorShape::L32x32b, TensorShape::L16x32bx2, TensorShape::L16x64b})
    if (!layout)
      layout = getTensorMemoryRegisters(memory, numWarps, shape);
  assert(layout && "passes use buffers that one of these moves");
  return gpu::LinearEncodingAttr::get(memory.getContext(), *layout);
}

/// The columns for scales that are in shared memory still: each buffer of their
/// ring will have one in tensor memory.
static unsigned countColumnsToCome(Value scales) {
  constexpr int64_t kScalesOfColumn = 128;
  auto type = cast<gpu::MemDescType>(scales.getType());
  if (isInTensorMemory(type))
    return 0;
  int64_t buffers = 1;
  while (auto view = scales.getDefiningOp<ViewLikeOpInterface>()) {
    if (auto index = dyn_cast<gpu::MemDescIndexOp>(view.getOperation()))
      buffers *= index.getSrc().getType().getShape().front();
    scales = view.getViewSource();
  }
  return buffers * llvm::divideCeil(type.getNumElements(), kScalesOfColumn);
}

/// The outermost of the loops around `op` that are not around `other`, too.
static LoopLikeOpInterface getLoopApart(Operation *op, Operation *other) {
  LoopLikeOpInterface outermost;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>();
       loop && !loop->isAncestor(other);
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    outermost = loop;
  return outermost;
}

/// Whether what two operations have in tensor memory is needed one after the
/// other. They are in different loops, and sums of the first loop are what the
/// second one goes on with.
static bool areNeededInTurn(Operation *op, Operation *other) {
  LoopLikeOpInterface loop = getLoopApart(op, other),
                      otherLoop = getLoopApart(other, op);
  if (!loop || !otherLoop || loop->getBlock() != otherLoop->getBlock())
    return false;
  LoopLikeOpInterface first =
      loop->isBeforeInBlock(otherLoop) ? loop : otherLoop;
  return llvm::all_of(first->getResults(), [](OpResult result) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    return !type || type.getRank() < 2 ||
           llvm::all_of(result.getUsers(), llvm::IsaPred<LoopLikeOpInterface>);
  });
}

unsigned mlir::triton::nvidia_gpu::countTensorMemoryColumns(Operation *op) {
  unsigned columns = 0;
  auto function = op->getParentOfType<FunctionOpInterface>();
  function->walk([&](TMEMAllocOp alloc) {
    if (areNeededInTurn(op, alloc))
      return;
    auto footprint = getTensorMemoryFootprint(alloc.getResult().getType());
    if (succeeded(footprint))
      columns += footprint->columns;
  });
  function->walk([&](TCGen5MMAScaledOp mma) {
    columns += countColumnsToCome(mma.getAScale()) +
               countColumnsToCome(mma.getBScale());
  });
  return columns;
}
