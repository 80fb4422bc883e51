//===-- MatrixTiles.cpp - Loads of tiles of a matrix ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixTiles.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tile/Analysis/TripCount.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

static constexpr int64_t kAlignment = MatrixTile::kAlignment;
/// Strides in bytes are less.
static constexpr int64_t kStrideLimit = int64_t(1) << 40;
/// Rows of a box, bytes of its rows, and how many boxes make up a tile.
static constexpr int64_t kBoxRows = 256, kBoxBytes = 128, kMostBoxes = 16;

/// Whether `op` can only run when `loop` is done, or not at all. Neither is in
/// another loop.
static bool comesAfter(Operation *op, Operation *loop) {
  for (; !isa<FunctionOpInterface>(loop); loop = loop->getParentOp()) {
    Operation *other = loop->getBlock()->findAncestorOpInBlock(*op);
    if (other && other == loop)
      return !isa<LoopLikeOpInterface>(loop);
    if (other)
      return loop->isBeforeInBlock(other);
  }
  return false;
}

/// Why no copy engine reads what `load` does.
std::string MatrixTileAnalysis::findOrderObstacle(LoadOp load) {
  if (load.getIsVolatile() || load.getCache() != CacheModifier::NONE)
    return "it says how caches are used";
  std::string obstacle;
  auto function = loop->getParentOfType<FunctionOpInterface>();
  // Copy engines have an order of their own with what threads write.
  function.getFunctionBody().walk([&](Operation *op) {
    if (comesAfter(op, loop))
      return WalkResult::advance();
    if (isAcquire(op))
      obstacle = "'" + op->getName().getStringRef().str() +
                 "' may order it behind what others write";
    else if (op->getNumRegions() == 0 && memory.mayWrite(op, load))
      obstacle = "the kernel may have written what it reads";
    return obstacle.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return obstacle;
}

int64_t MatrixTileAnalysis::getDivisor(Value value) const {
  const AxisInfo *info = axisInfo.getAxisInfo(value);
  return info && info->isInitialized() ? info->getDivisibilityOfAll() : 1;
}

/// A power of two that divides a number; no more than is asked for.
int64_t MatrixTileAnalysis::getDivisor(const Polynomial &value) const {
  int64_t divisor = kAlignment;
  for (const auto &[product, factor] : value.getTerms()) {
    int64_t of = std::min(AxisInfo::getDivisor(factor), kAlignment);
    for (unsigned symbol : product) {
      Value scalar = forms.getValue(symbol);
      int64_t each =
          scalar ? getDivisor(scalar)
                 : std::min(getDivisor(scf::ForOp(loop).getInductionVar()),
                            getDivisor(scf::ForOp(loop).getLowerBound()));
      of = std::min(of * std::min(each, kAlignment), kAlignment);
    }
    divisor = std::min(divisor, of);
  }
  return divisor;
}

std::optional<Polynomial> MatrixTileAnalysis::getLowerBound() {
  std::optional<AffineForm> lower = forms.get(loop.getLowerBound());
  return lower ? std::optional(lower->first) : std::nullopt;
}

std::optional<Polynomial> MatrixTileAnalysis::getUpperBound() {
  std::optional<AffineForm> upper = forms.get(loop.getUpperBound());
  return upper ? std::optional(upper->first) : std::nullopt;
}

bool MatrixTileAnalysis::isCounterCoordinate() {
  std::optional<int64_t> most = ranges.getMost(loop.getInductionVar());
  return most && *most <= INT32_MAX &&
         ranges.isNonNegative(loop.getLowerBound()) &&
         ranges.isNonNegative(loop.getInductionVar());
}

bool MatrixTileAnalysis::isAligned(const Polynomial &elements,
                                   int64_t bytes) const {
  return getDivisor(elements) * bytes % kAlignment == 0;
}

bool MatrixTileAnalysis::isNonNegative(const Polynomial &value) {
  return llvm::all_of(value.getTerms(), [&](const auto &term) {
    return term.second >= 0 && llvm::all_of(term.first, [&](unsigned symbol) {
             Value scalar = forms.getValue(symbol);
             return !scalar || ranges.isNonNegative(scalar);
           });
  });
}

/// What a mask says of each dimension. `dims`: that of the tile that a
/// dimension of the mask is, or -1.
std::string MatrixTileAnalysis::findLimits(Value mask,
                                           SmallVectorImpl<TileLimit> &limits,
                                           ArrayRef<int> dims) {
  Operation *def = mask.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(def)) {
    std::string obstacle = findLimits(both.getLhs(), limits, dims);
    return obstacle.empty() ? findLimits(both.getRhs(), limits, dims)
                            : obstacle;
  }
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(def)) {
    SmallVector<int> kept(dims);
    auto type = cast<RankedTensorType>(broadcast.getSrc().getType());
    for (auto [extent, dim] : llvm::zip(type.getShape(), kept))
      if (extent == 1)
        dim = -1;
    return findLimits(broadcast.getSrc(), limits, kept);
  }
  if (auto expand = dyn_cast_or_null<ExpandDimsOp>(def)) {
    SmallVector<int> kept(dims);
    kept.erase(kept.begin() + expand.getAxis());
    return findLimits(expand.getSrc(), limits, kept);
  }
  APInt constant;
  if (matchPattern(mask, m_ConstantInt(&constant)) && constant.isAllOnes())
    return "";
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(def))
    return findLimit(compare, limits, dims);
  return "its mask is no comparison of an index with a bound";
}

