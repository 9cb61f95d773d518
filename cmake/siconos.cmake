# Siconos, a peer of the contact solvers: optional. Searched by hand: the CMake package in Debian names libraries that
# another package holds. garra_siconos is the process in which `garra contact bench` runs it.
find_path(SICONOS_INCLUDE_DIR siconos/numerics/NonSmoothDrivers.h)
find_path(SUITESPARSE_INCLUDE_DIR cs.h PATH_SUFFIXES suitesparse)  # the Siconos headers include it
find_library(SICONOS_NUMERICS_LIBRARY siconos_numerics)
mark_as_advanced(SICONOS_INCLUDE_DIR SUITESPARSE_INCLUDE_DIR SICONOS_NUMERICS_LIBRARY)

add_library(garra_peer_siconos STATIC EXCLUDE_FROM_ALL)
target_include_directories(garra_peer_siconos PUBLIC ${PROJECT_SOURCE_DIR}/bench)
target_link_libraries(garra_peer_siconos PRIVATE garra_numerics garra_warnings)
if(SICONOS_INCLUDE_DIR AND SUITESPARSE_INCLUDE_DIR AND SICONOS_NUMERICS_LIBRARY)
  set(GARRA_WITH_SICONOS TRUE)
  target_sources(garra_peer_siconos PRIVATE bench/peers/siconos.cpp)
  target_include_directories(garra_peer_siconos SYSTEM PRIVATE ${SICONOS_INCLUDE_DIR}/siconos
    ${SICONOS_INCLUDE_DIR}/siconos/numerics ${SUITESPARSE_INCLUDE_DIR})
  target_link_libraries(garra_peer_siconos PRIVATE ${SICONOS_NUMERICS_LIBRARY})
  add_executable(garra_siconos bench/peers/siconos_main.cpp)
  target_link_libraries(garra_siconos PRIVATE garra_peer_siconos garra garra_warnings)
  add_dependencies(garra_cli garra_siconos)
else()
  message(STATUS "Siconos not found (Debian: libsiconos-numerics-dev): benchmarks measure garra alone")
  target_sources(garra_peer_siconos PRIVATE bench/peers/siconos_absent.cpp)
endif()
