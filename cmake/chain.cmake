# garra_generate_chain(TARGET target MODEL file NAME name [OPERATIONS ...] [OPTIONS ...])
#
# Writes, whenever the robot file or the program changes, a header <name>.hpp with straight-line code for that robot
# (docs/howto/chain-generated.md), and lets the target include it. MODEL is relative to the current source folder;
# OPERATIONS are those of `garra chain generate --operations`, all by default; OPTIONS go to the command as they are
# (--tip ...).
function(garra_generate_chain)
  cmake_parse_arguments(PARSE_ARGV 0 chain "" "TARGET;MODEL;NAME" "OPERATIONS;OPTIONS")
  foreach(needed TARGET MODEL NAME)
    if(NOT chain_${needed})
      message(FATAL_ERROR "garra_generate_chain: ${needed} is missing")
    endif()
  endforeach()
  if(chain_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "garra_generate_chain: what is ${chain_UNPARSED_ARGUMENTS}?")
  endif()
  set(program garra::garra_cli)
  if(TARGET garra_cli)  # in garra's own build
    set(program garra_cli)
  endif()
  get_filename_component(model ${chain_MODEL} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/garra_chains/${chain_TARGET})
  set(header ${folder}/${chain_NAME}.hpp)
  set(operations)
  if(chain_OPERATIONS)
    list(JOIN chain_OPERATIONS "," names)
    set(operations --operations ${names})
  endif()
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${program} chain generate ${model} -o ${header} --name ${chain_NAME} ${operations} ${chain_OPTIONS}
    DEPENDS ${program} ${model} VERBATIM
    COMMENT "Generating ${chain_NAME}.hpp from ${chain_MODEL}")
  target_sources(${chain_TARGET} PRIVATE ${header})
  target_include_directories(${chain_TARGET} PRIVATE ${folder})
endfunction()
