"""breaking.py: what a peer of an older version relies on, as lines of text, and whether it is still there.

The baseline is such a text, committed: one fact a line, sorted, so that a change of the wire shows in a review. Facts:

    package PACKAGE
    message NAME | enum NAME | service NAME
    field MESSAGE NUMBER NAME CARDINALITY TYPE [oneof NAME]
    value ENUM NUMBER NAME
    method SERVICE NAME ID REQUEST RESPONSE IDEMPOTENCY
    reserved MESSAGE|ENUM NUMBER|NAME
    bound FIELD LIMIT NUMBER                                  of the wire's fixed sizes, from .options files
"""
import re

from schema import FIELD, enums, messages, methods, type_text

RULES = ["PACKAGE_NO_DELETE", "MESSAGE_NO_DELETE", "ENUM_NO_DELETE", "SERVICE_NO_DELETE", "FIELD_NO_DELETE",
         "FIELD_SAME_NAME", "FIELD_SAME_CARDINALITY", "FIELD_SAME_TYPE", "FIELD_SAME_ONEOF", "VALUE_NO_DELETE",
         "VALUE_SAME_NAME", "METHOD_NO_DELETE", "METHOD_SAME_ID", "METHOD_SAME_REQUEST", "METHOD_SAME_RESPONSE",
         "METHOD_SAME_IDEMPOTENCY", "RESERVED_NO_DELETE", "BOUND_NO_SHRINK"]


def field_fact(name, message, field):
    cardinality = "repeated" if field.label == FIELD.LABEL_REPEATED else "singular"
    oneof = f" oneof {message.oneof_decl[field.oneof_index].name}" if field.HasField("oneof_index") else ""
    return f"field {name} {field.number} {field.name} {cardinality} {map_text(message, field)}{oneof}"


def map_text(message, field):
    for entry in message.nested_type:
        if entry.options.map_entry and field.type_name.endswith(f".{message.name}.{entry.name}"):
            return f"map<{type_text(entry.field[0])},{type_text(entry.field[1])}>"
    return type_text(field)


def reserved_facts(name, declaration, last_is_included):
    for numbers in declaration.reserved_range:
        for number in range(numbers.start, numbers.end + (1 if last_is_included else 0)):
            yield f"reserved {name} {number}"
    for reserved in declaration.reserved_name:
        yield f"reserved {name} {reserved}"


def file_facts(schema, file):
    yield f"package {file.package}"
    for name, message, _ in messages(file):
        yield f"message {name}"
        for field in message.field:
            yield field_fact(name, message, field)
        yield from reserved_facts(name, message, False)
    for name, enum, _ in enums(file):
        yield f"enum {name}"
        for value in enum.value:
            yield f"value {name} {value.number} {value.name}"
        yield from reserved_facts(name, enum, True)
    for service in file.service:
        yield f"service {file.package}.{service.name}"
    for service, method, _ in methods(file):
        option = schema.read_option(method)
        number, idempotency = (option.id, option.idempotency) if option else (0, 0)
        yield (f"method {file.package}.{service.name} {method.name} 0x{number:04x} {method.input_type[1:]} "
               f"{method.output_type[1:]} {['ONCE', 'ONCE', 'KEYED', 'IDEMPOTENT'][idempotency]}")


def bound_facts(folder):
    for path in sorted(folder.rglob("*.options")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            match = re.match(r"\s*([\w.]+)\s+(max_size|max_count|max_length):(\d+)\s*$", line)
            if match:
                yield f"bound {match.group(1)} {match.group(2)} {match.group(3)}"


def facts(schema):
    return sorted({fact for file in schema.files for fact in file_facts(schema, file)} | set(bound_facts(schema.folder)))


class Now:
    """The facts of today, by what they are about."""

    def __init__(self, lines):
        self.lines = set(lines)
        self.fields, self.values, self.methods, self.bounds = {}, {}, {}, {}
        for line in lines:
            kind, *words = line.split(" ")
            if kind == "field":
                self.fields[words[0], words[1]] = words[2:]
            elif kind == "value":
                self.values.setdefault((words[0], words[1]), set()).add(words[2])
            elif kind == "method":
                self.methods[words[0], words[1]] = words[2:]
            elif kind == "bound":
                self.bounds[words[0], words[1]] = int(words[2])

    def is_reserved(self, owner, number, name):
        return f"reserved {owner} {number}" in self.lines and f"reserved {owner} {name}" in self.lines


def compare_field(now, words):
    owner, number, name, cardinality, kind, *oneof = words
    today = now.fields.get((owner, number))
    if today is None:
        if not now.is_reserved(owner, number, name):
            yield "FIELD_NO_DELETE", f"field {owner}.{name} = {number} is gone: reserve its number and its name"
        return
    if today[0] != name:
        yield "FIELD_SAME_NAME", f"field {owner} = {number} was {name}, is {today[0]}"
    if today[1] != cardinality:
        yield "FIELD_SAME_CARDINALITY", f"field {owner}.{name} was {cardinality}, is {today[1]}"
    if today[2] != kind:
        yield "FIELD_SAME_TYPE", f"field {owner}.{name} was {kind}, is {today[2]}"
    if today[3:] != oneof:
        yield "FIELD_SAME_ONEOF", f"field {owner}.{name} moved into or out of a oneof"


def compare_value(now, words):
    owner, number, name = words
    today = now.values.get((owner, number))
    if today is None:
        if not now.is_reserved(owner, number, name):
            yield "VALUE_NO_DELETE", f"value {owner}.{name} = {number} is gone: reserve its number and its name"
    elif name not in today:
        yield "VALUE_SAME_NAME", f"value {owner} = {number} was {name}, is {' and '.join(sorted(today))}"


def compare_method(now, words):
    service, name, *old = words
    today = now.methods.get((service, name))
    if today is None:
        yield "METHOD_NO_DELETE", f"method {service}/{name} is gone"
        return
    names = ["METHOD_SAME_ID", "METHOD_SAME_REQUEST", "METHOD_SAME_RESPONSE", "METHOD_SAME_IDEMPOTENCY"]
    for rule, was, is_now in zip(names, old, today):
        if was != is_now:
            yield rule, f"method {service}/{name}: was {was}, is {is_now}"


def compare_bound(now, words):
    field, limit, number = words
    today = now.bounds.get((field, limit))
    if today is not None and today < int(number):
        yield "BOUND_NO_SHRINK", f"{field} {limit} was {number}, is {today}: what older peers send may not fit"


def breaking(schema, baseline):
    """[(rule, message)] for each line of the baseline that no longer holds."""
    now = Now(facts(schema))
    compare = {"field": compare_field, "value": compare_value, "method": compare_method, "bound": compare_bound}
    found = []
    for line in baseline:
        kind, *words = line.split(" ")
        if kind in compare:
            owner_is_gone = kind in ("field", "value") and not {f"message {words[0]}", f"enum {words[0]}"} & now.lines
            if not owner_is_gone:
                found += compare[kind](now, words)
        elif line not in now.lines:
            found.append((f"{kind.upper()}_NO_DELETE", f"{line} is gone"))
    return found
