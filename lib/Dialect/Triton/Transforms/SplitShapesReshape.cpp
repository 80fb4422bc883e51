//===-- SplitShapesReshape.cpp - Other shapes of tensors in pieces --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reshape keeps the elements in row-major order, but pieces of one shape are
// not pieces of the other. Three ways lead from one to the other. A piece that
// has the same elements is reshaped. A few pieces are halved and joined. Many
// become tensors with padding first, and elements are gathered from these.
//
//===----------------------------------------------------------------------===//

#include "SplitShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

/// More parts than this are gathered.
static constexpr size_t kMaxParts = 64;
/// Elements are gathered from tensors with padding that have no more bytes:
/// half of the shared memory of the smallest GPUs.
static constexpr int64_t kMaxPaddedBytes = 32 * 1024;

static int64_t getProduct(ArrayRef<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents)
    product *= extent;
  return product;
}

static Value reshapeTo(OpBuilder &b, Location loc, Value value,
                       ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return ReshapeOp::create(b, loc, shape, value);
}

/// `lhs` and `rhs`, one behind the other along the second of three dimensions.
static Value joinRows(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(lhs.getType()).getShape();
  Value both =
      TransOp::create(b, loc, JoinOp::create(b, loc, lhs, rhs).getResult(),
                      ArrayRef<int32_t>{0, 3, 1, 2});
  return reshapeTo(b, loc, both, {shape[0], 2 * shape[1], shape[2]});
}

namespace {

/// Two shapes of the same elements. What they have in common in front and
/// behind stays; the dimensions between are numbered in row-major order.
struct Shapes {
  Shapes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
    while (!from.empty() && !to.empty() && from.front() == to.front()) {
      front.push_back(from.front());
      from = from.drop_front();
      to = to.drop_front();
    }
    while (!from.empty() && !to.empty() && from.back() == to.back()) {
      behind.insert(behind.begin(), from.back());
      from = from.drop_back();
      to = to.drop_back();
    }
    source.assign(from.begin(), from.end());
    result.assign(to.begin(), to.end());
  }

  SmallVector<int64_t> front, source, result, behind;
};

/// A piece as a matrix of rows: the dimensions in front, those between, those
/// behind.
using Order = SmallVector<int64_t>;

} // namespace

/// So many elements in row-major order are together in every piece.
static int64_t getGrain(ArrayRef<int64_t> shape) {
  int64_t grain = 1;
  for (int64_t extent : llvm::reverse(shape)) {
    grain *= extent & -extent;
    if (!llvm::isPowerOf2_64(extent))
      break;
  }
  return grain;
}

/// The numbers, in the whole shape, of the grains of a piece.
static Order getGrains(ArrayRef<int64_t> shape, const Pieces &pieces,
                       size_t piece, int64_t grain) {
  SmallVector<int64_t> extents = pieces.getShape(piece);
  SmallVector<int64_t> offsets = pieces.getOffsets(piece);
  Order order;
  for (int64_t i = 0, e = getProduct(extents); i < e; i += grain) {
    int64_t rest = i, number = 0, stride = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      number += (rest % extents[dim] + offsets[dim]) * stride;
      rest /= extents[dim];
      stride *= shape[dim];
    }
    order.push_back(number / grain);
  }
  return order;
}

namespace {

/// Grains of the operand, and how others are made of them. All values have
/// three dimensions, the grains along the second one.
class Grains {
public:
  Grains(OpBuilder &b, Location loc, ArrayRef<Order> orders)
      : b(b), loc(loc), orders(orders) {
    for (auto [source, order] : llvm::enumerate(orders))
      for (auto [position, number] : llvm::enumerate(order))
        places[number] = {source, position};
  }

  /// How many parts of the operand the grains are put together from.
  size_t countParts(ArrayRef<int64_t> order) const {
    if (findPart(order))
      return 1;
    size_t half = order.size() / 2;
    return countParts(order.take_front(half)) +
           countParts(order.drop_front(half));
  }

