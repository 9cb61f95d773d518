# The CUDA kernels: compiled where nvcc is (GARRA_HAS_NVCC), linked into the programs (GARRA_WITH_CUDA) where a GPU is too, or
# where GARRA_CUDA is ON. Without them the library is complete except for the executor `cuda`, which then says so.
option(GARRA_CUDA_VERBOSE "Print what every kernel uses: registers, stack, spills" OFF)
if(GARRA_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)  # also refuses an nvcc that does not get along with the host compiler
  set(GARRA_HAS_NVCC OFF)
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE nvcc_version)
    if(nvcc_version MATCHES "release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 12)  # the first with C++20
      set(GARRA_HAS_NVCC ON)
    endif()
  endif()
  file(GLOB gpus /dev/nvidia[0-9]*)
  set(GARRA_WITH_CUDA OFF)
  if(NOT GARRA_HAS_NVCC)
    message(STATUS "garra: nvcc 12 or later not found, building without the CUDA kernels")
  elseif(gpus)
    set(GARRA_WITH_CUDA ON)
  else()
    message(STATUS "garra: no GPU here, so the programs get no CUDA kernels (-DGARRA_CUDA=ON gives them)")
  endif()
else()
  set(GARRA_WITH_CUDA ${GARRA_CUDA})
  set(GARRA_HAS_NVCC ${GARRA_CUDA})
endif()

if(GARRA_HAS_NVCC)
  set(CMAKE_CUDA_ARCHITECTURES ${GARRA_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 and later speak C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
  file(GLOB GARRA_KERNELS CONFIGURE_DEPENDS kernels/*/*.cu)
  add_library(garra_kernels STATIC ${GARRA_KERNELS})
  set_target_properties(garra_kernels PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(garra_kernels PRIVATE kernels src include)
  # -fmad=false: a multiply-add is fused only where the source says fma(), as on the CPU.
  target_compile_options(garra_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr
    -Xcompiler=-ffp-contract=off>)
  # The assembler takes minutes at its full effort for the methods that minimize a merit function, which are not the fast path.
  set_source_files_properties(kernels/contact/box_quacan.cu kernels/contact/spg.cu kernels/contact/projected_lm.cu
    kernels/contact/fischer_burmeister.cu PROPERTIES COMPILE_OPTIONS -Xptxas=-O1)
  if(GARRA_CUDA_VERBOSE)
    target_compile_options(garra_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
  endif()
  target_link_libraries(garra_kernels PRIVATE CUDA::cudart_static)
  if(GARRA_WITH_CUDA)  # all of them: they announce themselves (garra/batch/on_device.hpp), nobody calls them by name
    target_link_libraries(garra PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,garra_kernels>)
  endif()
  target_link_libraries(garra_kernels PRIVATE $<LINK_ONLY:$<TARGET_NAME:garra>>)  # what fits into memory, errors
endif()
