"""A daemon of HTCondor that all clients may ask, as docs/reference/wire-cedar.md describes it: one for a whole pool."""

import base64
import hashlib
import os
import socket
import struct
import threading

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SLOTS, ACCESS_POINTS, SUBMITTERS, NEGOTIATORS, ACCOUNTING, JOBS, CONFIGURATION = 5, 6, 12, 50, 78, 516, 60007
PACKET = 60_000


def ads_of(text):
    """The ads of a text in long format, as lists of lines."""
    return [ad.splitlines() for ad in text.strip().split("\n\n") if ad]


class Connection:
    """The side of the daemon."""

    def __init__(self, stream):
        self.stream, self.cipher, self.message = stream, None, b""
        self.digests = [hashlib.sha256(), hashlib.sha256()]

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.stream.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def encrypt(self, key):
        """Encrypts everything from now on; the first packet of each direction proves what was sent in clear text."""
        self.cipher, self.counts, self.bases = AESGCM(key), [0, 0], [os.urandom(16), None]
        self.digests = [digest.digest() for digest in self.digests]

    def nonce(self, way):
        base = self.bases[way]
        start = (int.from_bytes(base[:4], "big") + self.counts[way]) & 0xFFFFFFFF
        self.counts[way] += 1
        return start.to_bytes(4, "big") + base[4:]

    def receive(self):
        """Receives a message."""
        self.message, is_last = b"", 0
        while not is_last:
            head = self.exactly(5)
            is_last, length = struct.unpack(">BI", head)
            body = self.exactly(length)
            if not self.cipher:
                self.digests[1].update(head + body)
            else:
                proof = b""
                if self.bases[1] is None:
                    self.bases[1], body, proof = body[:16], body[16:], self.digests[1] + self.digests[0]
                body = self.cipher.decrypt(self.nonce(1), body, proof + head)
            self.message += body

    def send(self, message):
        for at in range(0, len(message), PACKET):
            body, is_last = message[at : at + PACKET], at + PACKET >= len(message)
            if not self.cipher:
                head = struct.pack(">BI", is_last, len(body))
                self.digests[0].update(head + body)
            else:
                base = b"" if self.counts[0] else self.bases[0]
                head = struct.pack(">BI", is_last, len(body) + len(base) + 16)
                proof = self.digests[0] + self.digests[1] if base else b""
                body = base + self.cipher.encrypt(self.nonce(0), body, proof + head)
            self.stream.sendall(head + body)

    def string(self, text):
        text = text.encode() + b"\0"
        return (struct.pack(">q", len(text)) if self.cipher else b"") + text

    def ad(self, lines):
        return struct.pack(">q", len(lines)) + b"".join(map(self.string, [*lines, "", ""]))


class PoolDaemon:
    """Answers as all daemons of a pool, from ads by command and from a configuration."""

    def __init__(self, ads, configuration):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        place = [f'MyAddress = "<{self.address}>"']
        self.ads = {
            NEGOTIATORS: [['Name = "negotiator"', *place]],
            ACCESS_POINTS: [['Name = "schedd@pool.test"', *place]],
            **ads,
        }
        self.configuration = configuration
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            stream, _ = self.listener.accept()
            threading.Thread(target=self.converse, args=(stream,), daemon=True).start()

    def converse(self, stream):
        with stream:
            connection = Connection(stream)
            connection.receive()
            lines = connection.message[16:].decode().split("\0")
            request = dict(line.split(" = ", 1) for line in lines if line)
            pair = ec.generate_private_key(ec.SECP256R1())
            point = pair.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
            policy = {"Authentication": "NO", "Encryption": "YES", "ECDHPublicKey": base64.b64encode(point).decode()}
            connection.send(connection.ad([f'{name} = "{value}"' for name, value in policy.items()]))
            theirs = base64.b64decode(request["ECDHPublicKey"].strip('"'))
            shared = pair.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
            connection.encrypt(HKDF(hashes.SHA256(), 32, b"htcondor", b"keygen").derive(shared))
            result = {"ReturnCode": "AUTHORIZED", "User": "unauthenticated@unmapped", "Sid": "pool:1", "ValidCommands": ""}
            connection.send(connection.ad([f'{name} = "{value}"' for name, value in result.items()]))
            connection.receive()
            self.answer(connection, int(request["Command"]))

    def answer(self, connection, command):
        if command == CONFIGURATION:
            name = connection.message[8:-1].decode()
            found = list(self.configuration) if name.startswith("?names") else [self.configuration[name]]
            connection.send(b"".join(map(connection.string, found)))
        elif command == JOBS:
            for ad in self.ads[JOBS]:
                connection.send(connection.ad(ad))
            connection.send(connection.ad(["Owner = 0"]))
        else:
            one = struct.pack(">q", 1)
            answer = b"".join(one + connection.ad(ad) for ad in self.ads.get(command, []))
            connection.send(answer + struct.pack(">q", 0))