  Value build(ArrayRef<int64_t> order, ArrayRef<Value> sources) {
    if (std::optional<Place> place = findPart(order))
      return extract(place->source, place->position, order.size(), sources);
    size_t half = order.size() / 2;
    return joinRows(b, loc, build(order.take_front(half), sources),
                    build(order.drop_front(half), sources));
  }

private:
  struct Place {
    size_t source, position;
  };

  /// Where the grains are a part of a piece that halving gives.
  std::optional<Place> findPart(ArrayRef<int64_t> order) const {
    Place place = places.lookup(order.front());
    if (place.position % order.size() != 0)
      return std::nullopt;
    ArrayRef<int64_t> all = orders[place.source];
    if (place.position + order.size() > all.size() ||
        all.slice(place.position, order.size()) != order)
      return std::nullopt;
    return place;
  }

  Value extract(size_t source, size_t position, size_t size,
                ArrayRef<Value> sources) {
    if (size == orders[source].size())
      return sources[source];
    auto key = std::tuple(source, position, size);
    if (Value known = parts.lookup(key))
      return known;
    size_t first = position / (2 * size) * (2 * size);
    Value both = extract(source, first, 2 * size, sources);
    ArrayRef<int64_t> shape = getShape(both);
    Value halves =
        reshapeTo(b, loc, both, {shape[0], 2, shape[1] / 2, shape[2]});
    auto split = SplitOp::create(
        b, loc, TransOp::create(b, loc, halves, ArrayRef<int32_t>{0, 2, 3, 1}));
    parts[{source, first, size}] = split.getOutLHS();
    parts[{source, first + size, size}] = split.getOutRHS();
    return parts.lookup(key);
  }

  static ArrayRef<int64_t> getShape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  OpBuilder &b;
  Location loc;
  ArrayRef<Order> orders;
  DenseMap<int64_t, Place> places;
  DenseMap<std::tuple<size_t, size_t, size_t>, Value> parts;
};

/// Makes indices of elements, and gathers elements by them.
class Gatherer {
public:
  Gatherer(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Numbers in `shape`, in row-major order, of the elements of a piece of it.
  Value getNumbers(const Pieces &pieces, size_t piece,
                   ArrayRef<int64_t> shape) {
    SmallVector<int64_t> extents = pieces.getShape(piece);
    int64_t count = getProduct(extents);
    auto line = RankedTensorType::get(count, b.getI32Type());
    Value rest =
        MakeRangeOp::create(b, loc, line, 0, static_cast<int32_t>(count));
    Value number = splat(line, 0);
    int64_t stride = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      Value index = make<arith::RemUIOp>(rest, extents[dim]);
      index = make<arith::AddIOp>(index, pieces.getOffsets(piece)[dim]);
      rest = make<arith::DivUIOp>(rest, extents[dim]);
      number = arith::AddIOp::create(b, loc, number,
                                     make<arith::MulIOp>(index, stride));
      stride *= shape[dim];
    }
    return number;
  }

  /// The elements of `value` at `places`.
  Value gather(Value value, Value places) {
    return GatherOp::create(b, loc, value, spread(places, value), /*axis=*/1);
  }

protected:
  Value splat(Type type, int64_t number) {
    return splatNumber(b, loc, cast<RankedTensorType>(type), number);
  }
  template <typename OpT> Value make(Value value, int64_t number) {
    return b.createOrFold<OpT>(loc, value, splat(value.getType(), number));
  }

  /// `line` along the second dimension, the same for all rows and columns of
  /// `value`.
  Value spread(Value line, Value value) {
    auto type = cast<RankedTensorType>(line.getType());
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    shape[1] = type.getDimSize(0);
    Value matrix = ExpandDimsOp::create(
        b, loc, ExpandDimsOp::create(b, loc, line, 0).getResult(), 2);
    return b.createOrFold<BroadcastOp>(loc, type.clone(shape), matrix);
  }

