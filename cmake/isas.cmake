# What a wheel holds (GARRA_ISAS): loops over lanes once for each instruction set, and everything else once or twice.
#
#   lib/libgarra-v3.so, -v4.so   the loops over lanes. To the loader each is called libgarra-lanes.so, so a process has one of them
#   lib/libgarra-fma.so          all else that computes, for x86-64-v3; needs "libgarra-lanes.so"
#   lib/libgarra-v2.so           all that computes, without lanes. To the loader this one or -fma is libgarra.so
#   lib/libgarra-host.so         files, words, the program but for its main(); needs "libgarra.so"
#   lib/libgarra-cuda.so         the kernels and CUDA's runtime, with GARRA_CUDA=ON; needs "libgarra.so", and no driver to be loaded
#   lib/libgarra-isa.so          says which of them run here (cli/launch/choose.hpp)
#   _core...so                   the Python module; needs "libgarra.so" and "libgarra-host.so"
#   bin/garra                    loads them one after the other
#
# Each library keeps to itself what others do not ask for (exports.cmake): functions of headers are compiled into every one of
# them, and a process must not take one that its processor cannot run.
set(folder ${PROJECT_BINARY_DIR}/isas)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${folder}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${folder}/bin)

# Names for the linker: what they stand for is made last, since what it exports is what the others need of it.
file(WRITE ${PROJECT_BINARY_DIR}/nothing.c "")
foreach(name garra garra-host garra-lanes)
  add_library(${name}_name SHARED ${PROJECT_BINARY_DIR}/nothing.c)
  set_target_properties(${name}_name PROPERTIES OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/names)
endforeach()

# Small rather than fast where nobody waits: what runs seconds, methods for comparison, the tail of hard problems.
set(GARRA_SMALL -Os -ffunction-sections -fdata-sections)
set(GARRA_LINKED_SMALL -Wl,--gc-sections,-z,now,--strip-all,--hash-style=gnu,--as-needed)

# glibc 2.28 and the libstdc++ of GCC 8 are enough then (manylinux_2_28). What libstdc++ did not have yet each library has within
# itself, hidden; what is thrown from one to another is known by the names of its type.
find_package(Python 3.11 COMPONENTS Interpreter REQUIRED)
set(GARRA_OLDER ${PROJECT_BINARY_DIR}/older_linux)
execute_process(COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/older_linux.py names ${GARRA_OLDER} ${CMAKE_C_COMPILER}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE GARRA_STATIC_LIBSTDCXX COMMAND_ERROR_IS_FATAL ANY)
string(JOIN " " CMAKE_CXX_STANDARD_LIBRARIES ${GARRA_OLDER}/libstdc++.so.6 ${GARRA_STATIC_LIBSTDCXX} -Wl,--exclude-libs,libstdc++.a
  ${GARRA_OLDER}/libm.so.6 ${GARRA_OLDER}/libc.so.6 -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--pop-state)
set_source_files_properties(cmake/older_linux.c PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
function(garra_runs_on_older_linux target)
  target_sources(${target} PRIVATE cmake/older_linux.c)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
endfunction()

function(garra_keeps_to_itself target map)
  garra_runs_on_older_linux(${target})
  target_link_options(${target} PRIVATE ${GARRA_LINKED_SMALL} -Wl,--version-script=${map})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

function(garra_exports map)  # those that the linked libraries ARGN need
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${map} DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/exports.cmake
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DMAP=${map} "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/exports.cmake VERBATIM)
endfunction()

# --- everything else, for any of these processors -----------------------------------------------------------------------------
add_library(garra_generate OBJECT ${GARRA_GENERATE_SOURCES} src/chain/generate/generated_header.cpp)
target_include_directories(garra_generate PRIVATE src)
target_link_libraries(garra_generate PRIVATE garra garra_warnings)
add_library(garra_host SHARED $<TARGET_OBJECTS:garra_generate> $<TARGET_OBJECTS:garra_io>
  $<TARGET_OBJECTS:garra_commands> $<TARGET_OBJECTS:garra_mncp>)
set_target_properties(garra_host PROPERTIES OUTPUT_NAME garra-host LINKER_LANGUAGE CXX)
target_link_libraries(garra_host PRIVATE garra garra_warnings ${GARRA_LINKED}
  -Wl,--no-as-needed garra_name)
garra_keeps_to_itself(garra_host ${PROJECT_BINARY_DIR}/host.map)
target_compile_definitions(garra_mncp PRIVATE GARRA_QUICK_COMPILE)
foreach(target garra_host garra_generate garra_io garra_commands garra_mncp)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition ${GARRA_SMALL})
endforeach()

