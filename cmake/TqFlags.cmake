# The flags of our own targets, as interface targets; nothing is set globally.
#   tq_flags      every target of ours: language, include folders, sanitizer
#   tq_warnings   hand-written code: strict warnings, as errors
set(TQ_SANITIZER_FLAGS "")
if(TQ_SANITIZE STREQUAL "address")
    set(TQ_SANITIZER_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(TQ_SANITIZE STREQUAL "thread")
    # The fence of a reader of another process's memory is all that TSan does not understand; it sees no other process.
    set(TQ_SANITIZER_FLAGS -fsanitize=thread -Wno-tsan)
elseif(TQ_SANITIZE STREQUAL "fuzz")
    set(TQ_SANITIZER_FLAGS -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined)
elseif(NOT TQ_SANITIZE STREQUAL "")
    message(FATAL_ERROR "TQ_SANITIZE=${TQ_SANITIZE}: expected nothing, address, thread or fuzz")
endif()

add_library(tq_flags INTERFACE)
target_compile_features(tq_flags INTERFACE c_std_17)
target_compile_definitions(tq_flags INTERFACE _GNU_SOURCE)
target_compile_options(tq_flags INTERFACE -fno-omit-frame-pointer -fstack-protector-strong ${TQ_SANITIZER_FLAGS})
target_link_options(tq_flags INTERFACE ${TQ_SANITIZER_FLAGS})
target_include_directories(
    tq_flags
    INTERFACE "${PROJECT_SOURCE_DIR}"
              "${PROJECT_SOURCE_DIR}/transport/include"
              "${PROJECT_SOURCE_DIR}/server/include"
              "${PROJECT_SOURCE_DIR}/client/include"
              "${PROJECT_SOURCE_DIR}/gen/wire"
              "${PROJECT_SOURCE_DIR}/gen/v1"
              "${PROJECT_BINARY_DIR}/generated")

add_library(tq_warnings INTERFACE)
target_compile_options(
    tq_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror)
