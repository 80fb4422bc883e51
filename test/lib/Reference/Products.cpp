//===-- Products.cpp - Matrix products ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums are added up in f64 (those of integers in their type) and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Floats.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include <cmath>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

namespace {
/// An operand, or a batch of them: numbers, and which are undefined.
struct Matrix {
  int64_t batch = 1, rows, columns;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<uint8_t> undefined;

  void setShape(ArrayRef<int64_t> shape) {
    rows = shape[shape.size() - 2];
    columns = shape[shape.size() - 1];
    batch = shape.size() > 2 ? shape[0] : 1;
  }
};
} // namespace

/// The numbers of a tensor whose elements are of the given type.
static Matrix decode(const Tensor &tensor, Type element) {
  Matrix matrix;
  matrix.setShape(tensor.shape);
  matrix.undefined = tensor.undefined;
  if (const FloatFormat *format = FloatFormat::get(element)) {
    matrix.numbers.reserve(tensor.size());
    for (uint64_t bits : tensor.bits)
      matrix.numbers.push_back(format->decode(bits));
  } else {
    unsigned width = getElementBits(element);
    matrix.integers.reserve(tensor.size());
    for (uint64_t bits : tensor.bits)
      matrix.integers.push_back(signExtend(bits, width));
  }
  return matrix;
}

/// Adds products of `T`s to `sums`.
template <typename T>
static void multiply(const Matrix &a, const Matrix &b, const std::vector<T> &x,
                     const std::vector<T> &y, std::vector<T> &sums) {
  int64_t m = a.rows, k = a.columns, n = b.columns;
  for (int64_t batch = 0; batch < a.batch; ++batch)
    for (int64_t i = 0; i < m; ++i) {
      T *row = &sums[(batch * m + i) * n];
      for (int64_t j = 0; j < k; ++j) {
        T factor = x[(batch * m + i) * k + j];
        const T *other = &y[(batch * k + j) * n];
        for (int64_t l = 0; l < n; ++l)
          row[l] += factor * other[l];
      }
    }
}

/// What an undefined element of an operand makes undefined.
static void spread(const Matrix &a, const Matrix &b, Tensor &result) {
  int64_t m = a.rows, k = a.columns, n = b.columns;
  for (size_t i = 0; i < a.undefined.size(); ++i)
    if (a.undefined[i])
      for (int64_t l = 0; l < n; ++l)
        result.setUndefined(int64_t(i) / k * n + l);
  for (size_t i = 0; i < b.undefined.size(); ++i)
    if (b.undefined[i])
      for (int64_t row = 0; row < m; ++row)
        result.setUndefined((int64_t(i) / n / k * m + row) * n +
                            int64_t(i) % n);
}

/// `a * b + c`; `c` may be null.
static Tensor multiplyAdd(const Matrix &a, const Matrix &b, const Tensor *c,
                          RankedTensorType type) {
  Tensor result(type.getShape());
  const FloatFormat *format = FloatFormat::get(type);
  if (format) {
    std::vector<double> sums(result.size());
    for (size_t i = 0; c && i < sums.size(); ++i)
      sums[i] = format->decode(c->bits[i]);
    multiply(a, b, a.numbers, b.numbers, sums);
    for (size_t i = 0; i < sums.size(); ++i)
      result.bits[i] = format->encode(sums[i]);
  } else {
    unsigned width = getElementBits(type);
    std::vector<uint64_t> sums(result.size());
    if (c)
      sums = c->bits;
    std::vector<uint64_t> x(a.integers.begin(), a.integers.end()),
        y(b.integers.begin(), b.integers.end());
    multiply(a, b, x, y, sums);
    for (size_t i = 0; i < sums.size(); ++i)
      result.bits[i] = sums[i] & maskOf(width);
  }
  if (c)
    result.undefined = c->undefined;
  spread(a, b, result);
  return result;
}

