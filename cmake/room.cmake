# Rooms: the folders of core, each a library of its own that links and includes only the rooms that it names.
#
# tutti_room(NAME SOURCES file… [KNOWS room…] [LINK library…] [COLD])
#
# makes core_NAME of files in core/NAME. KNOWS: the rooms whose headers its files include, all of them. The build refuses any other
# include, and also a room that is named and not used (check_room.cmake). LINK: libraries of others, for its own files alone. COLD: nobody waits for its code
# (see compile_quickly).
function(tutti_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "COLD" "" "SOURCES;KNOWS;LINK")
  add_library(core_${name} STATIC ${room_SOURCES})
  set(rooms)
  foreach(known IN LISTS room_KNOWS)
    list(APPEND rooms $<IF:$<STREQUAL:${known},proto>,tutti_proto,core_${known}>)
  endforeach()
  target_link_libraries(core_${name} PUBLIC tutti_flags fmt::fmt tl::expected PRIVATE ${rooms} ${room_LINK})
  use_common_headers(core_${name})
  if(room_COLD)
    compile_quickly(core_${name})
  endif()

  set(folder ${PROJECT_SOURCE_DIR}/core/${name})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.h ${folder}/*.cpp)
  set(checked ${CMAKE_CURRENT_BINARY_DIR}/room_${name}.checked)
  list(JOIN room_KNOWS "," knows)
  add_custom_command(
    OUTPUT ${checked}
    COMMAND ${CMAKE_COMMAND} -D ROOM=${name} -D KNOWS=${knows} -D SOURCE=${PROJECT_SOURCE_DIR} -D STAMP=${checked}
            -P ${PROJECT_SOURCE_DIR}/cmake/check_room.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/check_room.cmake
    COMMENT "Reading the includes of core/${name}"
    VERBATIM)
  add_custom_target(core_${name}_includes DEPENDS ${checked})
  add_dependencies(core_${name} core_${name}_includes)
endfunction()
