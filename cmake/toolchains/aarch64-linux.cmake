# Compiles for aarch64 on another machine, with the sysroot that `scripts/sysroot.sh aarch64` makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
get_filename_component(TILE_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(CMAKE_SYSROOT ${TILE_ROOT}/.setup/sysroot/aarch64)
set(CMAKE_C_COMPILER /usr/lib/llvm-22/bin/clang)
set(CMAKE_CXX_COMPILER /usr/lib/llvm-22/bin/clang++)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Libraries and headers are those of the sysroot, programs those of this machine.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(MLIR_DIR ${CMAKE_SYSROOT}/usr/lib/llvm-22/lib/cmake/mlir)
# The tools that make the device library for AMD GPUs run on this machine.
set(TILE_DEVICE_CLANG /usr/lib/llvm-22/bin/clang CACHE FILEPATH "")
set(TILE_DEVICE_LINK /usr/lib/llvm-22/bin/llvm-link CACHE FILEPATH "")