# --- all that computes ----------------------------------------------------------------------------------------------------------
list(FILTER GARRA_SOURCES EXCLUDE REGEX "/src/chain/generate/")
set(merits papers_merit products_merit fischer_burmeister_merit second_order_cone_merit)
list(TRANSFORM merits REPLACE "(.+)" "src/contact/instances/\\1.cpp" OUTPUT_VARIABLE merit_sources)
set(GARRA_RARE src/singularity/instances/ranks.cpp src/singularity/instances/large.cpp
  src/chain/instances/reach_large.cpp src/chain/instances/eval_varying.cpp ${merit_sources} src/contact/instances/extragradient.cpp
  src/contact/instances/nsgs.cpp src/contact/instances/admm.cpp src/platform/experiment/flops.cpp
  src/contact/balance/soft.cpp src/contact/instances/mixed.cpp src/grasp/instances/arm.cpp src/grasp/instances/set_soft.cpp
  src/grasp/instances/set_hand_soft.cpp)
# A fifth to a third smaller, no slower or by a few percent.
set(GARRA_NO_FASTER_LARGE src/contact/balance/wrench_resistance.cpp src/grasp/instances/balance.cpp src/grasp/instances/balance_torques.cpp)
foreach(source ${GARRA_RARE} ${GARRA_NO_FASTER_LARGE})
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
    message(FATAL_ERROR "garra: cmake/isas.cmake names ${source}, which there is not")
  endif()
endforeach()
set_source_files_properties(${GARRA_RARE} ${GARRA_NO_FASTER_LARGE} PROPERTIES COMPILE_OPTIONS -Os)
# Maps of arms that move with fewer than six freedoms, and of other arms than those of six and seven joints: a megabyte for each
# instruction set, as long as all is inlined. Searches for poses with more than seven joints; chains with numbers that differ from
# state to state.
set_source_files_properties(src/singularity/instances/ranks.cpp src/singularity/instances/large.cpp
  src/chain/instances/reach_large.cpp src/chain/instances/eval_varying.cpp
  PROPERTIES COMPILE_DEFINITIONS GARRA_QUICK_COMPILE)
set_source_files_properties(src/contact/gradient/contact_gradient.cpp src/grasp/instances/set_hand_balance.cpp PROPERTIES COMPILE_OPTIONS "")
# The tail of hard problems takes as long as all the others, and is on doubles.
set_source_files_properties(src/contact/instances/fallback.cpp src/contact/instances/fallback_soft.cpp PROPERTIES COMPILE_OPTIONS
  "$<$<STREQUAL:$<TARGET_PROPERTY:GARRA_ISA>,v3>:-O2;-ftree-vectorize>")
# Transpositions in registers of eight numbers, two of them on v3: no call of them leaves its file.
set_source_files_properties(src/base/rows.cpp src/chain/eval/buffer.cpp PROPERTIES COMPILE_OPTIONS "-O2;-Wno-psabi")
set_source_files_properties(${GARRA_EXACT_SOURCES} PROPERTIES COMPILE_OPTIONS -O1
  COMPILE_DEFINITIONS "EIGEN_DONT_VECTORIZE;Eigen=garra_eigen")
function(garra_computes target isa)
  set_target_properties(${target} PROPERTIES NO_SONAME ON GARRA_ISA ${isa} CXX_VISIBILITY_PRESET default
    VISIBILITY_INLINES_HIDDEN OFF)
  target_include_directories(${target} PRIVATE src)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition -ffunction-sections -fdata-sections ${GARRA_LANES_GCC})
  target_link_libraries(${target} PRIVATE garra garra_warnings nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus
    HDF5::HDF5 Eigen3::Eigen)
endfunction()

