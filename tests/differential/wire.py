"""HTCondor's wire protocol as far as a pool without security needs it: ads are sent to a collector and read from it."""
import socket
import struct

QUERY_ANY_ADS, UPDATE_STARTD_AD, UPDATE_SUBMITTOR_AD, RESCHEDULE = 48, 0, 11, 421
PACKET = 4096


class Connection:
    """A connection to a daemon of this host."""

    def __init__(self, port):
        """Connects to the daemon that listens on `port`."""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.sent, self.received = bytearray(), b""

    def __enter__(self):
        """The connection, to be closed at the end of a block."""
        return self

    def __exit__(self, *_):
        """Closes the connection."""
        self.socket.close()

    def number(self, value):
        """Appends an integer to the message."""
        self.sent += struct.pack(">q", value)

    def ad(self, ad):
        """Appends an ad, a dictionary of names and expressions, to the message."""
        self.number(len(ad))
        for line in [*(f"{name} = {value}" for name, value in ad.items()), "", ""]:
            self.sent += line.encode() + b"\0"

    def flush(self):
        """Sends the message."""
        data, self.sent = bytes(self.sent), bytearray()
        for at in range(0, len(data), PACKET):
            part = data[at:at + PACKET]
            self.socket.sendall(struct.pack(">BI", at + PACKET >= len(data), len(part)) + part)

    def read(self, count):
        """Reads bytes, across packets."""
        while len(self.received) < count:
            head = self.exactly(5)
            self.received += self.exactly(struct.unpack(">BI", head)[1])
        data, self.received = self.received[:count], self.received[count:]
        return data

    def exactly(self, count):
        """Reads bytes of a packet."""
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError("the daemon closed the connection")
            data += part
        return data

    def line(self):
        """Reads a string."""
        while (end := self.received.find(b"\0")) < 0:
            self.received += self.exactly(struct.unpack(">BI", self.exactly(5))[1])
        return self.read(end + 1)[:-1].decode("utf-8", "replace")

    def integer(self):
        """Reads an integer."""
        return struct.unpack(">q", self.read(8))[0]


def update(port, command, ads):
    """Sends ads to the collector; each is a list of the ads of one update."""
    with Connection(port) as connection:
        for parts in ads:
            connection.number(command)
            for part in parts:
                connection.ad(part)
            connection.flush()


def query(port, kind):
    """The collector's ads of a type, in the collector's order, as lists of `name = expression`."""
    with Connection(port) as connection:
        connection.number(QUERY_ANY_ADS)
        connection.ad({"MyType": '"Query"', "TargetType": '"Any"', "Requirements": f'MyType == "{kind}"'})
        connection.flush()
        found = []
        while connection.integer():
            count = connection.integer()
            found.append([connection.line() for _ in range(count)])
            connection.line(), connection.line()
        return found
