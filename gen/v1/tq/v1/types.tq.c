/* Written by protoc-gen-tq from tq/v1/types.proto. Do not edit. */
#include "tq/v1/types.tq.h"

#include <limits.h>

/* protobuf-c reads and writes cases and enums as int: -fshort-enums would corrupt memory. */
_Static_assert(sizeof(ProtobufCLabel) == sizeof(int), "build without -fshort-enums");
