"""The echo service with grpcio, without generated code: messages are their bytes."""
import sys
from concurrent import futures

import grpc


def field(message, number):
    """Returns the varint of a field with a number below 16, or 0."""
    at = 0
    while at < len(message):
        key = message[at]
        at += 1
        if key & 7 == 2:
            at += 1 + message[at]
            continue
        if key & 7 == 1:
            at += 8
            continue
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if key >> 3 == number:
            return value
    return 0


def say(message, context):
    metadata = dict(context.invocation_metadata())
    if metadata.get("x-raw-bin") != b"\x00\x01":
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "x-raw-bin is missing")
    if context.time_remaining() is None:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "there is no deadline")
    return message


def repeat(message, context):
    for _ in range(max(1, field(message, 4))):
        yield message


def collect(messages, context):
    every = list(messages)
    return every[-1] + bytes([4 << 3, len(every)])


def chat(messages, context):
    yield from messages


METHODS = {
    "Say": grpc.unary_unary_rpc_method_handler(say),
    "Repeat": grpc.unary_stream_rpc_method_handler(repeat),
    "Collect": grpc.stream_unary_rpc_method_handler(collect),
    "Chat": grpc.stream_stream_rpc_method_handler(chat),
}
server = grpc.server(futures.ThreadPoolExecutor(4), compression=grpc.Compression.Gzip)
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("wavetank.echo.v1.Echo", METHODS),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with open(sys.argv[1], "w") as file:
    file.write(f"{port}\n")
server.wait_for_termination()
