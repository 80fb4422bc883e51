# What a plugin's CMakeLists.txt finds with -DTile_DIR=<build folder>/lib/cmake/tile.
if(TILE_PLUGINS)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/TileConfig.cmake.in
                 ${PROJECT_BINARY_DIR}/lib/cmake/tile/TileConfig.cmake @ONLY)
endif()
