# Writes the linker's list of what a library shows: where kernels are left (garra/batch/on_device.hpp), and the names of garra that
# the linked libraries FILES need and do not have. All else
# stays within it, or the loader could take a header's function, compiled for another instruction set, out of another library.
set(names garra_program "_ZN5garra5batch6LaunchI*7kernelsE" _ZN5garra12cuda_runtimeE)
foreach(file ${FILES})
  execute_process(COMMAND ${NM} -D --undefined-only --format=posix ${file} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "_Z[A-Za-z0-9_]*5garra[A-Za-z0-9_.]*" found "${lines}")
  list(APPEND names ${found})
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)
list(JOIN names ";\n  " text)
file(WRITE ${MAP} "{ global:\n  ${text};\n  local: *;\n};\n")
