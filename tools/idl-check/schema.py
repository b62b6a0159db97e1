"""schema.py: the .proto files of a folder as protoc understands them, each declaration with its place in the source."""
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
OPTIONS_FILE = "tq/options.proto"


def give_up(reason):
    print(f"idl-check: {reason}", file=sys.stderr)
    raise SystemExit(2)


class Schema:
    """`files` are FileDescriptorProtos of the folder's own files, sorted by name."""

    def __init__(self, folder, include=()):
        self.folder = pathlib.Path(folder)
        names = sorted(str(path.relative_to(folder)) for path in self.folder.rglob("*.proto"))
        if not names:
            give_up(f"{folder}: no .proto files")
        with tempfile.NamedTemporaryFile() as out:
            done = subprocess.run(["protoc", "--include_imports", "--include_source_info", "-o", out.name, "-I.",
                                   *[f"-I{pathlib.Path(path).resolve()}" for path in include], *names],
                                  cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                give_up(f"protoc refuses the files:\n{done.stderr}")
            everything = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())
        self.warnings = done.stderr
        self.files = [file for file in everything.file if file.name in names]
        self.read_option = option_reader(everything)
        self.lines = {file.name: {tuple(at.path): at.span[0] + 1 for at in file.source_code_info.location}
                      for file in self.files}

    def place(self, file, path):
        """FILE:LINE of a declaration, or of the nearest one around it."""
        path = tuple(path)
        while path and path not in self.lines[file.name]:
            path = path[:-1]
        return f"{file.name}:{self.lines[file.name].get(path, 1)}"


def option_reader(everything):
    """A function that gives the tq.MethodOptions of a method, or None."""
    pool = descriptor_pool.DescriptorPool()
    for file in everything.file:
        pool.Add(file)
    try:
        extension = pool.FindExtensionByName("tq.method")
    except KeyError:
        return lambda method: None
    factory = message_factory.MessageFactory(pool)
    options_type = factory.GetPrototype(pool.FindMessageTypeByName("google.protobuf.MethodOptions"))
    factory.GetPrototype(extension.message_type)
    options_type.RegisterExtension(extension)

    def read(method):
        options = options_type.FromString(method.options.SerializeToString())
        return options.Extensions[extension] if options.HasExtension(extension) else None

    return read


def messages(file):
    """Yields (full name, message, path), outer ones first; not those that maps make."""
    stack = [(f"{file.package}.{message.name}", message, (4, index))
             for index, message in reversed(list(enumerate(file.message_type)))]
    while stack:
        name, message, path = stack.pop()
        if not message.options.map_entry:
            yield name, message, path
        stack.extend((f"{name}.{inner.name}", inner, path + (3, index))
                     for index, inner in reversed(list(enumerate(message.nested_type))))


def enums(file):
    for index, enum in enumerate(file.enum_type):
        yield f"{file.package}.{enum.name}", enum, (5, index)
    for name, message, path in messages(file):
        for index, enum in enumerate(message.enum_type):
            yield f"{name}.{enum.name}", enum, path + (4, index)


def methods(file):
    for s, service in enumerate(file.service):
        for m, method in enumerate(service.method):
            yield service, method, (6, s, 2, m)


def type_text(field):
    """"uint32", "tq.v1.Samples": what a field holds."""
    if field.type_name:
        return field.type_name.lstrip(".")
    return FIELD.Type.Name(field.type)[len("TYPE_"):].lower()
