//===-- NamedServer.h - A language server under its own name ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILE_LSP_SERVER_NAMEDSERVER_H
#define TILE_TOOLS_TILE_LSP_SERVER_NAMEDSERVER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

/// Runs `server`, which answers on stdout, and returns its exit status. MLIR's
/// server calls itself mlir-lsp-server, and has no option for another name. So
/// it runs in a process of its own. Its answer to `initialize` gets `name` and
/// `version`; all else that it writes goes through as it is.
int runNamedServer(llvm::StringRef name, llvm::StringRef version,
                   llvm::function_ref<int()> server);

#endif // TILE_TOOLS_TILE_LSP_SERVER_NAMEDSERVER_H
