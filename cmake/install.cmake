# What `cmake --install` puts where, and what lets another project say find_package(garra) and link garra::garra.
include(CMakePackageConfigHelpers)
set(GARRA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/garra)

install(DIRECTORY include/garra DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(DIRECTORY data/papers data/platforms data/robots data/scenarios data/screws data/sets
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/garra)
# What draws reports and gives work to dask clusters; for Python itself there is the wheel.
install(DIRECTORY python/garra DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/garra/python
  PATTERN __pycache__ EXCLUDE PATTERN "*.so" EXCLUDE)
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
  INSTALL_DESTINATION ${GARRA_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/garra-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/garra-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/garra-config-version.cmake
  cmake/chain.cmake
  DESTINATION ${GARRA_PACKAGE_DIR})

# For builds without CMake: pkg-config --static --cflags --libs garra. The flags are those of the library: others have other bits.
get_target_property(flags garra_numerics INTERFACE_COMPILE_OPTIONS)
string(REGEX MATCHALL "-(ffp|fno|march|mprefer)[-a-z0-9=]*" flags "${flags}")
string(REPLACE ";" " " GARRA_PC_FLAGS "${flags}")
file(RELATIVE_PATH GARRA_PC_TO_PREFIX ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/garra.pc.in ${CMAKE_CURRENT_BINARY_DIR}/garra.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/garra.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# cpack --config build/CPackConfig.cmake: a Debian package of what `cmake --install` puts there.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "garra developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-h5py, python3-jinja2, python3-matplotlib, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libhdf5-dev, libtinyxml2-dev, libtomlplusplus-dev, zlib1g-dev")
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()

# What a machine with a GPU builds: its programs have all kernels once, and garra's archive behind them.
if(GARRA_TESTS AND GARRA_HAS_NVCC AND CMAKE_GENERATOR STREQUAL Ninja)
  add_test(NAME install.programs_have_their_kernels_once COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
    -DWORK=${PROJECT_BINARY_DIR}/tests/with_cuda -DNINJA=${CMAKE_MAKE_PROGRAM} -DCXX=${CMAKE_CXX_COMPILER}
    -P ${PROJECT_SOURCE_DIR}/tests/install/with_cuda.cmake)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)  # the first that knows the architecture
    add_test(NAME install.architectures_that_nvcc_compiles_wrongly_are_refused COMMAND ${CMAKE_COMMAND}
      -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/tests/architecture -DNINJA=${CMAKE_MAKE_PROGRAM}
      -DCXX=${CMAKE_CXX_COMPILER} -DNVCC=${CMAKE_CUDA_COMPILER} -DNVCC_VERSION=${CMAKE_CUDA_COMPILER_VERSION}
      -P ${PROJECT_SOURCE_DIR}/tests/install/architecture.cmake)
  endif()
endif()

if(GARRA_TESTS)
  add_test(NAME install.foreign_project COMMAND ${CMAKE_COMMAND}
    -DBUILT=${PROJECT_BINARY_DIR} -DCMAKE_CPACK=${CMAKE_CPACK_COMMAND} -DFOREIGN=${PROJECT_SOURCE_DIR}/tests/install -DWORK=${PROJECT_BINARY_DIR}/tests/install
    -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    -DCXX_FLAGS=${CMAKE_CXX_FLAGS} -DPYTHON=${PROJECT_SOURCE_DIR}/.venv/bin/python
    -P ${PROJECT_SOURCE_DIR}/tests/install/run.cmake)
  add_test(NAME install.workflow_of_presets COMMAND ${CMAKE_COMMAND} --list-presets=workflow
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # Configured only: to compile the library again would take ten minutes.
  add_test(NAME install.part_of_another_project COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR}/tests/install/parent
    -B ${PROJECT_BINARY_DIR}/tests/parent --fresh -G ${CMAKE_GENERATOR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DGARRA=${PROJECT_SOURCE_DIR} -DGARRA_CUDA=OFF)
endif()
