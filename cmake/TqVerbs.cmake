# The verbs of our build files. Libraries of the system are used by the names of TqPackages.cmake (dep_zmq, dep_ucx,
# dep_protobuf_c, dep_nanopb, dep_openssl, dep_isal, dep_roaring, dep_dlpack, dep_cmocka, dep_threads, dep_m).
#
# tq_folders(FOLDER ...)
#     Subfolders, in this order; each takes part as soon as it has a build file.
# tq_library(NAME SOURCES ... [PUBLIC_USES ...] [USES ...] [GENERATED])
#     A static library, position independent, hidden symbols. GENERATED: machine-written code, all its symbols visible,
#     without our warnings.
# tq_program(NAME SOURCES ... USES ...)
#     A program, in BUILD/bin.
# tq_test(NAME SOURCES ... USES ... LABEL unit|sim|e2e|long [TIMEOUT s] [THREADS] [ENV VAR=value ...] [ARGS ...])
#     A cmocka program in BUILD/test-bin, with tests/support, registered with ctest. `make test-long` runs all unit tests under TSan too;
#     THREADS adds a test of another label to them.
# tq_test_script(NAME COMMAND ... LABEL unit|sim|e2e|long [TIMEOUT s] [DEPENDS target ...] [ENV VAR=value ...])
#     A test that is a script.
# tq_fuzz(NAME SOURCES ... USES ... [CORPUS dir])
#     LLVMFuzzerTestOneInput. NAME_replay runs the committed corpus as a test (label fuzz); with TQ_SANITIZE=fuzz NAME
#     is the libFuzzer program, in BUILD/fuzz-bin. The corpus is tests/fuzz/corpus/<NAME without _fuzz>.

# Everything of one kind, for the scripts in tools/dev: `programs`, and tests_LABEL for each label.
add_custom_target(programs)
foreach(label unit sim e2e long fuzz threads)
    add_custom_target(tests_${label})
endforeach()

function(tq_folders)
    foreach(folder ${ARGN})
        if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
            add_subdirectory(${folder})
        endif()
    endforeach()
endfunction()

function(tq_library name)
    cmake_parse_arguments(arg "GENERATED" "" "SOURCES;PUBLIC_USES;USES" ${ARGN})
    tq_check_arguments(tq_library ${name} "${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
    add_library(${name} STATIC ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${name} PUBLIC tq_flags ${arg_PUBLIC_USES} PRIVATE ${arg_USES})
    if(arg_GENERATED)
        target_compile_options(${name} PRIVATE -w)
    else()
        set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden)
        target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:tq_warnings>)
    endif()
endfunction()

function(tq_program name)
    cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
    tq_check_arguments(tq_program ${name} "${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE tq_flags tq_warnings ${arg_USES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    add_dependencies(programs ${name})
endfunction()

function(tq_test name)
    cmake_parse_arguments(arg "THREADS" "LABEL;TIMEOUT" "SOURCES;USES;ENV;ARGS" ${ARGN})
    tq_check_arguments(tq_test ${name} "${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE tq_flags tq_warnings ${arg_USES} test_support dep_cmocka)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test-bin")
    add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
    tq_test_properties(${name} "${arg_LABEL}" "${arg_TIMEOUT}" "${arg_ENV}")
    add_dependencies(tests_${arg_LABEL} ${name})
    if(arg_THREADS)
        set_property(TEST ${name} APPEND PROPERTY LABELS threads)
        add_dependencies(tests_threads ${name})
    endif()
endfunction()

function(tq_test_script name)
    cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "COMMAND;DEPENDS;ENV" ${ARGN})
    tq_check_arguments(tq_test_script ${name} "${arg_UNPARSED_ARGUMENTS}" "${arg_COMMAND}")
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    tq_test_properties(${name} "${arg_LABEL}" "${arg_TIMEOUT}" "${arg_ENV}")
    if(arg_DEPENDS)
        add_dependencies(tests_${arg_LABEL} ${arg_DEPENDS})
    endif()
endfunction()

