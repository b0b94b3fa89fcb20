# A server for labs with one bad habit.
#   app.py serial PORT WORK BACKLOG    each request takes WORK seconds, and BACKLOG connections wait
#   app.py threads PORT WORK           the same with a thread for each connection, which it keeps
#   app.py hoard PORT BYTES            keeps BYTES of memory for each request
#   app.py pieces PORT                 sends each response in three writes, with Nagle's algorithm
#   app.py slowly PORT                 sends each response in three writes, 3 ms apart
#   app.py flood PORT ADDRESS          sends SYNs from addresses that answer nothing
import random
import socket
import struct
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n%s\r\nok\n"
CLOSE = b"Connection: close\r\n"


def read_request(conn):
    data = b""
    while b"\r\n\r\n" not in data:
        more = conn.recv(65536)
        if not more:
            return False
        data += more
    return True


def listen(port, backlog):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen(backlog)
    return listener


def serial(port, work, backlog):
    listener = listen(port, backlog)
    while True:
        conn, _ = listener.accept()
        try:
            if read_request(conn):
                time.sleep(work)
                conn.sendall(ANSWER % CLOSE)
        except OSError:
            pass
        conn.close()


def keep(conn, work):
    try:
        while read_request(conn):
            work()
            conn.sendall(ANSWER % b"")
    except OSError:
        pass
    conn.close()


def threads(port, work):
    listener = listen(port, 1024)
    while True:
        try:
            conn, _ = listener.accept()
        except OSError:
            time.sleep(0.01)
            continue
        threading.Thread(target=keep, args=(conn, work), daemon=True).start()


def hoard(port, size):
    kept = []
    threads(port, lambda: kept.append(bytearray(b"x" * size)))


def in_pieces(port, pause):
    def keep_in_pieces(conn):
        if pause:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while read_request(conn):
            for piece in (b"HTTP/1.1 200 OK\r\n", b"Content-Length: 3\r\n\r\n", b"ok\n"):
                conn.sendall(piece)
                time.sleep(pause)
        conn.close()

    listener = listen(port, 1024)
    while True:
        conn, _ = listener.accept()
        threading.Thread(target=keep_in_pieces, args=(conn,), daemon=True).start()


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def flood(port, address):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    to = socket.inet_aton(address)
    while True:
        source = socket.inet_aton("10.93.0.%d" % random.randint(150, 250))
        head = struct.pack("!HHIIBBHHH", random.randint(1024, 65535), port, 1, 0, 0x50, 2, 65535, 0, 0)
        check = checksum(source + to + struct.pack("!BBH", 0, 6, len(head)) + head)
        head = head[:16] + struct.pack("!H", check) + head[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(head), 0, 0, 64, 6, 0) + source + to
        try:
            raw.sendto(ip + head, (address, 0))
        except OSError:
            pass
        time.sleep(0.002)


mode, port = sys.argv[1], int(sys.argv[2])
if mode == "serial":
    serial(port, float(sys.argv[3]), int(sys.argv[4]))
elif mode == "threads":
    threads(port, lambda: time.sleep(float(sys.argv[3])))
elif mode == "hoard":
    hoard(port, int(sys.argv[3]))
elif mode == "pieces":
    in_pieces(port, 0)
elif mode == "slowly":
    in_pieces(port, 0.003)
else:
    flood(port, sys.argv[3])
