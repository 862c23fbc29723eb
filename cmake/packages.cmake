# The files to install, and the packages that `cpack` makes from them:
#   tutti         the command, data, documentation, manual pages, completion, the Python module
#   tutti-window  the desktop window
#   tutti-dev     headers and libraries of core and sim, a CMake package, a file for pkg-config,
#                 the schema of scenarios

install(DIRECTORY scenarios/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti COMPONENT tutti)
# The JSON Schemas of the commands' output, for programs.
install(DIRECTORY docs/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti/schema COMPONENT tutti)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tutti)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tutti
  PATTERN "decisions" EXCLUDE)

# Debian's packages refer to the text of the licence in /usr/share/common-licenses, and must not
# contain it. Therefore it belongs to a component that only `cmake --install` installs.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)

# Each package has its copyright, its changelog and the exceptions for lintian in the folders that
# Debian prescribes. The changelog in Debian's format refers to CHANGELOG.md.
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tutti)
find_program(GZIP_PROGRAM gzip)
set(CPACK_PACKAGE_CONTACT "The Tutti authors <tutti@localhost>")
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component tutti window dev)
  set(package tutti-${component})
  if(component STREQUAL "tutti")
    set(package tutti)
  endif()
  set(made ${CMAKE_CURRENT_BINARY_DIR}/debian/${package})
  install(FILES cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  install(FILES cmake/debian/${package}.lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
    RENAME ${package} COMPONENT ${component})
  configure_file(cmake/debian/changelog.in ${made}/changelog @ONLY)
  if(GZIP_PROGRAM)
    execute_process(COMMAND ${GZIP_PROGRAM} -9nc ${made}/changelog OUTPUT_FILE ${made}/changelog.gz)
    install(FILES ${made}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  endif()
endforeach()

# --- Libraries for other programs ---

get_target_property(rooms tutti_core INTERFACE_LINK_LIBRARIES)
# The last three rooms are needed by other rooms alone. CMake reports if a room is missing here.
set(libraries tutti_flags tutti_proto ${rooms} tutti_core core_edit tutti_sim core_formats core_synthesis core_tuner_table)
set(library_folder ${CMAKE_INSTALL_LIBDIR}/tutti)
install(TARGETS ${libraries} EXPORT TuttiTargets ARCHIVE DESTINATION ${library_folder} COMPONENT dev)
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti COMPONENT dev)
foreach(library IN LISTS libraries)
  string(REGEX REPLACE "^tutti_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/TuttiConfig.cmake.in TuttiConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti COMPONENT dev)

# The libraries have circular references, so no order of them links. They form a linker group
# instead.
set(archives)
foreach(library IN LISTS libraries)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(APPEND archives " -l${library}")
  endif()
endforeach()
# Relative to the file itself, because packages have another prefix than CMAKE_INSTALL_PREFIX.
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

install(DIRECTORY core sim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti COMPONENT dev FILES_MATCHING PATTERN "*.h"
  PATTERN "advice" EXCLUDE PATTERN "calibrate" EXCLUDE PATTERN "explore" EXCLUDE PATTERN "formats" EXCLUDE
  PATTERN "import" EXCLUDE PATTERN "sweep" EXCLUDE)
install(DIRECTORY core/proto DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti-dev/core COMPONENT dev
  FILES_MATCHING PATTERN "*.proto")

# --- Packages ---

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_VENDOR "Tutti")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator and emulator for collective algorithms")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL tutti dev)
if(TARGET tutti-view)
  list(APPEND CPACK_COMPONENTS_ALL window)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Without this setting, the permissions of installed folders depend on the umask of the user who
# makes the package.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_TUTTI_PACKAGE_NAME tutti)
set(CPACK_DEBIAN_TUTTI_PACKAGE_SECTION science)
set(CPACK_COMPONENT_TUTTI_DESCRIPTION "Tutti predicts what the collectives of distributed training cost on a cluster
that is described in a file, and replays them for real. This package has the
command, machines, models, documentation and the Python module.")
set(CPACK_DEBIAN_TUTTI_PACKAGE_RECOMMENDS "python3-numpy")
set(CPACK_DEBIAN_TUTTI_PACKAGE_SUGGESTS "python3-pandas, tutti-window")
if(TUTTI_PYTHON_FOUND)
  set(CPACK_DEBIAN_TUTTI_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_SOURCE_DIR}/cmake/debian/postinst ${CMAKE_CURRENT_SOURCE_DIR}/cmake/debian/prerm)
  # The compiled module is for one version of Python.
  math(EXPR next_minor "${TUTTI_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_TUTTI_PACKAGE_DEPENDS
    "python3 (>= ${TUTTI_PYTHON_MAJOR}.${TUTTI_PYTHON_MINOR}), python3 (<< ${TUTTI_PYTHON_MAJOR}.${next_minor})")
endif()

set(CPACK_DEBIAN_WINDOW_PACKAGE_NAME tutti-window)
set(CPACK_DEBIAN_WINDOW_PACKAGE_SECTION science)
set(CPACK_DEBIAN_WINDOW_PACKAGE_DEPENDS "tutti (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_WINDOW_DESCRIPTION "desktop window of Tutti
It shows timelines of simulated and real collectives, compares them, and edits
scenarios.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME tutti-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libexpected-dev, libfmt-dev, libprotobuf-dev, libpugixml-dev, libsqlite3-dev, zlib1g-dev, tutti (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "libraries of Tutti for other programs
Headers and static libraries that read scenarios, plan and simulate them, with
a CMake package, a file for pkg-config, and the schema of scenarios.")
include(CPack)
