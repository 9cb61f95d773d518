# nvcc below 13.1.115 compiles for GPU architectures from 100 on wrongly (docs/howto/gpu.md), so a build for one is not
# configured.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} --fresh -G Ninja -DCMAKE_MAKE_PROGRAM=${NINJA}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CUDA_COMPILER=${NVCC} -DCMAKE_BUILD_TYPE=Release -DGARRA_CUDA=ON
  -DGARRA_CUDA_ARCHITECTURES=100-virtual -DGARRA_TESTS=OFF -DGARRA_EXAMPLES=OFF -DGARRA_BENCH=OFF -DGARRA_PYTHON_MODULE=OFF
  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
if(NVCC_VERSION VERSION_GREATER_EQUAL 13.1.115)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "nvcc ${NVCC_VERSION} was refused: ${error}")
  endif()
elseif(result EQUAL 0 OR NOT error MATCHES "Use nvcc[ \n]+13\\.1\\.115[ \n]+or[ \n]+newer")
  message(FATAL_ERROR "nvcc ${NVCC_VERSION} was not refused: ${error}")
endif()