std::string MatrixTileAnalysis::findLimit(arith::CmpIOp compare,
                                          SmallVectorImpl<TileLimit> &limits,
                                          ArrayRef<int> dims) {
  const char *obstacle = "its mask is no comparison of an index with a bound";
  std::optional<AffineForm> lhs = forms.get(compare.getLhs()),
                            rhs = forms.get(compare.getRhs());
  if (!lhs || !rhs || !lhs->remainders.empty() || !rhs->remainders.empty())
    return obstacle;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (predicate == P::sgt || predicate == P::sge) {
    std::swap(lhs, rhs);
    predicate = predicate == P::sgt ? P::slt : P::sle;
  }
  if (predicate != P::slt && predicate != P::sle)
    return obstacle;
  // index < end, or 0 < end - index.
  Polynomial end = rhs->first - lhs->first;
  if (predicate == P::sle)
    end = end + Polynomial::getConstant(1);
  int along = -1;
  std::optional<int64_t> step;
  for (auto [dim, left, right] : llvm::zip(dims, lhs->steps, rhs->steps)) {
    Polynomial difference = left - right;
    if (difference.isZero())
      continue;
    if (along != -1 || dim == -1)
      return obstacle;
    along = dim;
    step = difference.getConstantValue();
  }
  // From zero on holds for all elements of most tiles.
  if (along != -1 && step == -1 &&
      isNonNegative(end - Polynomial::getConstant(1)))
    return "";
  if (along == -1 || step != 1)
    return obstacle;
  if (limits[along].isKnown && !(limits[along].end == end))
    return "its mask has several bounds for one dimension";
  limits[along] = {true, end};
  return "";
}

/// The quotient of a term and another one, if it is a constant.
static std::optional<int64_t> divide(const Polynomial::Product &product,
                                     int64_t factor, const Polynomial &by) {
  const auto &[divisor, divisorFactor] = *by.getTerms().begin();
  if (product != divisor || factor % divisorFactor != 0)
    return std::nullopt;
  return factor / divisorFactor;
}

/// Tells apart what stays as it is, what goes down rows, and what goes along
/// them. Where it might be either, `columnsFirst` says which.
std::string MatrixTileAnalysis::split(const AffineForm &form,
                                      ArrayRef<TileLimit> limits,
                                      bool columnsFirst, MatrixTile &tile) {
  unsigned progress = forms.getProgress();
  auto [moving, fixed] = form.first.split(progress);
  for (const auto &[product, factor] : moving.getTerms()) {
    Polynomial::Product rest(product);
    rest.erase(llvm::find(rest, progress));
    if (llvm::is_contained(rest, progress))
      return "its addresses do not go on evenly";
    std::optional<int64_t> rows = divide(rest, factor, tile.stride);
    if (rows && !(columnsFirst && rest.empty()))
      tile.factors[0] += *rows;
    else if (rest.empty())
      tile.factors[1] += factor;
    else
      return "its addresses go on by no multiple of its rows";
  }
  if (tile.factors[0] < 0 || tile.factors[1] < 0)
    return "its addresses go backwards";
  tile.offset = Polynomial();
  tile.base = Value();
  for (const auto &[product, factor] : fixed.getTerms()) {
    bool isPointer = llvm::any_of(product, [&](unsigned symbol) {
      return isa<PointerType>(forms.getValue(symbol).getType());
    });
    if (!isPointer) {
      tile.offset.add(product, factor);
      continue;
    }
    if (tile.base || product.size() != 1 || factor != 1)
      return "its addresses have no one base";
    tile.base = forms.getValue(product.front());
  }
  if (!tile.base)
    return "its addresses have no one base";
  for (unsigned i : {0, 1}) {
    const TileLimit &limit = limits[i == 0 ? 1 - tile.fast : tile.fast];
    tile.sizes[i] = limit;
    if (!limit.isKnown)
      continue;
    tile.sizes[i].end = limit.end + Polynomial::getConstant(tile.factors[i]) *
                                        Polynomial::getSymbol(progress);
    if (tile.sizes[i].end.contains(progress))
      return "its mask and its addresses do not go on together";
  }
  return "";
}