static Step runDot(Thread &thread, Operation *op) {
  auto dot = cast<DotOp>(op);
  Matrix a = decode(thread.tensor(dot.getA()),
                    getElementTypeOrSelf(dot.getA().getType())),
         b = decode(thread.tensor(dot.getB()),
                    getElementTypeOrSelf(dot.getB().getType()));
  thread.set(dot.getD(),
             multiplyAdd(a, b, &thread.tensor(dot.getC()),
                         cast<RankedTensorType>(dot.getD().getType())));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Microscaling formats
//===----------------------------------------------------------------------===//

/// A float of one sign bit, two bits of exponent, one of mantissa.
static double decodeFp4(uint64_t bits) {
  static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  double magnitude = magnitudes[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

/// Two for each element, neighbours along a dimension, the one in the lower
/// half first.
static Tensor unpackFp4(const Tensor &packed, unsigned axis,
                        const FloatFormat &format) {
  SmallVector<int64_t, 4> shape = packed.shape;
  shape[axis] *= 2;
  SmallVector<int64_t, 4> strides = getRowMajorStrides(packed.shape);
  Tensor result(shape);
  forEachPosition(shape, [&](int64_t n, ArrayRef<int64_t> at) {
    int64_t from = 0;
    for (size_t d = 0; d < at.size(); ++d)
      from += (d == axis ? at[d] / 2 : at[d]) * strides[d];
    result.bits[n] = format.encode(
        decodeFp4(packed.bits[from] >> (at[axis] % 2 ? 4 : 0) & 15));
    if (packed.isUndefined(from))
      result.setUndefined(n);
  });
  return result;
}

static const FloatFormat &f64() {
  static const FloatFormat format{64, 52, 1023, FloatFormat::IEEE};
  return format;
}

/// An exponent, or a number in e4m3.
static double decodeScale(uint64_t bits, Type element) {
  if (const FloatFormat *format = FloatFormat::get(element))
    return format->decode(bits);
  return bits == 255 ? NAN : std::ldexp(1.0, int(bits) - 127);
}

/// The operand of a scaled dot, whose elements along `k` are `axis`.
static std::optional<Matrix> decodeScaled(Thread &thread, Value value,
                                          Value scale, ScaleDotElemType format,
                                          unsigned axis, bool packsAlongK) {
  Type element = getElementTypeOrSelf(value.getType());
  Tensor numbers;
  MLIRContext *context = value.getContext();
  if (format == ScaleDotElemType::E2M1) {
    numbers =
        unpackFp4(thread.tensor(value), packsAlongK ? axis : 1 - axis, f64());
  } else {
    if (!isa<FloatType>(element)) {
      if (format == ScaleDotElemType::E4M3)
        element = Float8E4M3FNType::get(context);
      else if (format == ScaleDotElemType::E5M2)
        element = Float8E5M2Type::get(context);
      else
        return std::nullopt;
    }
    numbers = thread.tensor(value);
    for (uint64_t &bits : numbers.bits)
      bits = f64().encode(FloatFormat::get(element)->decode(bits));
  }
  Matrix matrix = decode(numbers, Float64Type::get(context));
  if (!scale)
    return matrix;
  // Scales have K last, of both operands.
  const Tensor &scales = thread.tensor(scale);
  Type scaleType = getElementTypeOrSelf(scale.getType());
  int64_t groups = scales.shape.back();
  int64_t length = numbers.shape[axis] / groups;
  forEachPosition(numbers.shape, [&](int64_t n, ArrayRef<int64_t> at) {
    int64_t group = at[1 - axis] * groups + at[axis] / length;
    // Those that are floats have no sign.
    matrix.numbers[n] *= std::abs(decodeScale(scales.bits[group], scaleType));
    if (scales.isUndefined(group)) {
      matrix.undefined.resize(numbers.size());
      matrix.undefined[n] = 1;
    }
  });
  return matrix;
}

static Step runDotScaled(Thread &thread, Operation *op) {
  auto dot = cast<DotScaledOp>(op);
  auto type = cast<RankedTensorType>(dot.getD().getType());
  if (type.getRank() != 2)
    return thread.unknown(op, "a batch of scaled products");
  auto a = decodeScaled(thread, dot.getA(), dot.getAScale(), dot.getAElemType(),
                        1, dot.getLhsKPack()),
       b = decodeScaled(thread, dot.getB(), dot.getBScale(), dot.getBElemType(),
                        0, dot.getRhsKPack());
  if (!a || !b)
    return thread.unknown(op, "an element format that is not known");
  thread.set(dot.getD(), multiplyAdd(*a, *b, &thread.tensor(dot.getC()), type));
  return Step::Next;
}

static Step runFp4ToFp(Thread &thread, Operation *op) {
  auto unpack = cast<gpu::Fp4ToFpOp>(op);
  thread.set(unpack.getResult(),
             unpackFp4(thread.tensor(unpack.getSrc()), unpack.getAxis(),
                       *FloatFormat::get(unpack.getType())));
  return Step::Next;
}

/// `amdg.scaled_upcast_fp4`, `amdg.scaled_upcast_fp8`: elements times scales.
static Step runScaledUpcast(Thread &thread, Operation *op) {
  const FloatFormat &to = *FloatFormat::get(op->getResult(0).getType());
  Tensor numbers = thread.tensor(op->getOperand(0));
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis")) {
    numbers = unpackFp4(numbers, axis.getInt(), f64());
  } else {
    const FloatFormat &from = *FloatFormat::get(op->getOperand(0).getType());
    for (uint64_t &bits : numbers.bits)
      bits = f64().encode(from.decode(bits));
  }
  Type scaleType = getElementTypeOrSelf(op->getOperand(1).getType());
  std::array in{static_cast<const Tensor *>(&numbers),
                &thread.tensor(op->getOperand(1))};
  thread.set(op->getResult(0),
             computeElements(std::make_index_sequence<2>(), in,
                             [&](uint64_t x, uint64_t scale) {
                               return to.encode(f64().decode(x) *
                                                decodeScale(scale, scaleType));
                             }));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Dots of warp groups
//===----------------------------------------------------------------------===//

/// An operand in shared memory or in registers.
static Tensor readOperand(Thread &thread, Value value, Product &product) {
  if (!isa<gpu::MemDescType>(value.getType()))
    return thread.tensor(value);
  auto view = thread.object<View>(value);
  product.sources.push_back({view, view->read()});
  return product.sources.back().second;
}

static Type getElement(Value value) {
  if (auto type = dyn_cast<gpu::MemDescType>(value.getType()))
    return type.getElementType();
  return getElementTypeOrSelf(value.getType());
}

static Step runWarpGroupDot(Thread &thread, Operation *op) {
  auto dot = cast<nvidia_gpu::WarpGroupDotOp>(op);
  auto product = std::make_shared<Product>();
  for (Value value : {Value(dot.getA()), Value(dot.getB())})
    if (isa<gpu::MemDescType>(value.getType()) &&
        !thread.object<View>(value)->isInBounds())
      return thread.fault(op, "a product of a buffer that is not there");
  Matrix a = decode(readOperand(thread, dot.getA(), *product),
                    getElement(dot.getA())),
         b = decode(readOperand(thread, dot.getB(), *product),
                    getElement(dot.getB()));
  std::optional<bool> adds = thread.predicate(dot.getUseC());
  if (!adds)
    return thread.fault(op, "an undefined predicate");
  // The sum may be one that is still computed, by dots before this one.
  Val sum = thread.val(dot.getC());
  auto before = std::dynamic_pointer_cast<Product>(sum.object);
  const Tensor *c = before ? before->result.get() : sum.tensor.get();
  product->result = std::make_shared<const Tensor>(multiplyAdd(
      a, b, *adds ? c : nullptr, cast<RankedTensorType>(dot.getD().getType())));
  if (before && *adds)
    product->before = before;
  product->home = isa<BlockArgument>(dot.getC()) ? dot.getC()
                  : before                       ? before->home
                                                 : Value();
  product->number = thread.numProducts++;
  if (!dot.getIsAsync()) {
    // It waits for all before it, too, whose results nobody may read, though,
    // that has not waited for them.
    for (auto &other : thread.products)
      other->finish();
    thread.products.clear();
    product->finish();
    thread.set(dot.getD(), Val{product->getResult(), nullptr});
    return Step::Next;
  }
  thread.products.push_back(product);
  thread.set(dot.getD(), Val{std::make_shared<const Tensor>(
                                 Tensor::allUndefined(product->result->shape)),
                             product});
  return Step::Next;
}

void Product::finish() {
  if (isDone)
    return;
  isDone = true;
  // What has changed since it began may have been read before or after.
  for (auto &[view, known] : sources) {
    Tensor again = view->buffer->isFreed ? Tensor::allUndefined(known.shape)
                                         : view->read();
    isWrong |= again.bits != known.bits || again.undefined != known.undefined;
  }
}

std::shared_ptr<const Tensor> Product::getResult() const {
  for (const Product *part = this; part; part = part->before.get())
    if (part->isWrong)
      return std::make_shared<const Tensor>(
          Tensor::allUndefined(result->shape));
  return result;
}

static Step waitForProducts(Thread &thread, Operation *op) {
  auto wait = cast<nvidia_gpu::WarpGroupDotWaitOp>(op);
  while (thread.products.size() > wait.getPendings()) {
    thread.products.front()->finish();
    thread.products.pop_front();
  }
  for (auto [input, output] : llvm::zip(wait.getInputs(), wait.getOutputs())) {
    Val val = thread.val(input);
    auto product = std::dynamic_pointer_cast<Product>(val.object);
    if (product && product->isDone)
      val = {product->getResult(), nullptr};
    thread.set(output, val);
  }
  return Step::Next;
}

void mlir::triton::reference::registerProducts(Handlers &handlers) {
  handlers["tt.dot"] = runDot;
  handlers["tt.dot_scaled"] = runDotScaled;
  handlers["ttg.fp4_to_fp"] = runFp4ToFp;
  handlers["amdg.scaled_upcast_fp4"] = runScaledUpcast;
  handlers["amdg.scaled_upcast_fp8"] = runScaledUpcast;
  handlers["ttnvgpu.warp_group_dot"] = runWarpGroupDot;
  handlers["ttnvgpu.warp_group_dot_wait"] = waitForProducts;
}
