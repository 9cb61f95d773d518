# What `cmake --install` puts where, and what lets another project say find_package(garra) and link garra::garra.
include(CMakePackageConfigHelpers)
set(GARRA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/garra)

install(DIRECTORY include/garra DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(DIRECTORY data/platforms data/robots data/screws DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/garra)
install(TARGETS garra_cli EXPORT garra_targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(GARRA_WITH_SICONOS)
  install(TARGETS garra_siconos RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
set(GARRA_EXPORTED garra garra_numerics)
if(GARRA_WITH_CUDA)
  list(APPEND GARRA_EXPORTED garra_kernels)
endif()
install(TARGETS ${GARRA_EXPORTED} EXPORT garra_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT garra_targets NAMESPACE garra:: FILE garra-targets.cmake DESTINATION ${GARRA_PACKAGE_DIR})

configure_package_config_file(cmake/garra-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/garra-config.cmake
  INSTALL_DESTINATION ${GARRA_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/garra-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/garra-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/garra-config-version.cmake
  cmake/chain.cmake
  DESTINATION ${GARRA_PACKAGE_DIR})

if(GARRA_TESTS)
  add_test(NAME install.foreign_project COMMAND ${CMAKE_COMMAND}
    -DBUILT=${CMAKE_BINARY_DIR} -DFOREIGN=${CMAKE_SOURCE_DIR}/tests/install -DWORK=${CMAKE_BINARY_DIR}/tests/install
    -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    -DCXX_FLAGS=${CMAKE_CXX_FLAGS}
    -P ${CMAKE_SOURCE_DIR}/tests/install/run.cmake)
endif()
