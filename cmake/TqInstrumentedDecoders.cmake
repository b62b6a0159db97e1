# The fuzz preset: nanopb and protobuf-c built from the distribution's sources with coverage and sanitizers, as
# dep_nanopb and dep_protobuf_c. The headers stay the packaged ones; they are of the same version.
execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/dev/fetch_sources.sh" "${TQ_INSTRUMENTED_SOURCES}"
                COMMAND_ERROR_IS_FATAL ANY)

set(nanopb "${TQ_INSTRUMENTED_SOURCES}/nanopb")
add_library(dep_nanopb_built STATIC "${nanopb}/pb_common.c" "${nanopb}/pb_decode.c" "${nanopb}/pb_encode.c")
# As Debian builds it: the structures of the generated code depend on it.
target_compile_definitions(dep_nanopb_built PRIVATE PB_ENABLE_MALLOC)
add_library(dep_nanopb INTERFACE)
target_link_libraries(dep_nanopb INTERFACE dep_nanopb_built)

add_library(dep_protobuf_c_built STATIC "${TQ_INSTRUMENTED_SOURCES}/protobuf-c/protobuf-c/protobuf-c.c")
# It shifts into the sign bit, adds zero to NULL and copies nothing from NULL; all are harmless on every compiler that
# we support.
target_compile_options(dep_protobuf_c_built PRIVATE -fno-sanitize=shift,pointer-overflow,nonnull-attribute)
add_library(dep_protobuf_c INTERFACE)
target_link_libraries(dep_protobuf_c INTERFACE dep_protobuf_c_built)

foreach(built dep_nanopb_built dep_protobuf_c_built)
    target_compile_options(${built} BEFORE PRIVATE -w ${TQ_SANITIZER_FLAGS})
    set_target_properties(${built} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()
