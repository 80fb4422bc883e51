# The functions every CMakeLists.txt below uses to declare its targets.

# Include folders and definitions of everything that sees MLIR.
add_library(tile_mlir_flags INTERFACE)
target_include_directories(tile_mlir_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_include_directories(tile_mlir_flags SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tile_mlir_flags INTERFACE ${TILE_LLVM_DEFINITIONS})
target_link_libraries(tile_mlir_flags INTERFACE tile_flags)

# One precompiled header for the whole compiler: what nearly every translation
# unit includes anyway. Headers of our own stay out, a change to one would rebuild
# everything. A precompiled header names the absolute path of the file it was made
# of, and clang opens that file when the header is used; CMake's own precompiled
# headers (and any file of the checkout) would thus tie a cached one to the clone
# that filled the cache. So it is made of an installed header, the last one here,
# after the others: ccache shares it, and what uses it, between all clones.
set(TILE_PCH_HEADERS
  llvm/ADT/STLExtras.h
  llvm/ADT/SmallVector.h
  llvm/ADT/StringRef.h
  llvm/ADT/TypeSwitch.h
  llvm/Support/raw_ostream.h
  mlir/Dialect/Arith/IR/Arith.h
  mlir/Dialect/SCF/IR/SCF.h
  mlir/IR/Builders.h
  mlir/IR/BuiltinAttributes.h
  mlir/IR/BuiltinOps.h
  mlir/IR/BuiltinTypes.h
  mlir/IR/Dialect.h
  mlir/IR/OpImplementation.h
  mlir/IR/PatternMatch.h
  mlir/Interfaces/ControlFlowInterfaces.h
  mlir/Interfaces/FunctionInterfaces.h
  mlir/Interfaces/InferTypeOpInterface.h
  mlir/Interfaces/SideEffectInterfaces.h
  mlir/Pass/Pass.h
  mlir/Pass/PassManager.h
  mlir/Transforms/DialectConversion.h)
list(POP_BACK TILE_PCH_HEADERS TILE_PCH_LAST)
list(GET MLIR_INCLUDE_DIRS 0 TILE_PCH_ROOT)
set(TILE_PCH_SOURCE ${TILE_PCH_ROOT}/${TILE_PCH_LAST})
add_library(tile_pch OBJECT ${TILE_PCH_SOURCE})
set_source_files_properties(${TILE_PCH_SOURCE} PROPERTIES LANGUAGE CXX)
target_link_libraries(tile_pch PRIVATE tile_mlir_flags)
target_compile_options(tile_pch PRIVATE -fno-exceptions -x c++-header)
foreach(header ${TILE_PCH_HEADERS})
  target_compile_options(tile_pch PRIVATE "SHELL:-include ${header}")
endforeach()
# CMake names objects of files below the checkout, such as those of a sysroot, from there on.
string(REPLACE "${PROJECT_SOURCE_DIR}/" "/" TILE_PCH_OBJECT ${TILE_PCH_SOURCE})
set(TILE_PCH ${PROJECT_BINARY_DIR}/CMakeFiles/tile_pch.dir${TILE_PCH_OBJECT}.o)

function(tile_use_pch name)
  target_compile_options(${name} PRIVATE -Winvalid-pch "SHELL:-include-pch ${TILE_PCH}")
  get_target_property(sources ${name} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${TILE_PCH})
  add_dependencies(${name} tile_pch)
endfunction()

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
#                  [PLUGIN_API])
# NO_LLVM: a library that stands apart from LLVM (the simulator); it is always
# optimised, because a simulator at -O0 is of no use to anybody.
# EXCEPTIONS: one that throws, catches, or cleans up behind what is thrown.
# PLUGIN_API: its symbols are for plugins, too, where there are plugins.
function(tile_add_library name)
  cmake_parse_arguments(ARG "NO_LLVM;EXCEPTIONS;PLUGIN_API" "" "DEPENDS;LINK_LIBS;INCLUDES" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NO_LLVM)
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE tile_flags)
    target_compile_options(${name} PRIVATE $<$<NOT:$<BOOL:${TILE_SANITIZE}>>:-O2>)
  else()
    target_link_libraries(${name} PUBLIC tile_mlir_flags)
    if(NOT ARG_EXCEPTIONS)
      target_compile_options(${name} PRIVATE -fno-exceptions)
      tile_use_pch(${name})
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
function(tile_use_pch_in_executable name)
  target_link_libraries(${name} PRIVATE tile_mlir_flags)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC -fno-exceptions)
  tile_use_pch(${name})
endfunction()

# tile_add_tool(name A.cpp ... LINK_LIBS libs [NO_LLVM])
function(tile_add_tool name)
  cmake_parse_arguments(ARG "NO_LLVM" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NO_LLVM)
    target_link_libraries(${name} PRIVATE tile_flags ${ARG_LINK_LIBS})
  else()
    tile_use_pch_in_executable(${name})
    tile_map_libs(libs ${ARG_LINK_LIBS})
    target_link_libraries(${name} PRIVATE ${libs})
    tile_link_llvm(${name})
  endif()
endfunction()

# tile_add_unittest(Name A.cpp ... LINK_LIBS libs [NO_LLVM])
function(tile_add_unittest name)
  cmake_parse_arguments(ARG "NO_LLVM" "" "LINK_LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_NO_LLVM)
    target_link_libraries(${name} PRIVATE tile_flags ${ARG_LINK_LIBS})
  else()
    tile_use_pch_in_executable(${name})
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
