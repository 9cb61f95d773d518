# A build with GARRA_CUDA=ON is configured, and what its program links is read: all kernels once, for the linker refuses them
# twice, then the archive whose functions they call.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -G Ninja -DCMAKE_MAKE_PROGRAM=${NINJA} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_BUILD_TYPE=Release -DGARRA_CUDA=ON -DGARRA_TESTS=OFF -DGARRA_BENCH=OFF -DGARRA_PYTHON_MODULE=OFF
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${NINJA} -C ${WORK} -t commands garra OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH " -o garra [^\n]*" link "${commands}")
string(REGEX MATCHALL "libgarra_kernels\\.a" kernels "${link}")
list(LENGTH kernels times)
if(NOT times EQUAL 1 OR NOT link MATCHES "libgarra_kernels\\.a .*libgarra\\.a .*libgomp")
  message(FATAL_ERROR "the program links its kernels ${times} times: ${link}")
endif()
