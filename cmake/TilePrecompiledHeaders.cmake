# Precompiled headers. They halve what a clean build takes (docs/building.md).
#
# tile_pch           headers of LLVM and MLIR that nearly every translation unit includes
# tile_dialect_pch   on top of it: the dialects tt and ttg, which three of four include
#
# Backends and the simulator make further ones with tile_add_pch.
#
# A precompiled header names the absolute path of each file it was made of, and clang opens these
# files when the header is used. So one from a cache must not name files of a checkout. `tile_pch`
# is made of installed headers only: ccache shares it between all clones. The others are made anew
# in each clone, in a second or two. A digest of the contents lies beside each, and ccache looks at
# the digest instead (CCACHE_PCH_EXTSUM): so the objects are shared between all clones.

# The last one is what the precompiled header is made of; the others come before it.
set(TILE_PCH_HEADERS
  llvm/ADT/MapVector.h
  llvm/ADT/STLExtras.h
  llvm/ADT/SetVector.h
  llvm/ADT/SmallVector.h
  llvm/ADT/StringRef.h
  llvm/ADT/TypeSwitch.h
  llvm/IR/Module.h
  llvm/Support/DebugLog.h
  llvm/Support/MathExtras.h
  llvm/Support/raw_ostream.h
  mlir/Analysis/DataFlowFramework.h
  mlir/Bytecode/BytecodeOpInterface.h
  mlir/Conversion/LLVMCommon/Pattern.h
  mlir/Dialect/Arith/IR/Arith.h
  mlir/Dialect/LLVMIR/LLVMDialect.h
  mlir/Dialect/SCF/IR/SCF.h
  mlir/IR/Builders.h
  mlir/IR/BuiltinAttributes.h
  mlir/IR/BuiltinOps.h
  mlir/IR/BuiltinTypes.h
  mlir/IR/Dialect.h
  mlir/IR/DialectImplementation.h
  mlir/IR/Dominance.h
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
set(TILE_PCH_OBJECT ${PROJECT_BINARY_DIR}/CMakeFiles/tile_pch.dir${TILE_PCH_OBJECT}.o)
set_target_properties(tile_pch PROPERTIES TILE_PCH_FILE ${TILE_PCH_OBJECT} TILE_PCH_STAMP ${TILE_PCH_OBJECT})

# tile_add_pch(name HEADERS a.h ... FLAGS library [ON pch] [INCLUDES folders] [DEPENDS targets])
# FLAGS: the interface library whose flags all users of the header have.
# ON: the precompiled header below this one.
function(tile_add_pch name)
  cmake_parse_arguments(ARG "" "FLAGS;ON" "HEADERS;INCLUDES;DEPENDS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.h)
  set(pch ${CMAKE_CURRENT_BINARY_DIR}/${name}.pch)
  list(TRANSFORM ARG_HEADERS REPLACE "(.+)" "#include <\\1>" OUTPUT_VARIABLE includes)
  list(JOIN includes "\n" includes)
  file(CONFIGURE OUTPUT ${source} CONTENT "${includes}\n" @ONLY)

  add_library(${name}_object OBJECT ${source})
  set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)
  set_target_properties(${name}_object PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_link_libraries(${name}_object PRIVATE ${ARG_FLAGS})
  target_include_directories(${name}_object PRIVATE ${ARG_INCLUDES})
  target_compile_options(${name}_object PRIVATE -fno-exceptions -x c++-header)
  if(ARG_DEPENDS)
    add_dependencies(${name}_object ${ARG_DEPENDS})
  endif()
  set(below)
  if(ARG_ON)
    tile_use_pch(${name}_object ${ARG_ON})
    get_target_property(below ${ARG_ON} TILE_PCH_FILE)
  endif()

  # ccache knows a precompiled header by the extension of its name.
  set(object $<TARGET_OBJECTS:${name}_object>)
  set(digest ${PROJECT_SOURCE_DIR}/cmake/DigestOfHeader.cmake)
  add_custom_command(
    OUTPUT ${pch}.sum
    COMMAND ${CMAKE_COMMAND} -DCLANG=${CMAKE_CXX_COMPILER} -DOBJECT=${object} -DBELOW=${below}
            -DPCH=${pch} -P ${digest}
    DEPENDS ${object} ${digest}
    COMMENT "Digest of ${name}"
    VERBATIM)
  add_custom_target(${name} DEPENDS ${pch}.sum)
  set_target_properties(${name} PROPERTIES TILE_PCH_FILE ${pch} TILE_PCH_STAMP ${pch}.sum)
endfunction()

# The sources of `name` use the precompiled header `pch`, but for those that have CMake's property
# SKIP_PRECOMPILE_HEADERS.
function(tile_use_pch name pch)
  get_target_property(file ${pch} TILE_PCH_FILE)
  get_target_property(stamp ${pch} TILE_PCH_STAMP)
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    get_source_file_property(skip ${source} SKIP_PRECOMPILE_HEADERS)
    if(NOT skip)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Winvalid-pch -include-pch ${file})
      set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${stamp})
    endif()
  endforeach()
  add_dependencies(${name} ${pch})
endfunction()

tile_add_pch(tile_dialect_pch ON tile_pch FLAGS tile_mlir_flags DEPENDS tile-headers
  HEADERS
    tile/Dialect/Triton/IR/Dialect.h
    tile/Dialect/TritonGPU/IR/Dialect.h
    tile/Dialect/TritonGPU/IR/TargetModel.h)