  OpBuilder &b;
  Location loc;
};

/// All pieces of the operand as one tensor, whose extents are powers of two.
/// The places of the padding have elements that nobody asks for. Where that is
/// too large, it becomes several, of a part of the first dimension each.
class Padded : public Gatherer {
public:
  Padded(OpBuilder &b, Location loc, const Shapes &shapes, Value source)
      : Gatherer(b, loc), shapes(shapes), from(shapes.source),
        to(shapes.result) {
    for (int64_t extent : shapes.source)
      extents.push_back(llvm::PowerOf2Ceil(extent));
    auto type = cast<RankedTensorType>(source.getType());
    rows = type.getDimSize(0), columns = type.getDimSize(2);
    Type element = type.getElementType();
    int64_t bytes = element.isIntOrFloat()
                        ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                        : 8;
    bytes *= rows * columns * getProduct(ArrayRef(extents).drop_front());
    extents.front() =
        std::min(extents.front(),
                 int64_t(llvm::bit_floor(uint64_t(kMaxPaddedBytes / bytes))));
  }

  /// Whether there are fewer tensors than pieces.
  bool fits() const {
    return extents.front() > 0 && countTensors() <= int64_t(from.size());
  }

  /// The tensors, of three dimensions.
  SmallVector<Value> join(ArrayRef<Value> sources) {
    SmallVector<Value> tensors;
    ArrayRef<Stretch> stretches = from.getStretches(0);
    size_t first = 0;
    for (; first < stretches.size() && stretches[first].size >= extents.front();
         ++first)
      joinParts(first, stretches[first].size, sources, tensors);
    if (first < stretches.size()) {
      SmallVector<size_t> chosen;
      tensors.push_back(join(chosen, first, stretches.size(), sources));
    }
    return tensors;
  }

  /// A piece of the result.
  Value build(size_t piece, ArrayRef<Value> tensors) {
    Value rest = getNumbers(to, piece, shapes.result);
    Value place = splat(rest.getType(), 0), tensor;
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim-- > 0;) {
      Value index = rest;
      if (dim > 0) {
        index = make<arith::RemUIOp>(rest, shapes.source[dim]);
        rest = make<arith::DivUIOp>(rest, shapes.source[dim]);
      } else if (tensors.size() > 1) {
        tensor = make<arith::DivUIOp>(index, extents[dim]);
        index = make<arith::RemUIOp>(index, extents[dim]);
      }
      place = arith::AddIOp::create(b, loc, place,
                                    make<arith::MulIOp>(index, stride));
      stride *= extents[dim];
    }
    Value result;
    for (int64_t number : findTensors(piece)) {
      Value gathered = gather(tensors[number], place);
      if (!result) {
        result = gathered;
        continue;
      }
      Value isThere =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, tensor,
                                splat(tensor.getType(), number));
      result = arith::SelectOp::create(b, loc, spread(isThere, gathered),
                                       gathered, result);
    }
    return result;
  }