std::string MatrixTileAnalysis::checkAlignment(const MatrixTile &tile) {
  int64_t bytes = getElementTypeOrSelf(LoadOp(tile.load).getType())
                      .getIntOrFloatBitWidth() /
                  8;
  auto isAligned = [&](const Polynomial &elements) {
    return this->isAligned(elements, bytes);
  };
  if (getDivisor(tile.base) % kAlignment != 0 || !isAligned(tile.offset))
    return "where it begins is not known to be a multiple of 16 bytes";
  if (!isAligned(tile.stride))
    return "the distance of its rows is not known to be a multiple of 16 bytes";
  Polynomial column = Polynomial::getConstant(tile.factors[1]) *
                      Polynomial::getSymbol(forms.getProgress());
  if (!isAligned(column))
    return "its columns are not known to go on by multiples of 16 bytes";
  if (tile.sizes[1].isKnown && !isAligned(tile.sizes[1].end))
    return "where its mask cuts rows is not known to be a multiple of 16 bytes";
  return "";
}

/// Whether numbers fit into the fields of a descriptor.
std::string MatrixTileAnalysis::checkSizes(MatrixTile &tile) {
  auto type = cast<RankedTensorType>(LoadOp(tile.load).getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  const auto &[product, factor] = *tile.stride.getTerms().begin();
  constexpr const char *kUnknownStride =
      "the distance of its rows may be negative or too large";
  if (factor <= 0 || factor * bytes >= kStrideLimit)
    return kUnknownStride;
  if (!product.empty()) {
    Value scalar = forms.getValue(product.front());
    std::optional<int64_t> most = ranges.getMost(scalar);
    if (product.size() != 1 || !ranges.isNonNegative(scalar) || !most ||
        llvm::MulOverflow(*most, factor * bytes, *most) ||
        *most >= kStrideLimit)
      return kUnknownStride;
  }
  // How far the loop comes.
  std::optional<int64_t> most = ranges.getMost(loop.getInductionVar());
  bool isKnown = most && ranges.isNonNegative(loop.getLowerBound()) &&
                 ranges.isNonNegative(loop.getInductionVar());
  for (unsigned i : {0, 1}) {
    int64_t factor = tile.factors[i], each, last;
    if (factor == 0)
      continue;
    int64_t extent = type.getDimSize(i == 0 ? 1 - tile.fast : tile.fast);
    int64_t end = MatrixTile::kMostSize - extent;
    // The last tile ends where the counter does, at a multiple of the step.
    if (factor == 1 && isKnown && extent >= kAlignment &&
        extent <= getConstantIntValue(loop.getStep()) && *most <= INT32_MAX &&
        meetsUpperBound(loop, axisInfo))
      continue;
    if (isKnown && !llvm::MulOverflow(*most, factor, last) && last <= end)
      continue;
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || *step <= 0 || llvm::MulOverflow(factor, *step, each))
      return "its loop may go on for more than coordinates can say";
    int64_t iterations = end / each + 1;
    tile.mostIterations =
        std::min(tile.mostIterations.value_or(iterations), iterations);
  }
  return "";
}

std::string MatrixTileAnalysis::analyze(LoadOp load, MatrixTile &tile) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 2 || llvm::is_contained(type.getShape(), 1))
    return "it is no matrix";
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != 8 && bits != 16 && bits != 32)
    return "its elements have other than 8, 16 or 32 bits";
  tile.load = load;
  std::optional<AffineForm> form = forms.get(load.getPtr());
  if (!form)
    return "its addresses are no sum of a base, rows and columns";
  Polynomial one = Polynomial::getConstant(1);
  if (form->steps[1] == one)
    tile.fast = 1;
  else if (form->steps[0] == one)
    tile.fast = 0;
  else
    return "neither its rows nor its columns are contiguous";
  tile.stride = form->steps[1 - tile.fast];
  tile.remainders = form->remainders;
  if (tile.stride.getTerms().size() != 1)
    return "its rows are no one distance apart";
  int64_t rows = type.getDimSize(1 - tile.fast),
          rowBytes = type.getDimSize(tile.fast) * bits / 8;
  if (rowBytes < kAlignment ||
      llvm::divideCeil(rows, kBoxRows) * llvm::divideCeil(rowBytes, kBoxBytes) >
          kMostBoxes)
    return "its shape would take too many copies";

  SmallVector<TileLimit> limits(2);
  if (load.getMask()) {
    if (load.getOther() && !matchPattern(load.getOther(), m_Zero()) &&
        !matchPattern(load.getOther(), m_PosZeroFloat()))
      return "its mask leaves something else than zero";
    if (std::string why = findLimits(load.getMask(), limits, {0, 1});
        !why.empty())
      return why;
  }
  MatrixTile plain = tile;
  if (!split(*form, limits, /*columnsFirst=*/false, tile).empty()) {
    tile = plain;
    if (std::string why = split(*form, limits, /*columnsFirst=*/true, tile);
        !why.empty())
      return why;
  }
  if (std::string why = checkAlignment(tile); !why.empty())
    return why;
  if (std::string why = checkSizes(tile); !why.empty())
    return why;
  return findOrderObstacle(load);
}
