# tq_generate(TARGET t PROTOS file.proto ... [IMPORT_DIRS folder ...] [FUZZ])
#     Generates messages and stubs from the user's .proto files at build time and compiles them into target t. A file
#     greeter/echo.proto, named relative to one of IMPORT_DIRS (default: the current source folder), is then used as
#     #include "greeter/echo.tq.h". Imports are looked for in IMPORT_DIRS and among the .proto files of tq.
#     FUZZ: also makes a libFuzzer program of each fuzz target that the generator writes, for a build with clang.
include_guard(GLOBAL)

find_program(TQ_PROTOC protoc REQUIRED)

function(tq_generate)
    cmake_parse_arguments(arg "FUZZ" "TARGET" "PROTOS;IMPORT_DIRS" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET OR NOT arg_PROTOS)
        message(FATAL_ERROR "tq_generate(TARGET t PROTOS file.proto ... [IMPORT_DIRS folder ...] [FUZZ]): "
                            "wrong arguments: ${ARGN}")
    endif()
    if(NOT arg_IMPORT_DIRS)
        set(arg_IMPORT_DIRS "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()

    set(out "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_tq")
    file(MAKE_DIRECTORY "${out}")
    set(paths "")
    foreach(folder ${arg_IMPORT_DIRS})
        get_filename_component(folder "${folder}" ABSOLUTE)
        list(APPEND paths "-I${folder}")
    endforeach()
    list(APPEND paths "-I${TQ_IDLDIR}")

    # One run for all: the generator sees clashes between files only when it is given them together.
    set(names "")
    set(depends "")
    set(files "")
    foreach(proto ${arg_PROTOS})
        tq_find_proto("${proto}" "${arg_IMPORT_DIRS}" name path)
        list(APPEND names "${name}")
        list(APPEND depends "${path}")
        string(REGEX REPLACE "\\.proto$" "" stem "${name}")
        list(APPEND files "${out}/${stem}.pb-c.c" "${out}/${stem}.pb-c.h" "${out}/${stem}.tq.c" "${out}/${stem}.tq.h")
    endforeach()
    add_custom_command(
        OUTPUT ${files}
        COMMAND "${TQ_PROTOC}" ${paths} "--plugin=protoc-gen-tq=${TQ_PROTOC_GEN_TQ}" "--tq_out=${out}" ${names}
        DEPENDS ${depends} "${TQ_PROTOC_GEN_TQ}"
        COMMENT "protoc-gen-tq ${arg_TARGET}"
        VERBATIM)
    target_sources(${arg_TARGET} PRIVATE ${files})
    if(arg_FUZZ)
        tq_generate_fuzz("${arg_TARGET}" "${names}" "${depends}" "${out}" "${paths}")
    endif()
    target_include_directories(${arg_TARGET} PUBLIC "$<BUILD_INTERFACE:${out}>")
    target_link_libraries(${arg_TARGET} PUBLIC tq::tqrpc)
endfunction()

# ---- private ----

# The name by which protoc knows the file (relative to an import folder), and its whole path.
function(tq_find_proto proto folders out_name out_path)
    foreach(folder ${folders})
        get_filename_component(folder "${folder}" ABSOLUTE)
        get_filename_component(path "${proto}" ABSOLUTE BASE_DIR "${folder}")
        if(EXISTS "${path}")
            file(RELATIVE_PATH name "${folder}" "${path}")
            if(NOT name MATCHES "^\\.\\./")
                set(${out_name} "${name}" PARENT_SCOPE)
                set(${out_path} "${path}" PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
    message(FATAL_ERROR "tq_generate: ${proto} lies in none of IMPORT_DIRS: ${folders}")
endfunction()

# The fuzz targets of .proto files are known only to the generator, so it is asked when configuring. With clang each
# becomes a libFuzzer program; with another compiler a program that replays the inputs in a folder.
function(tq_generate_fuzz target names depends out paths)
    set(fuzz "${out}_fuzz")
    file(MAKE_DIRECTORY "${fuzz}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${depends} "${TQ_PROTOC_GEN_TQ}")
    execute_process(
        COMMAND "${TQ_PROTOC}" ${paths} "--plugin=protoc-gen-tq=${TQ_PROTOC_GEN_TQ}" "--tq_out=only_fuzz=1:${fuzz}"
                ${names} COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB_RECURSE sources "${fuzz}/*_fuzz.c")
    foreach(source ${sources})
        get_filename_component(program "${source}" NAME_WE)
        if(TARGET ${program})
            continue()
        endif()
        add_executable(${program} "${source}")
        target_link_libraries(${program} PRIVATE ${target})
        if(CMAKE_C_COMPILER_ID MATCHES "Clang")
            target_compile_options(${program} PRIVATE -fsanitize=fuzzer-no-link,address)
            target_link_options(${program} PRIVATE -fsanitize=fuzzer,address)
        else()
            target_sources(${program} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/replay_main.c")
        endif()
    endforeach()
endfunction()
