# Installs the built library to an empty place, runs what is installed there, then configures, builds and runs the foreign
# project against it.
function(step)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
step(${CMAKE_COMMAND} --install ${BUILT} --prefix ${WORK}/prefix)
step(${WORK}/prefix/bin/garra platform modes trepa_like)
step(${CMAKE_COMMAND} -S ${FOREIGN} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/foreign)
# Without CMake.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  file(GLOB_RECURSE pc ${WORK}/prefix/*/garra.pc)
  get_filename_component(folder ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${PKG_CONFIG} --static --cflags --libs garra OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  step(${CXX} ${FOREIGN}/platform.cpp ${flags} -o ${WORK}/by_pkg_config)
  step(${WORK}/by_pkg_config ${WORK}/prefix/share/garra/platforms/trepa_like.toml)
endif()
# As a Debian package.
find_program(DPKG dpkg-deb)
if(DPKG)
  step(${CMAKE_CPACK} --config ${BUILT}/CPackConfig.cmake -B ${WORK}/deb)
  file(GLOB package ${WORK}/deb/garra*.deb)
  step(${DPKG} --extract ${package} ${WORK}/unpacked)
  step(${WORK}/unpacked/usr/bin/garra platform modes trepa_like)
  # With a Python that has what the report needs, the page is made by the package that was unpacked.
  if(EXISTS ${PYTHON})
    set(ENV{GARRA_PYTHON} ${PYTHON})
    step(${WORK}/unpacked/usr/bin/garra run ${WORK}/unpacked/usr/share/garra/scenarios/soft_pinches.toml --samples 100 -o ${WORK}/run)
    if(NOT EXISTS ${WORK}/run/report.html)
      message(FATAL_ERROR "the program of the Debian package made no report")
    endif()
    # A program that was copied says what it lacks.
    file(COPY ${WORK}/unpacked/usr/bin/garra DESTINATION ${WORK}/copied/bin)
    execute_process(COMMAND ${WORK}/copied/bin/garra report ${WORK}/run RESULT_VARIABLE code ERROR_VARIABLE said)
    if(NOT code EQUAL 5 OR NOT said MATCHES "pip install garra")
      message(FATAL_ERROR "a copied program without its package ended with ${code}: ${said}")
    endif()
  endif()
endif()
step(${WORK}/build/foreign_platform ${WORK}/prefix/share/garra/platforms/trepa_like.toml)
