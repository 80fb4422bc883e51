# Static linking of MLIR and LLVM, for wheels and stand-alone tools.
#
# The imported targets of the LLVM package name the shared libLLVM in their link
# interface, so a static link goes to the archives themselves. lld resolves
# archives in any order and takes only the members it needs, so all of them can
# be named; --gc-sections and -s drop the rest.

file(GLOB TILE_STATIC_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER TILE_STATIC_ARCHIVES EXCLUDE REGEX "libMLIR(CAPI|Test)")

function(tile_static_system_library out name)
  find_library(TILE_${name}_ARCHIVE lib${name}.a)
  if(NOT TILE_${name}_ARCHIVE)
    message(FATAL_ERROR "a static build needs lib${name}.a; run 'make setup'")
  endif()
  set(${out} ${TILE_${name}_ARCHIVE} PARENT_SCOPE)
endfunction()
tile_static_system_library(TILE_Z z)
tile_static_system_library(TILE_ZSTD zstd)

# Wheels are linked against an older C library than that of the machine that builds them. Objects
# are compiled with this machine's headers, as LLVM's archives were.
set(TILE_LINK_SYSROOT "" CACHE PATH "A root whose C library is linked (made by scripts/sysroot.sh)")

function(tile_link_static_llvm name)
  if(TILE_LINK_SYSROOT)
    target_link_options(${name} PRIVATE --sysroot=${TILE_LINK_SYSROOT})
  endif()
  if(TILE_LINK_SYSROOT OR CMAKE_SYSROOT)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/OldGlibc.c)
  endif()
  target_link_libraries(${name} PRIVATE
    ${TILE_STATIC_ARCHIVES} ${TILE_ZSTD} ${TILE_Z} m dl pthread)
  target_link_options(${name} PRIVATE
    -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--icf=all -s)
endfunction()
