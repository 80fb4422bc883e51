# Backends are the folders of third_party/ that have a CMakeLists.txt. Each one
# declares its library with tile_register_backend(<folder> <library>) and defines
#   namespace mlir::triton::backends::<folder> {
#   void registerDialects(DialectRegistry &);   // and extensions, translations
#   void registerPasses();                      // passes and pipelines
#   std::vector<TargetRow> getTargets();        // the table, for Python
#   }
# The generated tile/Backends.inc lists them, so that a new backend touches no
# file outside its folder.

file(GLOB backend_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/third_party/*/CMakeLists.txt)
set(TILE_BACKENDS)
set(backends_inc "")
foreach(file ${backend_files})
  get_filename_component(dir ${file} DIRECTORY)
  get_filename_component(name ${dir} NAME)
  list(APPEND TILE_BACKENDS ${name})
  string(APPEND backends_inc "TILE_BACKEND(${name})\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/tile/Backends.inc CONTENT "${backends_inc}" @ONLY)

add_library(tile_backends INTERFACE)

function(tile_register_backend name library)
  target_link_libraries(tile_backends INTERFACE ${library})
endfunction()

macro(tile_add_backends)
  # mlir_tablegen takes its include path from the directory.
  include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  include_directories(SYSTEM ${MLIR_INCLUDE_DIRS})
  foreach(name ${TILE_BACKENDS})
    add_subdirectory(third_party/${name})
  endforeach()
endmacro()
