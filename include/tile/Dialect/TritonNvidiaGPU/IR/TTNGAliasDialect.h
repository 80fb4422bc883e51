//===-- TTNGAliasDialect.h - Reads `ttng` as `ttnvgpu` --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILE_DIALECT_TRITONNVIDIAGPU_IR_TTNGALIASDIALECT_H
#define TILE_DIALECT_TRITONNVIDIAGPU_IR_TTNGALIASDIALECT_H

#include "mlir/IR/Dialect.h"

namespace mlir::triton::nvidia_gpu {

/// A dialect that exists in text only. `ttng.x` in the custom form of an
/// operation, `#ttng.x` and `!ttng.x` are read as `ttnvgpu.x`, `#ttnvgpu.x` and
/// `!ttnvgpu.x`. Of what has this prefix, only attributes of modules are
/// printed.
///
/// The generic form `"ttng.x"(...)` names its operation before any dialect is
/// asked, so that it cannot be redirected: it is refused with an error that
/// tells what to write.
class TTNGAliasDialect : public Dialect {
public:
  explicit TTNGAliasDialect(MLIRContext *context);

  static constexpr StringLiteral getDialectNamespace() {
    return StringLiteral("ttng");
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override;
  Type parseType(DialectAsmParser &parser) const override;
  LogicalResult verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) override;
  LogicalResult verifyRegionArgAttribute(Operation *op, unsigned region,
                                         unsigned argument,
                                         NamedAttribute attribute) override;
  LogicalResult verifyRegionResultAttribute(Operation *op, unsigned region,
                                            unsigned result,
                                            NamedAttribute attribute) override;

private:
  /// Registers the name `ttng.<mnemonic>`, which parses as `target`.
  void registerAlias(RegisteredOperationName target);

  Dialect *target;
  TypeIDAllocator typeIDs;
};

} // namespace mlir::triton::nvidia_gpu

MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::triton::nvidia_gpu::TTNGAliasDialect)

#endif // TILE_DIALECT_TRITONNVIDIAGPU_IR_TTNGALIASDIALECT_H