private:
  int64_t countTensors() const {
    return llvm::divideCeil(shapes.source.front(), extents.front());
  }

  /// Which tensors have elements of a piece of the result.
  SmallVector<int64_t> findTensors(size_t piece) const {
    int64_t count =
        getProduct(ArrayRef(shapes.source).drop_front()) * extents.front();
    llvm::SetVector<int64_t> found;
    for (int64_t number : getGrains(shapes.result, to, piece, /*grain=*/1))
      found.insert(number / count);
    return llvm::to_vector(found);
  }

  /// Appends the tensors of a stretch of the first dimension, of which
  /// `sources` have the elements in pieces of `size`.
  void joinParts(size_t stretch, int64_t size, ArrayRef<Value> sources,
                 SmallVectorImpl<Value> &tensors) {
    if (size == extents.front()) {
      SmallVector<size_t> chosen;
      tensors.push_back(join(chosen, stretch, stretch + 1, sources, size));
      return;
    }
    SmallVector<Value> first(sources), second(sources);
    for (size_t i = 0; i < sources.size(); ++i)
      if (from.getStretchesOf(i).front() == stretch)
        std::tie(first[i], second[i]) = halve(sources[i]);
    joinParts(stretch, size / 2, first, tensors);
    joinParts(stretch, size / 2, second, tensors);
  }

  /// The halves of a value along the second of its three dimensions.
  std::pair<Value, Value> halve(Value value) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(value.getType()).getShape();
    Value halves =
        reshapeTo(b, loc, value, {shape[0], 2, shape[1] / 2, shape[2]});
    auto split = SplitOp::create(
        b, loc, TransOp::create(b, loc, halves, ArrayRef<int32_t>{0, 2, 3, 1}));
    return {split.getOutLHS(), split.getOutRHS()};
  }

  /// What has the chosen stretches in the first dimensions, with all of the
  /// others. Of the first dimension, it has the stretches from `begin` to
  /// `end`. They are as long as in the operand, or `length`.
  Value join(SmallVector<size_t> &chosen, size_t begin, size_t end,
             ArrayRef<Value> sources, int64_t length = 0) {
    size_t dim = chosen.size();
    if (dim == extents.size())
      return sources[from.getPiece(chosen)];
    auto getSize = [&](size_t dim, size_t stretch) {
      return dim == 0 && length ? length : from.getStretches(dim)[stretch].size;
    };
    if (dim > 0) {
      begin = 0;
      end = from.getStretches(dim).size();
    }
    SmallVector<Value> parts;
    for (size_t i = begin; i < end; ++i) {
      chosen.push_back(i);
      parts.push_back(join(chosen, begin, end, sources, length));
      chosen.pop_back();
    }
    int64_t before = rows, behind = columns;
    for (size_t i = 0; i < dim; ++i)
      before *= getSize(i, chosen[i]);
    for (size_t i = dim + 1; i < extents.size(); ++i)
      behind *= extents[i];
    // Each stretch is longer than the ones behind it together.
    Value joined;
    int64_t size = getSize(dim, end - 1);
    while (!parts.empty() || size < extents[dim]) {
      bool isNext =
          !parts.empty() && getSize(dim, begin + parts.size() - 1) == size;
      Value part = isNext ? reshapeTo(b, loc, parts.pop_back_val(),
                                      {before, size, behind})
                          : joined;
      if (!joined) {
        joined = part;
        continue;
      }
      joined = joinRows(b, loc, part, joined);
      size *= 2;
    }
    return reshapeTo(b, loc, joined,
                     {rows, before / rows * size * behind / columns, columns});
  }

  const Shapes &shapes;
  Pieces from, to;
  SmallVector<int64_t> extents;
  int64_t rows = 1, columns = 1;
};

/// Elements of pieces by their numbers, from each piece by itself.
class Gathered : public Gatherer {
public:
  Gathered(OpBuilder &b, Location loc, const Shapes &shapes)
      : Gatherer(b, loc), shapes(shapes), from(shapes.source),
        to(shapes.result) {}

  /// A piece of the result, of three dimensions.
  Value build(size_t piece, ArrayRef<Value> sources) {
    Value number = getNumbers(to, piece, shapes.result);
    Value result;
    for (auto [source, value] : llvm::enumerate(sources)) {
      if (!meets(source, piece))
        continue;
      auto [place, inside] = getPlace(number, source);
      Value gathered = gather(value, place);
      result = result && inside
                   ? arith::SelectOp::create(b, loc, spread(inside, value),
                                             gathered, result)
                   : gathered;
    }
    return result;
  }

private:
  /// Positions in a piece of the operand, and whether they are in it.
  std::pair<Value, Value> getPlace(Value number, size_t source) {
    SmallVector<int64_t> extents = from.getShape(source);
    SmallVector<int64_t> offsets = from.getOffsets(source);
    Value place = splat(number.getType(), 0), rest = number, inside;
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim-- > 0;) {
      Value index = make<arith::RemUIOp>(rest, shapes.source[dim]);
      index = make<arith::SubIOp>(index, offsets[dim]);
      rest = make<arith::DivUIOp>(rest, shapes.source[dim]);
      Value isIn =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                splat(index.getType(), extents[dim]));
      inside = inside ? arith::AndIOp::create(b, loc, inside, isIn) : isIn;
      place = arith::AddIOp::create(b, loc, place,
                                    make<arith::MulIOp>(index, stride));
      stride *= extents[dim];
    }
    if (!inside)
      return {place, inside};
    return {arith::SelectOp::create(b, loc, inside, place,
                                    splat(place.getType(), 0)),
            inside};
  }

  /// Whether pieces of operand and result have an element in common.
  bool meets(size_t source, size_t piece) {
    auto known = numbers.try_emplace(source);
    if (known.second)
      for (int64_t number : getGrains(shapes.source, from, source, /*grain=*/1))
        known.first->second.insert(number);
    return llvm::any_of(
        getGrains(shapes.result, to, piece, /*grain=*/1),
        [&](int64_t number) { return known.first->second.contains(number); });
  }

  const Shapes &shapes;
  Pieces from, to;
  DenseMap<size_t, DenseSet<int64_t>> numbers;
};

