//===-- LayoutCache.h - Linear layouts that were made already -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verifiers and passes ask for the linear layout of the same few types again
// and again. The dialect of a context keeps those that were made, as long as
// the encodings live that they were made of.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_LAYOUTCACHE_H
#define TILE_DIALECT_TRITONGPU_IR_LAYOUTCACHE_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/DialectInterface.h"
#include "tile/Layout/LinearLayout.h"

#include <mutex>
#include <optional>

namespace mlir::triton::gpu {

class LayoutCache : public DialectInterface::Base<LayoutCache> {
public:
  explicit LayoutCache(Dialect *dialect) : Base(dialect) {}

  std::optional<LinearLayout> find(ArrayRef<int64_t> shape,
                                   Attribute encoding) const {
    std::lock_guard guard(lock);
    auto known = layouts.find(encoding);
    if (known == layouts.end())
      return std::nullopt;
    for (const auto &[of, layout] : known->second)
      if (ArrayRef<int64_t>(of) == shape)
        return layout;
    return std::nullopt;
  }
  void add(ArrayRef<int64_t> shape, Attribute encoding,
           const LinearLayout &layout) const {
    std::lock_guard guard(lock);
    layouts[encoding].emplace_back(shape, layout);
  }

private:
  /// Of one encoding, by shape: there are few.
  using Layouts = std::vector<std::pair<SmallVector<int64_t, 4>, LinearLayout>>;
  mutable std::mutex lock;
  mutable DenseMap<Attribute, Layouts> layouts;
};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_LAYOUTCACHE_H
