# What `make install` installs: three shared libraries, headers, programs, the IDL, pkg-config and CMake package files.
#
#   libtqrpc      runtime of calls and bytes, and the stubs of tq.v1 (one copy, for the two below)
#   libtqserver   controller and storage unit
#   libtq         what applications link
#
# Only TQ_PUBLIC functions and generated code are visible. The two upper libraries carry their own hidden copy of the
# internal pieces of the transport that they use (arena, map, ...); whatever is public they take from libtqrpc.

include(CMakePackageConfigHelpers)
add_custom_target(installed)

# tq_shared_library(NAME WHOLE lib ... [OVER shared ...] [PIECES lib ...] SYSTEM dep ...)
#     A shared library of all of WHOLE, linked against OVER; from PIECES only what is still missing, hidden.
function(tq_shared_library name)
    cmake_parse_arguments(arg "" "" "WHOLE;OVER;PIECES;SYSTEM" ${ARGN})
    list(TRANSFORM arg_OVER PREPEND shared_)
    foreach(part ${arg_WHOLE} ${arg_OVER} ${arg_PIECES})
        if(NOT TARGET ${part})
            message(STATUS "not installed: lib${name} (there is no ${part})")
            return()
        endif()
    endforeach()

    set(anchor "${PROJECT_BINARY_DIR}/generated/${name}_anchor.c")
    file(CONFIGURE OUTPUT "${anchor}" CONTENT "/* A shared library needs a source of its own. */\nextern int tq_anchor_;\n")
    set(target shared_${name})
    add_library(${target} SHARED "${anchor}")
    list(TRANSFORM arg_WHOLE REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE whole)
    list(TRANSFORM arg_PIECES REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE pieces)
    list(TRANSFORM arg_PIECES REPLACE "(.+)" "-Wl,--exclude-libs,lib\\1.a" OUTPUT_VARIABLE hidden)
    target_link_libraries(
        ${target} PRIVATE tq_flags -Wl,--whole-archive ${whole} -Wl,--no-whole-archive ${arg_OVER} ${pieces}
                          ${arg_SYSTEM})
    target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--as-needed -Wl,--exclude-libs,libprotobuf-nanopb.a ${hidden})
    add_dependencies(${target} ${arg_WHOLE} ${arg_PIECES})
    set_target_properties(
        ${target}
        PROPERTIES OUTPUT_NAME ${name}
                   VERSION ${PROJECT_VERSION}
                   SOVERSION ${PROJECT_VERSION_MAJOR}
                   INSTALL_RPATH "$ORIGIN"
                   LINK_DEPENDS "${whole};${pieces}"
                   LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
    add_dependencies(installed ${target})
    install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/package/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/package/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

# From a .pc file up to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH TQ_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(TQ_IDLDIR "${CMAKE_INSTALL_DATADIR}/tq/idl")
tq_shared_library(
    tqrpc
    WHOLE tq_base tq_wire tq_rpc tq_bulk tq_v1
    SYSTEM dep_nanopb dep_protobuf_c dep_zmq dep_ucx dep_isal dep_openssl dep_threads dep_m)
tq_shared_library(
    tqserver
    WHOLE tq_server_common tq_controller tq_storage
    OVER tqrpc
    PIECES tq_rpc tq_bulk tq_wire tq_base
    SYSTEM dep_nanopb dep_protobuf_c dep_zmq dep_ucx dep_isal dep_roaring dep_openssl dep_threads dep_m)
tq_shared_library(
    tq
    WHOLE tq_client
    OVER tqrpc
    PIECES tq_rpc tq_bulk tq_wire tq_base
    SYSTEM dep_nanopb dep_protobuf_c dep_zmq dep_ucx dep_isal dep_openssl dep_threads dep_m)

foreach(program tq tq-controller tq-storage tq-bench protoc-gen-tq)
    if(TARGET ${program})
        add_dependencies(installed ${program})
        install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    endif()
endforeach()

install(
    DIRECTORY transport/include/tq server/include/tq client/include/tq gen/v1/tq
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING
    PATTERN "*.h")
install(
    DIRECTORY idl/tq
    DESTINATION "${TQ_IDLDIR}"
    FILES_MATCHING
    PATTERN "*.proto")

set(TQ_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/tq")
configure_package_config_file(
    cmake/tqConfig.cmake.in "${PROJECT_BINARY_DIR}/package/tqConfig.cmake"
    INSTALL_DESTINATION "${TQ_CMAKEDIR}"
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR TQ_IDLDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/tqConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/tqConfig.cmake" "${PROJECT_BINARY_DIR}/package/tqConfigVersion.cmake"
              cmake/TqGenerate.cmake tests/fuzz/replay_main.c DESTINATION "${TQ_CMAKEDIR}")
