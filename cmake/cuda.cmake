# The CUDA kernels: compiled where nvcc is (GARRA_HAS_NVCC), linked into the programs (GARRA_WITH_CUDA) where a GPU is too, or
# where GARRA_CUDA is ON. Without them the library is complete except for the executor `cuda`, which then says so.
# GARRA_CUDA_SIMULATED: the tests, and a program garra-sim, have the kernels and a GPU that is a simulation (tests/support/simulated_gpu/);
# AUTO: where nvcc is and no GPU.
set(GARRA_CUDA_SIMULATED AUTO CACHE STRING "Tests run the kernels on a simulated GPU: ON, OFF, or AUTO")
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

if(GARRA_CUDA_SIMULATED STREQUAL "AUTO")
  set(GARRA_CUDA_SIMULATED OFF)
  if(GARRA_HAS_NVCC AND NOT GARRA_WITH_CUDA)
    set(GARRA_CUDA_SIMULATED ON)
  endif()
endif()

# nvcc 12.4 to 13.0 puts local arrays that are in use at once in one place (docs/howto/gpu.md). The option turns that
# pass of its optimizer off. nvcc 13.1.115 has no such defect and gets no option. The optimizer for compute_100 and
# newer does not know the option, prints that and goes on, and nvcc succeeds: the probe reads the output.
function(garra_keep_local_arrays_apart flags)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.1.115)
    return()
  endif()
  set(option -Xcicc=--Xopt,-disable-reuse-local-memory)
  include(CheckSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS ${option})
  foreach(CMAKE_CUDA_ARCHITECTURES ${GARRA_CUDA_ARCHITECTURES})
    string(MAKE_C_IDENTIFIER
      "GARRA_NVCC_${CMAKE_CUDA_COMPILER_VERSION}_KEEPS_LOCAL_ARRAYS_APART_FOR_${CMAKE_CUDA_ARCHITECTURES}" known)
    check_source_compiles(CUDA "__global__ void kernel(double* x) { *x = 1; }\nint main() {}" ${known}
      FAIL_REGEX "Unknown command line argument")
    if(NOT ${known})
      message(FATAL_ERROR "garra: nvcc ${CMAKE_CUDA_COMPILER_VERSION} puts local arrays that are in use at once in one place, and "
        "for the GPU architecture ${CMAKE_CUDA_ARCHITECTURES} that cannot be turned off, so kernels would give wrong results. "
        "Use nvcc 13.1.115 or newer (on PyPI: nvidia-cuda-nvcc, nvidia-nvvm, nvidia-cuda-crt), or compile for "
        "GARRA_CUDA_ARCHITECTURES=90-virtual, which the driver translates for newer GPUs.")
    endif()
  endforeach()
  set(${flags} ${${flags}} ${option} PARENT_SCOPE)
endfunction()

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
  # Flags of every file with kernels. -fmad=false: a multiply-add is fused only where the source says fma(), as on the CPU. nvcc
  # only warns of calls of functions that the GPU does not have, and makes code without a meaning of them: an error here.
  set(GARRA_CUDA_FLAGS -fmad=false --expt-relaxed-constexpr -Xcompiler=-ffp-contract=off -Werror=cross-execution-space-call)
  garra_keep_local_arrays_apart(GARRA_CUDA_FLAGS)
  set(GARRA_CUDART CUDA::cudart_static)
  if(GARRA_CUDA_SIMULATED)
    list(APPEND GARRA_CUDA_FLAGS --no-compress)  # PTX is read as it stands
    set(GARRA_CUDART garra_simulated_gpu)
    add_subdirectory(tests/support/simulated_gpu simulated_gpu)
  endif()
  target_compile_options(garra_kernels PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${GARRA_CUDA_FLAGS}>")
  # The assembler takes twice as long at its full effort for the methods that minimize a merit function, and makes a third more
  # code; neither spills, and stacks are the same (docs/notes/gpu.md). The optimizer before it is on in all files.
  set_source_files_properties(kernels/contact/papers_merit.cu kernels/contact/products_merit.cu
    kernels/contact/fischer_burmeister_merit.cu kernels/contact/second_order_cone_merit.cu PROPERTIES COMPILE_OPTIONS -Xptxas=-O1)
  if(GARRA_CUDA_VERBOSE)
    target_compile_options(garra_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
  endif()
  # All of them: they announce themselves (garra/batch/on_device.hpp), nobody calls them by name.
  set(GARRA_ALL_KERNELS $<LINK_LIBRARY:WHOLE_ARCHIVE,garra_kernels>)
  # Kernels need garra again, for memory and errors. Where garra itself brings them, two archives that name each other would
  # put all kernels into the program twice, which the linker refuses: there the second one is a name for the same file.
  if(GARRA_WITH_CUDA AND NOT GARRA_ISAS)  # a wheel has them in a library of their own
    target_link_libraries(garra PRIVATE ${GARRA_ALL_KERNELS} $<LINK_ONLY:CUDA::cudart_static>)
    add_library(garra_again STATIC IMPORTED GLOBAL)  # the package has its own (garra-config.cmake.in)
    set_target_properties(garra_again PROPERTIES IMPORTED_LOCATION ${PROJECT_BINARY_DIR}/libgarra.a)
    target_link_libraries(garra_again INTERFACE OpenMP::OpenMP_CXX ${GARRA_LINKED} tomlplusplus::tomlplusplus)
    target_link_libraries(garra_kernels PRIVATE $<LINK_ONLY:garra_again>)
  else()
    target_link_libraries(garra_kernels PRIVATE $<LINK_ONLY:$<TARGET_NAME:garra>>)
  endif()
endif()
