# Grows into the install rules: headers, shared libraries, programs, idl, pkg-config and CMake package files.