# Loops over lanes, and what goes with the width of a register.
file(GLOB GARRA_LANES_SOURCES CONFIGURE_DEPENDS src/*/instances/*.cpp)
list(FILTER GARRA_LANES_SOURCES EXCLUDE REGEX "/fallback(_large)?\\.cpp$")
list(APPEND GARRA_LANES_SOURCES src/base/extent.cpp src/base/instruction_set.cpp src/base/interrupt.cpp src/base/large.cpp
  src/base/rows.cpp
  src/contact/balance/wrench_resistance.cpp src/contact/balance/soft.cpp src/contact/balance/pads.cpp src/contact/batch/rows.cpp src/contact/gradient/contact_gradient.cpp src/contact/lcp/lcp_solve.cpp
  src/accuracy/study.cpp src/chain/rates/joint_rates.cpp src/contact/merit/merit.cpp
  src/grasp/study/grasp_study.cpp src/grasp/time/analyze.cpp src/grasp/time/motion.cpp
  src/platform/batch/dynamics.cpp src/platform/batch/full.cpp src/platform/batch/full_dynamics.cpp
  src/platform/batch/inverse.cpp src/platform/batch/kinematics.cpp src/platform/batch/modes.cpp
  src/platform/simulate/platform_simulation.cpp src/platform/simulate/full.cpp src/platform/study/platform_samples.cpp)
foreach(isa v3 v4)
  add_library(garra_${isa} SHARED ${GARRA_LANES_SOURCES})
  set_target_properties(garra_${isa} PROPERTIES OUTPUT_NAME garra-${isa})
  garra_computes(garra_${isa} ${isa})
  # A fifth smaller than at -O3. Loops are long here, so that nothing is gained where they begin at even addresses.
  target_compile_options(garra_${isa} PRIVATE -O2 -fno-align-loops -fno-align-jumps)
  target_compile_definitions(garra_${isa} PRIVATE GARRA_SCALAR_ELSEWHERE)
  target_link_options(garra_${isa} PRIVATE -Wl,-soname,libgarra-lanes.so -Wl,-z,defs)
  garra_keeps_to_itself(garra_${isa} ${PROJECT_SOURCE_DIR}/cmake/lanes.map)
  list(APPEND garra_isa_targets garra_${isa})
endforeach()

# Everything else: loops over doubles are a reference, so they are small rather than fast.
function(garra_whole target isa)
  add_library(${target} SHARED ${ARGN} ${GARRA_EXACT_SOURCES} ${GARRA_STUDY_SOURCES})
  garra_computes(${target} ${isa})
  target_compile_options(${target} PRIVATE -Os)
  target_compile_definitions(${target} PRIVATE GARRA_QUICK_COMPILE)
  target_link_options(${target} PRIVATE -Wl,-soname,libgarra.so)
  garra_keeps_to_itself(${target} ${PROJECT_BINARY_DIR}/garra.map)
endfunction()
garra_whole(garra_v2 v2 ${GARRA_SOURCES})
set_target_properties(garra_v2 PROPERTIES OUTPUT_NAME garra-v2)
list(FILTER GARRA_SOURCES EXCLUDE REGEX "/src/base/(extent|instruction_set|interrupt|large|rows)\\.cpp$")
garra_whole(garra_fma v3 ${GARRA_SOURCES})
set_target_properties(garra_fma PROPERTIES OUTPUT_NAME garra-fma)
target_compile_definitions(garra_fma PRIVATE GARRA_LANES_ELSEWHERE)
target_link_libraries(garra_fma PRIVATE -Wl,--no-as-needed garra-lanes_name)
foreach(isa v3 v4)
  add_dependencies(garra_fma garra_${isa})
  add_custom_command(TARGET garra_fma POST_BUILD COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DASKS=$<TARGET_FILE:garra_fma>
    -DLANES=$<TARGET_FILE:garra_${isa}> -P ${PROJECT_SOURCE_DIR}/cmake/lanes_check.cmake VERBATIM)
endforeach()
list(APPEND garra_isa_targets garra_v2 garra_fma)

# --- the kernels ----------------------------------------------------------------------------------------------------------------
# They announce themselves to whatever is libgarra.so (garra/batch/on_device.hpp). What they write there is one variable in the
# whole process, since all libraries that have it show it (STB_GNU_UNIQUE).
if(GARRA_WITH_CUDA)
  # One text of PTX for all, which the driver translates for a GPU that has no code of its own here. Such code for the generations
  # with fast double precision; 8.6 and 8.9 run that of 8.0. What is rare waits for the driver once, or the wheel would be larger
  # than its 60 MB.
  set(generations 80 90 100)
  list(TRANSFORM generations PREPEND sm_ OUTPUT_VARIABLE images)
  list(JOIN images "," images)
  list(TRANSFORM generations APPEND 0 OUTPUT_VARIABLE numbers)
  list(JOIN numbers "\\," numbers)
  set(rare contact/admm contact/affine contact/balance_soft contact/extragradient contact/mixed contact/newton_large contact/nsgs
    grasp/arm grasp/set_soft grasp/set_hand_large grasp/set_hand_soft singularity/map_large chain/eval_sixteen chain/simulate_large)
  list(TRANSFORM rare REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/kernels/\\1.cu")
  list(TRANSFORM merits REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/kernels/contact/\\1.cu" OUTPUT_VARIABLE merit_kernels)
  list(APPEND rare ${merit_kernels})
  set(hot ${GARRA_KERNELS})
  list(REMOVE_ITEM hot ${rare})
  list(LENGTH rare rare_count)
  list(LENGTH hot hot_count)
  list(LENGTH GARRA_KERNELS kernel_count)
  math(EXPR gone "${rare_count} + ${hot_count} - ${kernel_count}")
  if(gone)
    message(FATAL_ERROR "garra: cmake/isas.cmake names ${gone} files of kernels that there are not")
  endif()
  set_target_properties(garra_kernels PROPERTIES CUDA_ARCHITECTURES OFF)
  include(CheckCompilerFlag)
  check_compiler_flag(CUDA --compress-mode=size GARRA_NVCC_COMPRESSES_FOR_SIZE)
  if(GARRA_NVCC_COMPRESSES_FOR_SIZE)
    target_compile_options(garra_kernels PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>")
  endif()
  target_compile_definitions(garra_kernels PRIVATE "GARRA_CUDA_IMAGES=${numbers}")
  set_property(SOURCE ${hot} APPEND PROPERTY COMPILE_OPTIONS "--generate-code=arch=compute_80,code=[compute_80,${images}]")
  set_property(SOURCE ${rare} APPEND PROPERTY COMPILE_OPTIONS "--generate-code=arch=compute_80,code=[compute_80]")
  add_library(garra_cuda SHARED ${PROJECT_BINARY_DIR}/nothing.c)
  set_target_properties(garra_cuda PROPERTIES OUTPUT_NAME garra-cuda LINKER_LANGUAGE CXX)
  target_link_libraries(garra_cuda PRIVATE ${GARRA_ALL_KERNELS} ${GARRA_CUDART} -Wl,--no-as-needed garra_name)
  garra_keeps_to_itself(garra_cuda ${PROJECT_BINARY_DIR}/cuda.map)
  garra_exports(${PROJECT_BINARY_DIR}/cuda.map)
  add_custom_target(garra_cuda_map DEPENDS ${PROJECT_BINARY_DIR}/cuda.map)
  list(APPEND garra_isa_targets garra_cuda)
  set(garra_cuda_target garra_cuda)
  set_source_files_properties(src/cli/launch/choose.cpp PROPERTIES COMPILE_DEFINITIONS GARRA_WITH_CUDA)
endif()

# --- which one, and the program -------------------------------------------------------------------------------------------------
add_library(garra_isa SHARED src/cli/launch/choose.cpp)
add_executable(garra_cli src/cli/launch/wheel_main.cpp src/cli/launch/choose.cpp)
set_target_properties(garra_isa PROPERTIES OUTPUT_NAME garra-isa CXX_VISIBILITY_PRESET default)
set_target_properties(garra_cli PROPERTIES OUTPUT_NAME garra)
foreach(target garra_isa garra_cli)  # for any x86-64: they say that a processor is too old
  target_include_directories(${target} PRIVATE src include)
  target_link_libraries(${target} PRIVATE garra_warnings ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE -Wl,--strip-all)
  garra_runs_on_older_linux(${target})
endforeach()
target_sources(garra_cli PRIVATE cmake/older_linux_main.c)
# What this machine's libgcc_s wants of its glibc is its own matter.
target_link_options(garra_cli PRIVATE -Wl,--wrap=__libc_start_main,--allow-shlib-undefined)
add_dependencies(garra_cli garra_host garra_isa ${garra_isa_targets})
set_target_properties(garra_cli PROPERTIES LINK_DEPENDS $<TARGET_FILE:garra_host>)  # what it describes is in there

include(cmake/python.cmake)
garra_exports(${PROJECT_BINARY_DIR}/host.map garra_python)
garra_exports(${PROJECT_BINARY_DIR}/garra.map garra_python garra_host ${garra_cuda_target})
# No target's dependency, or a library would be compiled only when the others are linked: ninja knows the files.
add_custom_target(garra_host_map DEPENDS ${PROJECT_BINARY_DIR}/host.map)
add_custom_target(garra_map DEPENDS ${PROJECT_BINARY_DIR}/garra.map)
