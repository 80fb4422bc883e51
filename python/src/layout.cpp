//===-- layout.cpp - Linear layouts ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ algebra asserts its preconditions; here they are checked first, so
// that no Python program can end the interpreter.
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Layout/LayoutConversion.h"
#include "tile/Layout/LinearLayout.h"
#include "llvm/Support/MathExtras.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using namespace mlir::triton;

namespace tile::python {

static nb::object str(llvm::StringRef text) {
  return nb::str(text.data(), text.size());
}

static nb::dict toDict(llvm::ArrayRef<LinearLayout::NamedSize> dims) {
  nb::dict result;
  for (auto [name, value] : dims)
    result[str(name)] = value;
  return result;
}

static nb::dict toDict(const LinearLayout::Bases &bases) {
  nb::dict result;
  for (const auto &[name, dimBases] : bases) {
    nb::list images;
    for (const std::vector<int32_t> &basis : dimBases) {
      nb::list image;
      for (int32_t value : basis)
        image.append(value);
      images.append(nb::tuple(image));
    }
    result[str(name)] = images;
  }
  return result;
}

static LinearLayout::Bases toBases(const nb::dict &dict) {
  LinearLayout::Bases bases;
  for (auto [name, images] : dict)
    bases.push_back({internDimName(nb::cast<std::string>(name)),
                     nb::cast<LinearLayout::DimBases>(images)});
  return bases;
}

static LinearLayout::NamedSizes toNamedSizes(const nb::dict &dict) {
  LinearLayout::NamedSizes result;
  for (auto [name, value] : dict)
    result.push_back(
        {internDimName(nb::cast<std::string>(name)), nb::cast<int32_t>(value)});
  return result;
}

/// With sizes (a dict), or with names whose sizes follow from the bases.
static LinearLayout
create(const nb::dict &bases,
       const std::variant<nb::dict, std::vector<std::string>> &outDims,
       bool requireSurjective) {
  LinearLayout::Bases cppBases = toBases(bases);
  LinearLayout::NamedSizes sizes;
  if (auto *dict = std::get_if<nb::dict>(&outDims)) {
    sizes = toNamedSizes(*dict);
  } else {
    const auto &names = std::get<std::vector<std::string>>(outDims);
    for (size_t i = 0; i < names.size(); ++i) {
      int32_t all = 0;
      for (const auto &[in, dimBases] : cppBases)
        for (const std::vector<int32_t> &basis : dimBases)
          all |= i < basis.size() ? std::max(0, basis[i]) : 0;
      sizes.push_back({internDimName(names[i]),
                       int32_t(llvm::PowerOf2Ceil(uint64_t(all) + 1))});
    }
  }
  std::string error;
  auto layout =
      LinearLayout::tryCreate(cppBases, sizes, requireSurjective, &error);
  if (!layout)
    throw nb::value_error(error.c_str());
  return *layout;
}

static void checkIndex(const LinearLayout &layout,
                       llvm::ArrayRef<LinearLayout::NamedSize> index) {
  if (index.size() != layout.getNumInDims())
    throw nb::value_error("the index must name every in dim once");
  for (auto [name, value] : index) {
    if (!layout.hasInDim(name))
      throw nb::value_error(("no in dim '" + name + "'").str().c_str());
    if (value < 0 || value >= layout.getInDimSize(name))
      throw nb::value_error(("index " + llvm::Twine(value) + " of in dim '" +
                             name + "' is outside of its size " +
                             llvm::Twine(layout.getInDimSize(name)))
                                .str()
                                .c_str());
  }
}

static LinearLayout compose(const LinearLayout &self,
                            const LinearLayout &outer) {
  if (self.getNumOutDims() != outer.getNumInDims())
    throw nb::value_error("the in dims of the outer layout must be the out "
                          "dims of the inner one");
  for (auto [name, size] : self.getOutDims())
    if (!outer.hasInDim(name) || outer.getInDimSize(name) < size)
      throw nb::value_error(
          ("out dim '" + name + "' does not fit an in dim of the outer layout")
              .str()
              .c_str());
  return self.compose(outer);
}

static LinearLayout multiply(const LinearLayout &self,
                             const LinearLayout &other) {
  auto check = [](llvm::ArrayRef<LinearLayout::NamedSize> mine,
                  llvm::ArrayRef<LinearLayout::NamedSize> others) {
    llvm::SmallVector<std::pair<llvm::StringRef, unsigned>> bits;
    unsigned total = 0;
    for (auto dims : {mine, others}) {
      for (auto [name, size] : dims) {
        auto *it = llvm::find_if(
            bits, [name = name](auto &entry) { return entry.first == name; });
        if (it == bits.end())
          it = bits.insert(it, {name, 0});
        it->second += llvm::Log2_32(size);
        total += llvm::Log2_32(size);
        if (it->second > 30 || total > 63)
          throw nb::value_error("the product is too large");
      }
    }
  };
  check(self.getInDims(), other.getInDims());
  check(self.getOutDims(), other.getOutDims());
  return self * other;
}

static LinearLayout invert(const LinearLayout &self) {
  if (!self.isInvertible())
    throw nb::value_error("the layout is not invertible");
  return self.invert();
}

static LinearLayout invertAndCompose(const LinearLayout &self,
                                     const LinearLayout &outer) {
  auto result = self.tryInvertAndCompose(outer);
  if (!result)
    throw nb::value_error(
        "the image of the layout must lie in that of the outer one");
  return *result;
}

static std::string conversionKind(const LinearLayout &src,
                                  const LinearLayout &dst) {
  for (const LinearLayout *layout : {&src, &dst}) {
    if (layout->getNumInDims() != 4 || !layout->isSurjective())
      throw nb::value_error("expected surjective layouts from register, lane, "
                            "warp and block");
    for (llvm::StringRef dim :
         {llvm::StringRef(kRegister), llvm::StringRef(kLane),
          llvm::StringRef(kWarp), llvm::StringRef(kBlock)})
      if (!layout->hasInDim(dim) ||
          (dim != kRegister &&
           layout->getInDimSize(dim) != src.getInDimSize(dim)))
        throw nb::value_error("both layouts need the in dims register, lane, "
                              "warp and block, the last three of equal size");
  }
  auto outsOf = [](const LinearLayout &layout) {
    auto dims = layout.getOutDims();
    llvm::sort(dims);
    return dims;
  };
  if (outsOf(src) != outsOf(dst))
    throw nb::value_error("both layouts must have the same out dims");
  switch (decomposeConversion(src, dst).kind) {
  case ConversionKind::NoOp:
    return "no-op";
  case ConversionKind::Registers:
    return "registers";
  case ConversionKind::Lanes:
    return "lanes";
  case ConversionKind::SharedMemory:
    return "shared-memory";
  case ConversionKind::Cluster:
    return "cluster";
  }
  return "";
}

static LinearLayout fromEncoding(const PyAttribute &encoding,
                                 const std::vector<int64_t> &shape) {
  DiagnosticCollector collector(encoding.context.get());
  FailureOr<LinearLayout> layout =
      gpu::tryToLinearLayout(shape, encoding.attr, [&] {
        return emitError(UnknownLoc::get(encoding.context.get()));
      });
  if (failed(layout))
    collector.raise("the encoding has no linear layout");
  return *layout;
}

static LinearLayout fromType(const PyType &type) {
  if (auto memDesc = dyn_cast<gpu::MemDescType>(type.type)) {
    auto encoding = dyn_cast<gpu::LayoutEncodingTrait>(memDesc.getEncoding());
    if (!encoding)
      throw nb::value_error("this memory descriptor has no linear layout");
    llvm::ArrayRef<int64_t> shape = memDesc.getAllocShape();
    if (shape.size() < encoding.getRank())
      shape = memDesc.getShape();
    return fromEncoding({encoding, type.context},
                        shape.take_back(encoding.getRank()).vec());
  }
  auto tensor = dyn_cast<RankedTensorType>(type.type);
  if (!tensor || !tensor.getEncoding())
    throw nb::value_error("expected a tensor with an encoding or a memory "
                          "descriptor");
  return fromEncoding({tensor.getEncoding(), type.context},
                      tensor.getShape().vec());
}

void populateLayout(nb::module_ &m) {
  nb::class_<LinearLayout>(
      m, "LinearLayout",
      "A linear map over F2 between named dims of power-of-two sizes.")
      .def(
          "__init__",
          [](LinearLayout *self, const nb::dict &bases,
             const std::variant<nb::dict, std::vector<std::string>> &outDims,
             bool requireSurjective) {
            new (self) LinearLayout(create(bases, outDims, requireSurjective));
          },
          "bases"_a, "out_dims"_a, "require_surjective"_a = true,
          "From {in dim: [image of bit 0, image of bit 1, ...]} and the out "
          "dims: {name: size}, or names alone.")
      .def_prop_ro("bases",
                   [](const LinearLayout &l) { return toDict(l.getBases()); })
      .def_prop_ro("in_dims",
                   [](const LinearLayout &l) { return toDict(l.getInDims()); })
      .def_prop_ro("out_dims",
                   [](const LinearLayout &l) { return toDict(l.getOutDims()); })
      .def_prop_ro("is_surjective", &LinearLayout::isSurjective)
      .def_prop_ro("is_injective", &LinearLayout::isInjective)
      .def_prop_ro("is_invertible", &LinearLayout::isInvertible)
      .def(
          "apply",
          [](const LinearLayout &self, const nb::dict &index) {
            auto cppIndex = toNamedSizes(index);
            checkIndex(self, cppIndex);
            return toDict(self.apply(cppIndex));
          },
          "index"_a, "The image of {in dim: value}, as {out dim: value}.")
      .def("__mul__", &multiply, "other"_a, "The direct product.")
      .def("compose", &compose, "outer"_a, "x -> outer(self(x)).")
      .def("invert", &invert)
      .def("pseudoinvert", &LinearLayout::pseudoinvert,
           "P with L P L = L, for layouts that are not invertible.")
      .def("invert_and_compose", &invertAndCompose, "outer"_a,
           "C with outer(C(x)) = self(x).")
      .def(
          "__eq__",
          [](const LinearLayout &a, nb::handle b) {
            return nb::isinstance<LinearLayout>(b) &&
                   a == nb::cast<const LinearLayout &>(b);
          },
          "other"_a)
      .def("__hash__",
           [](const LinearLayout &self) { return size_t(hash_value(self)); })
      .def("__str__", &LinearLayout::toString)
      .def("__repr__", [](const LinearLayout &self) {
        return "<LinearLayout\n" + self.toString() + ">";
      });
  m.def("from_encoding", &fromEncoding, "encoding"_a, "shape"_a,
        "The layout of a tensor (or buffer) of `shape` with this encoding.");
  m.def("from_type", &fromType, "type"_a,
        "The layout of a tensor type or memory descriptor.");
  m.def("conversion_kind", &conversionKind, "src"_a, "dst"_a,
        "How far values move from one layout of a tensor to another: 'no-op', "
        "'registers', 'lanes', 'shared-memory' or 'cluster'.");
}

} // namespace tile::python
