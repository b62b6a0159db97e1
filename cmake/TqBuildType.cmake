# What is built when nobody says: optimised, with debug information, and with asserts: ours stay on in every build type.
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, RelWithDebInfo or Release" FORCE)
endif()
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2")

set(TQ_SANITIZE "" CACHE STRING "empty, address, thread or fuzz")
set_property(CACHE TQ_SANITIZE PROPERTY STRINGS "" address thread fuzz)
set(TQ_INSTRUMENTED_SOURCES "" CACHE PATH "for fuzz: where tools/dev/fetch_sources.sh put the decoders' sources")

find_program(TQ_CCACHE ccache)
if(TQ_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${TQ_CCACHE}")
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
