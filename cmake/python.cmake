# The generated part of the Python package: scenario classes and tables of keys and of old names, which the program
# describes. Git ignores them. Every build of the program writes them; `--target clean` removes them.
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.11 COMPONENTS Interpreter QUIET)
set(scenario ${PROJECT_SOURCE_DIR}/python/garra/scenario)
set(generator ${PROJECT_SOURCE_DIR}/tools/scenario_classes.py)
if(CMAKE_CROSSCOMPILING)
  message(STATUS "garra: cross-compiling, so a program of this machine has to write the Python package: ${generator} PROGRAM")
elseif(Python_Interpreter_FOUND)
  add_custom_command(TARGET garra_cli POST_BUILD COMMAND ${Python_EXECUTABLE} ${generator} $<TARGET_FILE:garra_cli>
    BYPRODUCTS ${scenario}/__init__.py ${scenario}/renamed.json ${scenario}/schema.json VERBATIM)
  set_property(TARGET garra_cli APPEND PROPERTY LINK_DEPENDS ${generator})
else()
  message(STATUS "garra: no Python 3.11, so reports are not made")
endif()

# The compiled part: garra._core. GARRA_PYTHON_MODULE: ON, OFF, or AUTO where the Python of .venv has
# nanobind and its own headers. `pip install .` comes here through scikit-build-core, which sets SKBUILD.
set(module OFF)
if(PROJECT_IS_TOP_LEVEL)
  set(module AUTO)
endif()
set(GARRA_PYTHON_MODULE ${module} CACHE STRING "Build the Python module: ON, OFF, or AUTO")
if(GARRA_PYTHON_MODULE STREQUAL "OFF")
  return()
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule QUIET)
if(Python_FOUND)
  # Without it nanobind leaves STABLE_ABI out, and says nothing. On Linux it is the headers; CMake before 3.26 does not know it.
  if(NOT TARGET Python::SABIModule AND CMAKE_VERSION VERSION_LESS 3.26)
    add_library(Python::SABIModule INTERFACE IMPORTED)
  endif()
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
    OUTPUT_VARIABLE nanobind_ROOT ERROR_QUIET)
  find_package(nanobind CONFIG QUIET)
endif()
if(NOT nanobind_FOUND)
  if(GARRA_PYTHON_MODULE STREQUAL "AUTO")
    message(STATUS "garra: no Python 3.11 with headers and nanobind, so the Python module is not built")
    return()
  endif()
  message(FATAL_ERROR "garra: the Python module needs Python 3.11 or later with headers, and nanobind")
endif()

# STABLE_ABI holds from Python 3.12 on; for 3.11 nanobind makes a module of that version alone.
file(GLOB GARRA_PYTHON_SOURCES CONFIGURE_DEPENDS python/module/*.cpp)
nanobind_add_module(garra_python NB_STATIC STABLE_ABI python/module/arrays.hpp ${GARRA_PYTHON_SOURCES}
  src/singularity/command/answer_json.cpp)
set_target_properties(garra_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/garra)
target_include_directories(garra_python PRIVATE src)
target_link_libraries(garra_python PRIVATE garra nlohmann_json::nlohmann_json)
if(NOT GARRA_ISAS)  # it is in libgarra-host.so then
  target_link_libraries(garra_python PRIVATE garra_mncp)
endif()
target_compile_options(garra_python PRIVATE $<IF:$<BOOL:${GARRA_ISAS}>,-Os,-O1>)  # it hands arrays over
set(stub_needs garra_python)
if(GARRA_ISAS)
  garra_runs_on_older_linux(garra_python)
  target_link_options(garra_python PRIVATE -Wl,--no-as-needed -Wl,-z,now)
  target_link_libraries(garra_python PRIVATE garra_name garra-host_name)
  # To be loaded once, where it is made: by the names that the package's __init__.py gives these libraries.
  set(stub_needs garra_python garra_v2 garra_host)
  set_target_properties(garra_python PROPERTIES BUILD_RPATH ${PROJECT_BINARY_DIR}/stub)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/stub/libgarra.so DEPENDS ${stub_needs}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/stub
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:garra_v2> ${PROJECT_BINARY_DIR}/stub/libgarra.so
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:garra_host> ${PROJECT_BINARY_DIR}/stub/libgarra-host.so)
  list(APPEND stub_needs ${PROJECT_BINARY_DIR}/stub/libgarra.so)
endif()
nanobind_add_stub(garra_python_stub MODULE _core OUTPUT ${PROJECT_BINARY_DIR}/python/garra/_core.pyi
  PYTHON_PATH $<TARGET_FILE_DIR:garra_python> DEPENDS ${stub_needs})

# What a wheel holds beside the files of python/garra that Git has: generated ones, module, program, example data where the program looks for it.
if(SKBUILD)
  install(TARGETS garra_python LIBRARY DESTINATION garra COMPONENT python)
  install(FILES ${PROJECT_BINARY_DIR}/python/garra/_core.pyi DESTINATION garra COMPONENT python)
  install(TARGETS garra_cli RUNTIME DESTINATION garra/bin COMPONENT python)
  install(DIRECTORY ${scenario} DESTINATION garra COMPONENT python PATTERN __pycache__ EXCLUDE)
  if(GARRA_ISAS)
    install(TARGETS garra_host garra_isa ${garra_isa_targets} LIBRARY DESTINATION garra/lib COMPONENT python)
  endif()
  install(DIRECTORY data/papers data/platforms data/robots data/scenarios data/sets data/screws DESTINATION garra/data COMPONENT python)
  include(cmake/notices.cmake)
  install(FILES ${GARRA_NOTICES} DESTINATION garra COMPONENT python)
endif()
