/* descriptors.h: short names for the messages by which protoc describes a schema. They are made by protoc-gen-c from
 * the protocol's own .proto files when the plugin is built; nothing here is ours. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include "google/protobuf/compiler/plugin.pb-c.h"
#include "google/protobuf/descriptor.pb-c.h"

typedef Google__Protobuf__FileDescriptorProto FileProto;
typedef Google__Protobuf__DescriptorProto MessageProto;
typedef Google__Protobuf__FieldDescriptorProto FieldProto;
typedef Google__Protobuf__EnumDescriptorProto EnumProto;
typedef Google__Protobuf__ServiceDescriptorProto ServiceProto;
typedef Google__Protobuf__MethodDescriptorProto MethodProto;
typedef Google__Protobuf__SourceCodeInfo__Location LocationProto;
typedef Google__Protobuf__Compiler__CodeGeneratorRequest RequestProto;
typedef Google__Protobuf__Compiler__CodeGeneratorResponse ResponseProto;
typedef Google__Protobuf__Compiler__CodeGeneratorResponse__File ResponseFileProto;

/* Field numbers of descriptor.proto: from them the path to a declaration is made. */
enum {
    IN_FILE_PACKAGE = 2,
    IN_FILE_DEPENDENCY = 3,
    IN_FILE_MESSAGE = 4,
    IN_FILE_ENUM = 5,
    IN_FILE_SERVICE = 6,
    IN_FILE_OPTIONS = 8,
    IN_FILE_SYNTAX = 12,
    IN_MESSAGE_FIELD = 2,
    IN_MESSAGE_MESSAGE = 3,
    IN_MESSAGE_ENUM = 4,
    IN_MESSAGE_ONEOF = 8,
    IN_ENUM_VALUE = 2,
    IN_SERVICE_METHOD = 2,
};

#endif
