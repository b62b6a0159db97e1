# The libraries and tools that we build with, each as an interface target dep_NAME, so that a build file names what it
# uses and never a path. The fuzz preset replaces the two decoders by instrumented builds of the same sources.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)

# tq_dependency(NAME MODULE MINIMUM): one pkg-config module as dep_NAME. Only its libraries: all headers are on the
# default path, and some .pc files add folders of their dependencies' dependencies.
function(tq_dependency name module minimum)
    pkg_check_modules(TQ_DEP_${name} REQUIRED QUIET "${module}>=${minimum}")
    add_library(dep_${name} INTERFACE)
    target_link_libraries(dep_${name} INTERFACE ${TQ_DEP_${name}_LINK_LIBRARIES})
endfunction()

tq_dependency(zmq libzmq 4.3.4)
tq_dependency(ucx ucx 1.13)
tq_dependency(openssl openssl 3.0)
tq_dependency(isal libisal 2.30)
tq_dependency(cmocka cmocka 1.1.5)
tq_dependency(jansson jansson 2.13)

find_package(roaring CONFIG REQUIRED)
add_library(dep_roaring INTERFACE)
target_link_libraries(dep_roaring INTERFACE roaring::roaring)

find_path(TQ_DLPACK_INCLUDE dlpack/dlpack.h REQUIRED)
add_library(dep_dlpack INTERFACE)

add_library(dep_threads INTERFACE)
target_link_libraries(dep_threads INTERFACE Threads::Threads)

add_library(dep_m INTERFACE)
target_link_libraries(dep_m INTERFACE m)

if(TQ_SANITIZE STREQUAL "fuzz")
    include(TqInstrumentedDecoders)
else()
    tq_dependency(protobuf_c libprotobuf-c 1.4.1)
    find_package(nanopb 0.4.7 CONFIG REQUIRED)
    add_library(dep_nanopb INTERFACE)
    target_link_libraries(dep_nanopb INTERFACE nanopb::protobuf-nanopb-static)
endif()

find_program(TQ_PROTOC protoc REQUIRED)
find_program(TQ_PROTOC_GEN_C protoc-gen-c REQUIRED)
find_program(TQ_PROTOC_GEN_NANOPB protoc-gen-nanopb REQUIRED)
# Debian's own python3, by its path: another one earlier in PATH does not see Debian's modules.
set(TQ_PYTHON "/usr/bin/python3" CACHE FILEPATH "the python3 that has Debian's python3-protobuf and python3-zmq")
