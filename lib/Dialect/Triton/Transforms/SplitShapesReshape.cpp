//===-- SplitShapesReshape.cpp - Other shapes of tensors in pieces
//---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reshape keeps the elements in row-major order, but pieces of one shape are
// not pieces of the other. Three ways lead from one to the other. A piece that
// has the same elements is reshaped. A few pieces are halved and joined. Many
// become one tensor with padding first, and elements are gathered from it.
//
//===----------------------------------------------------------------------===//

#include "SplitShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;

/// More parts than this are gathered.
static constexpr size_t kMaxParts = 64;
/// Elements are gathered from one tensor with padding if it has no more bytes:
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
/// The places of the padding have elements that nobody asks for.
class Padded : public Gatherer {
public:
  Padded(OpBuilder &b, Location loc, const Shapes &shapes)
      : Gatherer(b, loc), shapes(shapes), from(shapes.source),
        to(shapes.result) {
    for (int64_t extent : shapes.source)
      extents.push_back(llvm::PowerOf2Ceil(extent));
  }

  /// Whether the tensor is small enough, if it takes the place of `sources`.
  bool fits(ArrayRef<Value> sources) const {
    auto type = cast<RankedTensorType>(sources.front().getType());
    Type element = type.getElementType();
    int64_t bytes = element.isIntOrFloat()
                        ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                        : 8;
    return type.getDimSize(0) * getProduct(extents) * type.getDimSize(2) *
               bytes <=
           kMaxPaddedBytes;
  }

  /// The tensor, of three dimensions.
  Value join(ArrayRef<Value> sources) {
    auto type = cast<RankedTensorType>(sources.front().getType());
    rows = type.getDimSize(0), columns = type.getDimSize(2);
    SmallVector<size_t> stretches;
    return join(stretches, sources);
  }

  /// A piece of the result.
  Value build(size_t piece, Value joined) {
    Value rest = getNumbers(to, piece, shapes.result);
    Value place = splat(rest.getType(), 0);
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim-- > 0;) {
      Value index = rest;
      if (dim > 0) {
        index = make<arith::RemUIOp>(rest, shapes.source[dim]);
        rest = make<arith::DivUIOp>(rest, shapes.source[dim]);
      }
      place = arith::AddIOp::create(b, loc, place,
                                    make<arith::MulIOp>(index, stride));
      stride *= extents[dim];
    }
    return gather(joined, place);
  }

private:
  /// What has the given stretches in the first dimensions, with all of the
  /// others.
  Value join(SmallVector<size_t> &stretches, ArrayRef<Value> sources) {
    size_t dim = stretches.size();
    if (dim == extents.size())
      return sources[from.getPiece(stretches)];
    SmallVector<Value> parts;
    for (size_t i = 0, e = from.getStretches(dim).size(); i < e; ++i) {
      stretches.push_back(i);
      parts.push_back(join(stretches, sources));
      stretches.pop_back();
    }
    int64_t before = rows, behind = columns;
    for (size_t i = 0; i < dim; ++i)
      before *= from.getStretches(i)[stretches[i]].size;
    for (size_t i = dim + 1; i < extents.size(); ++i)
      behind *= extents[i];
    // Each stretch is longer than the ones behind it together.
    Value joined;
    int64_t size = from.getStretches(dim).back().size;
    while (!parts.empty() || size < extents[dim]) {
      bool isNext = !parts.empty() &&
                    from.getStretches(dim)[parts.size() - 1].size == size;
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
    Padded padded(b, loc, shapes);
    Gathered gathered(b, loc, shapes);
    Value joined = padded.fits(parts) ? padded.join(parts) : Value();
    for (size_t k = 0; k < to.size(); ++k)
      made.push_back(joined ? padded.build(k, joined)
                            : gathered.build(k, parts));
    return made;
  }
};

} // namespace

void triton::populateSplitReshapePatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<SplitReshape>(converter, patterns.getContext());
}