function(tq_fuzz name)
    cmake_parse_arguments(arg "" "CORPUS" "SOURCES;USES" ${ARGN})
    tq_check_arguments(tq_fuzz ${name} "${arg_UNPARSED_ARGUMENTS}" "${arg_SOURCES}")
    if(NOT arg_CORPUS)
        string(REGEX REPLACE "_fuzz$" "" stem "${name}")
        set(arg_CORPUS "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${stem}")
    endif()
    if(TQ_SANITIZE STREQUAL "fuzz")
        add_executable(${name} ${arg_SOURCES})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz-bin")
        set_property(GLOBAL APPEND PROPERTY TQ_FUZZ_TARGETS "${name}=${arg_CORPUS}")
        set(target ${name})
    else()
        set(target ${name}_replay)
        add_executable(${target} ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.c")
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test-bin")
        add_test(NAME ${target} COMMAND ${target} "${arg_CORPUS}")
        tq_test_properties(${target} fuzz "" "")
    endif()
    add_dependencies(tests_fuzz ${target})
    target_link_libraries(${target} PRIVATE tq_flags ${arg_USES})
    if(NOT "${CMAKE_CURRENT_SOURCE_DIR};${arg_SOURCES}" MATCHES "/gen(/|;|$)")
        target_link_libraries(${target} PRIVATE tq_warnings)
    endif()
endfunction()

# For tools/dev/fuzz.sh: a line "NAME CORPUS" for each target. Called once, last.
function(tq_write_fuzz_list)
    get_property(targets GLOBAL PROPERTY TQ_FUZZ_TARGETS)
    list(TRANSFORM targets REPLACE "=" " ")
    list(TRANSFORM targets APPEND "\n")
    string(JOIN "" lines ${targets})
    file(WRITE "${PROJECT_BINARY_DIR}/fuzz-targets.txt" "${lines}")
endfunction()

# ---- private ----

function(tq_check_arguments verb name unparsed sources)
    if(unparsed)
        message(FATAL_ERROR "${verb}(${name}): unknown arguments: ${unparsed}")
    endif()
    if("${sources}" STREQUAL "")
        message(FATAL_ERROR "${verb}(${name}): nothing to build or run")
    endif()
endfunction()

# Sanitizer reports must fail a test and stand alone: UCX's own signal handlers would print a second, confusing one.
# Under TSan UCX must not hook madvise: glibc calls it at the end of a thread, where TSan can no longer follow.
function(tq_test_properties name label timeout env)
    if(NOT label MATCHES "^(unit|sim|e2e|long|fuzz)$")
        message(FATAL_ERROR "test ${name}: LABEL '${label}': expected unit, sim, e2e, long or fuzz")
    endif()
    if(NOT timeout)
        set(timeout 60)
    endif()
    set(hooks "")
    if(TQ_SANITIZE STREQUAL "thread")
        set(hooks "UCX_MEM_EVENTS=n;")
        math(EXPR timeout "${timeout} * 5")
    elseif(TQ_SANITIZE STREQUAL "address")
        math(EXPR timeout "${timeout} * 3")
    endif()
    set(suppressions "${PROJECT_SOURCE_DIR}/tests/sanitizers")
    set_tests_properties(
        ${name}
        PROPERTIES
            LABELS ${label}
            TIMEOUT ${timeout}
            # A skipped test proves nothing: ctest reports it as skipped, and our scripts count that as failed.
            SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]"
            ENVIRONMENT
            "UCX_HANDLE_ERRORS=none;${hooks}TQ_SOURCE_DIR=${PROJECT_SOURCE_DIR};TQ_BIN_DIR=${PROJECT_BINARY_DIR}/bin;ASAN_OPTIONS=detect_leaks=1:abort_on_error=0;LSAN_OPTIONS=suppressions=${suppressions}/lsan.supp:print_suppressions=0;UBSAN_OPTIONS=print_stacktrace=1:suppressions=${suppressions}/ubsan.supp;TSAN_OPTIONS=halt_on_error=0:second_deadlock_stack=1:suppressions=${suppressions}/tsan.supp;${env}")
endfunction()
