# Rooms are the folders of core. Each room is a library that links to, and includes headers of, only
# the rooms that it lists.
#
# tutti_room(NAME SOURCES file… [COLD_SOURCES file…] [KNOWS room…] [LINK library…] [HOT | COLD])
#
# defines the library core_NAME from files in core/NAME. KNOWS: all rooms whose headers these files
# include. The build fails if a file includes another room, or if a listed room is not used
# (check_room.cmake). LINK: external libraries, which only this room uses. HOT: every simulated
# schedule step needs the room, so it is optimized for speed. COLD: the speed of the room does not
# matter, so it is optimized for a fast build. COLD_SOURCES: files of another room for which this is
# true (compiler.cmake).
function(tutti_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "HOT;COLD" "" "SOURCES;COLD_SOURCES;KNOWS;LINK")
  add_library(core_${name} STATIC ${room_SOURCES})
  set(rooms)
  foreach(known IN LISTS room_KNOWS)
    # These are names without generator expressions, so that the exported CMake package can rename
    # the targets.
    if(known STREQUAL "proto")
      list(APPEND rooms tutti_proto)
    else()
      list(APPEND rooms core_${known})
    endif()
  endforeach()
  target_link_libraries(core_${name} PUBLIC tutti_flags fmt::fmt tl::expected PRIVATE ${rooms} ${room_LINK})
  use_common_headers(core_${name})
  if(room_HOT)
    optimize(core_${name} FOR_SPEED)
  elseif(room_COLD)
    optimize(core_${name} FOR_FAST_BUILD)
  else()
    optimize(core_${name} MODERATELY)
  endif()
  if(room_COLD_SOURCES)
    add_cold_sources(core_${name} ${room_COLD_SOURCES})
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
