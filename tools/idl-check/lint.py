"""lint.py: the rules of style for idl/, after buf's STANDARD set. Each rule has a name and yields (place, message)."""
import os
import re

from schema import enums, messages, methods

# tq.v1's services own ranges of method ids: one glance at a number tells the service.
ID_RANGES = {"tq/v1/controller.proto": (0x0100, 0x01FF), "tq/v1/storage.proto": (0x0200, 0x02FF)}
OTHER_IDS = (0x0300, 0x03FF)

LOWER_SNAKE = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
UPPER_SNAKE = re.compile(r"^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")
PASCAL = re.compile(r"^[A-Z][A-Za-z0-9]*$")
RULES = {}


def rule(check):
    RULES[check.__name__.upper()] = check
    return check


def upper_snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()


@rule
def syntax_proto3(schema, file):
    if file.syntax != "proto3":
        yield schema.place(file, (12,)), "write syntax = \"proto3\""


@rule
def package_defined(schema, file):
    if not file.package:
        yield schema.place(file, ()), "the file has no package"


@rule
def package_lower_snake_case(schema, file):
    for part in file.package.split("."):
        if part and not LOWER_SNAKE.match(part):
            yield schema.place(file, (2,)), f"package {file.package}: {part} is not lower_snake_case"


@rule
def package_directory_match(schema, file):
    if os.path.dirname(file.name) != file.package.replace(".", "/"):
        yield schema.place(file, (2,)), f"package {file.package} must lie in {file.package.replace('.', '/') or '.'}"


@rule
def file_lower_snake_case(schema, file):
    if not LOWER_SNAKE.match(os.path.basename(file.name)[:-len(".proto")]):
        yield schema.place(file, ()), "the file's name is not lower_snake_case"


@rule
def import_no_public(schema, file):
    for index in list(file.public_dependency) + list(file.weak_dependency):
        yield schema.place(file, (3, index)), f"import {file.dependency[index]}: neither public nor weak"


@rule
def import_used(schema, file):
    for index, name in enumerate(file.dependency):
        if f"{file.name}:" in schema.warnings and f"Import {name} is unused" in schema.warnings:
            yield schema.place(file, (3, index)), f"import {name} is not used"


@rule
def message_pascal_case(schema, file):
    for name, message, path in messages(file):
        if not PASCAL.match(message.name):
            yield schema.place(file, path), f"message {name} is not PascalCase"


@rule
def field_lower_snake_case(schema, file):
    for name, message, path in messages(file):
        for index, field in enumerate(message.field):
            if not LOWER_SNAKE.match(field.name):
                yield schema.place(file, path + (2, index)), f"field {name}.{field.name} is not lower_snake_case"


@rule
def field_not_optional(schema, file):
    for name, message, path in messages(file):
        for index, field in enumerate(message.field):
            if field.proto3_optional:
                yield schema.place(file, path + (2, index)), f"field {name}.{field.name}: use a oneof of one member"


@rule
def oneof_lower_snake_case(schema, file):
    for name, message, path in messages(file):
        for index, oneof in enumerate(message.oneof_decl):
            synthetic = any(field.proto3_optional and field.oneof_index == index for field in message.field)
            if not synthetic and not LOWER_SNAKE.match(oneof.name):
                yield schema.place(file, path + (8, index)), f"oneof {name}.{oneof.name} is not lower_snake_case"


@rule
def enum_pascal_case(schema, file):
    for name, enum, path in enums(file):
        if not PASCAL.match(enum.name):
            yield schema.place(file, path), f"enum {name} is not PascalCase"


@rule
def enum_no_allow_alias(schema, file):
    for name, enum, path in enums(file):
        if enum.options.allow_alias:
            yield schema.place(file, path), f"enum {name} has two names for one number"


@rule
def enum_value_upper_snake_case(schema, file):
    for name, enum, path in enums(file):
        for index, value in enumerate(enum.value):
            if not UPPER_SNAKE.match(value.name):
                yield schema.place(file, path + (2, index)), f"value {name}.{value.name} is not UPPER_SNAKE_CASE"


@rule
def enum_value_prefix(schema, file):
    for name, enum, path in enums(file):
        for index, value in enumerate(enum.value):
            if not value.name.startswith(upper_snake(enum.name) + "_"):
                yield (schema.place(file, path + (2, index)),
                       f"value {name}.{value.name} does not begin with {upper_snake(enum.name)}_")


@rule
def enum_zero_value_suffix(schema, file):
    for name, enum, path in enums(file):
        for index, value in enumerate(enum.value):
            if (value.number == 0) != value.name.endswith("_UNSPECIFIED"):
                yield (schema.place(file, path + (2, index)),
                       f"value {name}.{value.name} = {value.number}: 0, and only 0, is called ..._UNSPECIFIED")


@rule
def service_pascal_case(schema, file):
    for index, service in enumerate(file.service):
        if not PASCAL.match(service.name):
            yield schema.place(file, (6, index)), f"service {service.name} is not PascalCase"


@rule
def service_suffix(schema, file):
    for index, service in enumerate(file.service):
        if not service.name.endswith("Service") or service.name == "Service":
            yield schema.place(file, (6, index)), f"service {service.name} does not end with Service"


@rule
def rpc_pascal_case(schema, file):
    for service, method, path in methods(file):
        if not PASCAL.match(method.name):
            yield schema.place(file, path), f"rpc {service.name}.{method.name} is not PascalCase"


@rule
def rpc_no_streaming(schema, file):
    for service, method, path in methods(file):
        if method.client_streaming or method.server_streaming:
            yield schema.place(file, path), f"rpc {service.name}.{method.name} is streaming"


@rule
def rpc_request_standard_name(schema, file):
    for service, method, path in methods(file):
        if method.input_type != f".{file.package}.{method.name}Request":
            yield schema.place(file, path), f"rpc {method.name} takes {method.name}Request, not {method.input_type[1:]}"


@rule
def rpc_response_standard_name(schema, file):
    for service, method, path in methods(file):
        if method.output_type != f".{file.package}.{method.name}Response":
            yield (schema.place(file, path),
                   f"rpc {method.name} returns {method.name}Response, not {method.output_type[1:]}")


@rule
def rpc_request_response_unique(schema, file):
    seen = {}
    for other in schema.files:
        for service, method, path in methods(other):
            for name in {method.input_type, method.output_type}:
                if name in seen and other.name == file.name:
                    yield (schema.place(file, path),
                           f"rpc {service.name}.{method.name} shares {name[1:]} with rpc {seen[name]}")
                seen.setdefault(name, f"{service.name}.{method.name}")


@rule
def rpc_id_range(schema, file):
    low, high = ID_RANGES.get(file.name, OTHER_IDS)
    for service, method, path in methods(file):
        option = schema.read_option(method)
        number = option.id if option else 0
        if not low <= number <= high:
            yield (schema.place(file, path), f"rpc {service.name}.{method.name} has id 0x{number:04x}: "
                                             f"this file's are 0x{low:04x} to 0x{high:04x}")


def lint(schema):
    """[(place, rule, message)] in the order of files and rules."""
    found = []
    for file in schema.files:
        for name, check in RULES.items():
            found += [(place, name, message) for place, message in check(schema, file)]
    return found
