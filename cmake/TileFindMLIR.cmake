# Finds LLVM/MLIR 22: -DMLIR_DIR=<prefix>/lib/cmake/mlir, or the distribution's.

# MLIR's own version file accepts no range, so the version is checked after.
find_package(MLIR QUIET CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "tile needs LLVM/MLIR 22 and did not find it: run 'make setup' (Debian packages "
                      "libmlir-22-dev mlir-22-tools), or pass -DMLIR_DIR=<prefix>/lib/cmake/mlir.")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tile needs LLVM/MLIR 22, but ${MLIR_DIR} is version ${LLVM_PACKAGE_VERSION}.")
endif()
message(STATUS "Using LLVM/MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# TableGen runs while tile is built, so it must be this machine's own.
if(CMAKE_CROSSCOMPILING)
  find_program(TILE_MLIR_TABLEGEN mlir-tblgen HINTS /usr/lib/llvm-22/bin REQUIRED)
  set(MLIR_TABLEGEN_EXE ${TILE_MLIR_TABLEGEN})
  set(MLIR_TABLEGEN_TARGET "")
endif()

separate_arguments(TILE_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
