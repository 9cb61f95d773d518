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
step(${WORK}/build/foreign_platform ${WORK}/prefix/share/garra/platforms/trepa_like.toml)
