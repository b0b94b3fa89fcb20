"""An HTTP/3 server of aioquic. It sends the body of a request back, or `N` bytes for `/N`.

Its argument is a file, into which it writes its port. Each path that it has answered is a line of
standard output.
"""

import asyncio
import datetime
import os
import sys
import tempfile

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class Server(QuicConnectionProtocol):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.http = None
        self.requests = {}

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for part in self.http.handle_event(event):
            if isinstance(part, HeadersReceived):
                self.requests[part.stream_id] = (dict(part.headers), bytearray())
            elif isinstance(part, DataReceived):
                self.requests[part.stream_id][1].extend(part.data)
            if getattr(part, "stream_ended", False):
                self.answer(part.stream_id)

    def answer(self, stream):
        headers, body = self.requests.pop(stream)
        path = headers[b":path"].decode()
        if headers[b":method"] == b"GET":
            body = b"x" * int(path[1:])
        fields = [
            (b":status", b"200"),
            (b"server", b"aioquic"),
            (b"content-type", headers.get(b"content-type", b"text/plain")),
            (b"content-length", str(len(body)).encode()),
        ]
        self.http.send_headers(stream, fields)
        self.http.send_data(stream, bytes(body), end_stream=True)
        self.transmit()
        print(path, flush=True)


def certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    own = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .sign(key, hashes.SHA256())
    )
    paths = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    with open(paths[0], "wb") as file:
        file.write(own.public_bytes(serialization.Encoding.PEM))
    with open(paths[1], "wb") as file:
        no = serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        file.write(key.private_bytes(serialization.Encoding.PEM, form, no))
    return paths


async def main(ready):
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=False)
    with tempfile.TemporaryDirectory() as folder:
        configuration.load_cert_chain(*certificate(folder))
    # With `retry`, each client must prove its address first (RFC 9000 §8.1.2).
    retry = "retry" in sys.argv
    server = await serve("127.0.0.1", 0, configuration=configuration, create_protocol=Server, retry=retry)
    port = server._transport.get_extra_info("sockname")[1]
    with open(ready, "w") as file:
        file.write(f"{port}\n")
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1]))
