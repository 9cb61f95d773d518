# Fails where a library that has its loops over lanes elsewhere asks for one that LANES, for one instruction set, do not have: the
# linker sees a name in place of them, and only a processor with that set would tell.
function(names_of file which)
  execute_process(COMMAND ${NM} -D ${which} --format=posix ${file} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "_ZN5garra5batch10lanes_loop[A-Za-z0-9_.]*" found "${lines}")
  set(names ${found} PARENT_SCOPE)
endfunction()
names_of(${ASKS} --undefined-only)
set(missing ${names})
names_of(${LANES} --defined-only)
list(REMOVE_ITEM missing ${names})
if(missing)
  list(JOIN missing "\n  " text)
  message(FATAL_ERROR "${LANES} lacks loops over lanes (cmake/isas.cmake, GARRA_LANES_SOURCES; or a choice that depends on the width "
    "of a register):\n  ${text}")
endif()
