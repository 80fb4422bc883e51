# The functions every CMakeLists.txt below uses to declare its targets.

# Include folders and definitions of everything that sees MLIR.
add_library(tile_mlir_flags INTERFACE)
target_include_directories(tile_mlir_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_include_directories(tile_mlir_flags SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tile_mlir_flags INTERFACE ${TILE_LLVM_DEFINITIONS})
target_link_libraries(tile_mlir_flags INTERFACE tile_flags)

include(TilePrecompiledHeaders)

# Every generated header hangs off `tile-headers` (see tile_add_library).
macro(add_public_tablegen_target target)
  _add_public_tablegen_target(${target})
  add_dependencies(tile-headers ${target})
endmacro()

# In builds against the shared libraries, every MLIR* and LLVM* component is
# libMLIR.so or libLLVM.so; a static build takes the archives by name. Archives
# of the LLVM package name the shared LLVM in their link interface, so a static
# link lists what it needs explicitly (see tile_link_executable).
function(tile_map_libs out)
  set(result)
  foreach(lib ${ARGN})
    if(lib MATCHES "^(MLIR|LLVM)")
      if(NOT TILE_STATIC)
        if(lib MATCHES "^MLIR")
          list(APPEND result MLIR)
        else()
          list(APPEND result LLVM)
        endif()
      endif()
    else()
      list(APPEND result ${lib})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES result)
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# tile_add_library(Name A.cpp ... DEPENDS tablegen-targets LINK_LIBS libs [NO_LLVM] [EXCEPTIONS]
#                  [PLUGIN_API] [PCH target])
# NO_LLVM: a library that stands apart from LLVM (the simulator).
# EXCEPTIONS: one that throws, catches, or cleans up behind what is thrown.
# PLUGIN_API: its symbols are for plugins, too, where there are plugins.
# PCH: another precompiled header than that of the dialects (see TilePrecompiledHeaders).
function(tile_add_library name)
  cmake_parse_arguments(ARG "NO_LLVM;EXCEPTIONS;PLUGIN_API" "PCH" "DEPENDS;LINK_LIBS;INCLUDES" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NO_LLVM)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE tile_flags)
    if(ARG_PCH)
      tile_use_pch(${name} ${ARG_PCH})
    endif()
  else()
    target_link_libraries(${name} PUBLIC tile_mlir_flags)
    if(NOT ARG_EXCEPTIONS)
      target_compile_options(${name} PRIVATE -fno-exceptions)
      if(NOT ARG_PCH)
        set(ARG_PCH tile_dialect_pch)
      endif()
      tile_use_pch(${name} ${ARG_PCH})
    endif()
  endif()
  if(ARG_PLUGIN_API AND TILE_PLUGINS)
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default)
  endif()
  if(ARG_INCLUDES)
    target_include_directories(${name} PUBLIC ${ARG_INCLUDES})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  # Every library sees every generated header: which ones a source really
  # includes is found by the compiler's dependency scan.
  if(NOT ARG_NO_LLVM AND TARGET tile-headers)
    add_dependencies(${name} tile-headers)
  endif()
  tile_map_libs(libs ${ARG_LINK_LIBS})
  target_link_libraries(${name} PUBLIC ${libs})
  set_property(GLOBAL APPEND PROPERTY TILE_LIBRARIES ${name})
endfunction()

# A precompiled header serves only objects built with the same flags, and CMake
# gives executables -fPIE where libraries get -fPIC.
function(tile_use_pch_in_executable name pch)
  target_link_libraries(${name} PRIVATE tile_mlir_flags)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC -fno-exceptions)
  tile_use_pch(${name} ${pch})
endfunction()

# tile_add_tool(name A.cpp ... LINK_LIBS libs [NO_LLVM])
function(tile_add_tool name)
  cmake_parse_arguments(ARG "NO_LLVM" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NO_LLVM)
    target_link_libraries(${name} PRIVATE tile_flags ${ARG_LINK_LIBS})
  else()
    tile_use_pch_in_executable(${name} tile_pch)
    tile_map_libs(libs ${ARG_LINK_LIBS})
    target_link_libraries(${name} PRIVATE ${libs})
    tile_link_llvm(${name})
  endif()
endfunction()

# tile_add_unittest(Name A.cpp ... LINK_LIBS libs [NO_LLVM] [PCH target])
function(tile_add_unittest name)
  cmake_parse_arguments(ARG "NO_LLVM" "PCH" "LINK_LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NO_LLVM)
    target_link_libraries(${name} PRIVATE tile_flags ${ARG_LINK_LIBS})
  else()
    if(NOT ARG_PCH)
      set(ARG_PCH tile_dialect_pch)
    endif()
    tile_use_pch_in_executable(${name} ${ARG_PCH})
    tile_map_libs(libs ${ARG_LINK_LIBS})
    target_link_libraries(${name} PRIVATE ${libs})
    tile_link_llvm(${name})
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TILE_UNIT_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_property(GLOBAL APPEND PROPERTY TILE_UNITTESTS ${name})
endfunction()

# Adds LLVM and MLIR to the link of an executable or extension module.
function(tile_link_llvm name)
  if(TILE_STATIC)
    include(TileStaticLLVM)
    tile_link_static_llvm(${name})
  else()
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()

# tile_pass_decls(Name): the declarations of the passes of LLVM_TARGET_DEFINITIONS, as
# `mlir_tablegen(Passes.h.inc -gen-pass-decls -name=Name)` makes them, but with statistics that
# count whatever LLVM was built like (include/tile/Support/PassStatistic.h).
macro(tile_pass_decls name)
  mlir_tablegen(PassesUpstream.h.inc -gen-pass-decls -name=${name})
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/Passes.h.inc
    COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_BINARY_DIR}/PassesUpstream.h.inc
            -DOUT=${CMAKE_CURRENT_BINARY_DIR}/Passes.h.inc
            -P ${PROJECT_SOURCE_DIR}/cmake/CountingStatistics.cmake
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/PassesUpstream.h.inc
            ${PROJECT_SOURCE_DIR}/cmake/CountingStatistics.cmake
    COMMENT "Declaring the passes of ${name}")
  list(APPEND TABLEGEN_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/Passes.h.inc)
endmacro()
