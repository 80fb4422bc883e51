//===-- LaunchTiles.cpp - Tiles of tensors that launches know -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaunchTiles.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

namespace {

/// Dimensions of a tensor map.
constexpr size_t kMostDims = 5;
/// Strides in bytes are less.
constexpr int64_t kStrideLimit = int64_t(1) << 40;
/// Launches read whole bytes of arguments.
constexpr unsigned kLeastBits = 8;

/// Whether a launch knows `value`: it is an argument of the kernel.
bool isArgument(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || !isa<FunctionOpInterface>(arg.getOwner()->getParentOp()))
    return false;
  return isa<PointerType>(arg.getType()) ||
         (arg.getType().isInteger() &&
          arg.getType().getIntOrFloatBitWidth() >= kLeastBits);
}

/// A sum, in parts: what launches know, and what only programs do.
struct Division {
  Polynomial ofLaunch, ofPrograms;
};

class Finder {
public:
  Finder(const MatrixTile &tile, MatrixTileAnalysis &analysis)
      : tile(tile), analysis(analysis), forms(analysis.getForms()),
        bytes(getElementTypeOrSelf(LoadOp(tile.load).getType())
                  .getIntOrFloatBitWidth() /
              8) {}

  std::string find(LaunchTile &result);

private:
  bool isOfLaunch(unsigned symbol) const {
    Value value = forms.getValue(symbol);
    return value && isArgument(value);
  }
  Division divide(const Polynomial &sum) const;
  std::string findStart(unsigned dim, const Polynomial &start);
  bool findSize(unsigned dim, LaunchTile &result);
  std::string addAxes(const Polynomial &offset, LaunchTile &result);

  const MatrixTile &tile;
  MatrixTileAnalysis &analysis;
  const AffineForms &forms;
  int64_t bytes; ///< of an element
};

} // namespace

Division Finder::divide(const Polynomial &sum) const {
  Division result;
  for (const auto &[product, factor] : sum.getTerms())
    (llvm::all_of(product, [&](unsigned symbol) { return isOfLaunch(symbol); })
         ? result.ofLaunch
         : result.ofPrograms)
        .add(product, factor);
  return result;
}

/// Why coordinates may not be from `start` on. They are those of the counter,
/// if `start` is where it begins.
std::string Finder::findStart(unsigned dim, const Polynomial &start) {
  if (start.isZero())
    return "";
  const char *obstacle = "its bound differs from program to program";
  std::optional<Polynomial> lower = analysis.getLowerBound();
  if (!lower || tile.factors[dim] > 1 || !analysis.isCounterCoordinate())
    return obstacle;
  Division begin = divide(*lower);
  bool isCounter =
      start == Polynomial::getConstant(tile.factors[dim]) * begin.ofPrograms;
  if (!isCounter || !analysis.isNonNegative(start) ||
      !analysis.isNonNegative(begin.ofLaunch) ||
      (dim == 1 && !analysis.isAligned(start, bytes)))
    return obstacle;
  return "";
}

/// Whether coordinates suffice for all iterations. The counter is one, and what
/// is past a bound is zero, wherever it is. If there is no bound, the size is
/// what the loop needs.
bool Finder::findSize(unsigned dim, LaunchTile &result) {
  int64_t factor = tile.factors[dim];
  if (factor == 0)
    return true;
  if (result.sizes[dim].isKnown)
    return factor == 1 && analysis.isCounterCoordinate();
  std::optional<Polynomial> lower = analysis.getLowerBound(),
                            upper = analysis.getUpperBound();
  auto type = cast<RankedTensorType>(LoadOp(tile.load).getType());
  int64_t extent = type.getDimSize(dim == 0 ? 1 - tile.fast : tile.fast);
  if (!lower || !upper)
    return false;
  Polynomial end = Polynomial::getConstant(factor) * (*upper - *lower) +
                   Polynomial::getConstant(extent);
  if (!divide(end).ofPrograms.isZero() ||
      (dim == 1 && !analysis.isAligned(end, bytes)))
    return false;
  result.sizes[dim] = {true, end};
  return true;
}

/// Has each number of a program be the coordinate along a dimension.
std::string Finder::addAxes(const Polynomial &offset, LaunchTile &result) {
  std::map<unsigned, Polynomial> strides;
  for (const auto &[product, factor] : offset.getTerms()) {
    std::optional<unsigned> program;
    Polynomial::Product distance;
    for (unsigned symbol : product) {
      if (isOfLaunch(symbol))
        distance.push_back(symbol);
      else if (program)
        return "where it begins multiplies numbers of programs";
      else
        program = symbol;
    }
    strides[*program].add(distance, factor);
  }
  for (const auto &[program, stride] : strides) {
    Value coordinate = forms.getValue(program);
    std::optional<int64_t> most = analysis.getMost(coordinate);
    if (!analysis.isNonNegative(Polynomial::getSymbol(program)) || !most ||
        *most >= LaunchTile::kAxisSize)
      return "where it begins is not known to be a coordinate";
    std::optional<int64_t> constant = stride.getConstantValue();
    if (!analysis.isAligned(stride, bytes) ||
        (constant && (*constant <= 0 || *constant >= kStrideLimit / bytes)))
      return "where it begins is no multiple of a stride";
    result.axes.push_back({coordinate, stride});
  }
  if (result.axes.size() + 2 > kMostDims)
    return "where it begins would take more than five dimensions";
  return "";
}

std::string Finder::find(LaunchTile &result) {
  if (!isArgument(tile.base))
    return "its base is no argument of the kernel";
  if (!divide(tile.stride).ofPrograms.isZero())
    return "the distance of its rows is no argument of the kernel";
  Polynomial offset = tile.offset;
  for (unsigned dim : {0, 1}) {
    result.sizes[dim] = tile.sizes[dim];
    if (!tile.sizes[dim].isKnown)
      continue;
    // What programs subtract from the bound, they begin at.
    Division end = divide(tile.sizes[dim].end);
    result.sizes[dim].end = end.ofLaunch;
    result.starts[dim] = Polynomial() - end.ofPrograms;
    if (std::string why = findStart(dim, result.starts[dim]); !why.empty())
      return why;
    Polynomial unit = dim == 0 ? tile.stride : Polynomial::getConstant(1);
    offset = offset - unit * result.starts[dim];
  }
  if (tile.mostIterations) {
    bool suffices = findSize(0, result);
    if (!findSize(1, result) || !suffices)
      result.mostIterations = tile.mostIterations;
  }
  Division begin = divide(offset);
  result.offset = begin.ofLaunch;
  return addAxes(begin.ofPrograms, result);
}

std::string mlir::triton::findLaunchTile(const MatrixTile &tile,
                                         MatrixTileAnalysis &analysis,
                                         LaunchTile &result) {
  return Finder(tile, analysis).find(result);
}