struct SplitReshape : public OpConversionPattern<ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReshapeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    Shapes shapes(op.getSrc().getType().getShape(), type.getShape());
    Pieces sources(op.getSrc().getType()), pieces(type);
    Pieces front(shapes.front), behind(shapes.behind);
    SmallVector<Value> results(pieces.size());
    for (size_t i = 0; i < front.size(); ++i)
      for (size_t j = 0; j < behind.size(); ++j) {
        // Pieces that differ between the common dimensions only.
        SmallVector<Value> parts;
        int64_t rows = getProduct(front.getShape(i));
        int64_t columns = getProduct(behind.getShape(j));
        Pieces from(shapes.source), to(shapes.result);
        for (size_t k = 0; k < from.size(); ++k)
          parts.push_back(reshapeTo(
              rewriter, op.getLoc(),
              adaptor.getSrc()[find(sources, front, i, from, k, behind, j)],
              {rows, getProduct(from.getShape(k)), columns}));
        SmallVector<Value> made =
            rearrange(rewriter, op.getLoc(), shapes, parts);
        for (size_t k = 0; k < to.size(); ++k) {
          size_t piece = find(pieces, front, i, to, k, behind, j);
          results[piece] =
              reshapeTo(rewriter, op.getLoc(), made[k], pieces.getShape(piece));
        }
      }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

private:
  static size_t find(const Pieces &all, const Pieces &front, size_t i,
                     const Pieces &between, size_t k, const Pieces &behind,
                     size_t j) {
    SmallVector<size_t> stretches = front.getStretchesOf(i);
    llvm::append_range(stretches, between.getStretchesOf(k));
    llvm::append_range(stretches, behind.getStretchesOf(j));
    return all.getPiece(stretches);
  }

  static SmallVector<Value> rearrange(OpBuilder &b, Location loc,
                                      const Shapes &shapes,
                                      ArrayRef<Value> parts) {
    Pieces from(shapes.source), to(shapes.result);
    int64_t grain = std::min(getGrain(shapes.source), getGrain(shapes.result));
    SmallVector<Order> have, want;
    for (size_t k = 0; k < from.size(); ++k)
      have.push_back(getGrains(shapes.source, from, k, grain));
    for (size_t k = 0; k < to.size(); ++k)
      want.push_back(getGrains(shapes.result, to, k, grain));

    Grains grains(b, loc, have);
    size_t count = 0;
    for (ArrayRef<int64_t> order : want)
      count += grains.countParts(order);
    SmallVector<Value> made;
    if (count <= kMaxParts) {
      for (ArrayRef<int64_t> order : want)
        made.push_back(grains.build(order, parts));
      return made;
    }
    if (Padded padded(b, loc, shapes, parts.front()); padded.fits()) {
      SmallVector<Value> tensors = padded.join(parts);
      for (size_t k = 0; k < to.size(); ++k)
        made.push_back(padded.build(k, tensors));
      return made;
    }
    Gathered gathered(b, loc, shapes);
    for (size_t k = 0; k < to.size(); ++k)
      made.push_back(gathered.build(k, parts));
    return made;
  }
};

} // namespace

void triton::populateSplitReshapePatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<SplitReshape>(converter, patterns.getContext());
}
