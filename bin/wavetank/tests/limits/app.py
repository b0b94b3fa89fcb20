# A server for labs with one bad habit.
#   app.py serial PORT WORK BACKLOG    each request takes WORK seconds, and BACKLOG connections wait;
#                                      one for /health takes no time of its own
#   app.py threads PORT WORK           the same with a thread for each connection, which it keeps
#   app.py lock PORT WORK              the same, and all threads do their work one after the other
#   app.py idle PORT WORK SECONDS      does one request at a time, WORK seconds each, and closes
#                                      connections SECONDS after their last response, read or not
#   app.py quota PORT RATE STATUS      responds with STATUS to more than RATE requests in a second
#   app.py header PORT BYTES           sends a header field of BYTES
#   app.py datagrams PORT WORK         sends each datagram back after WORK seconds, one at a time
#   app.py hoard PORT BYTES            keeps BYTES of memory for each request
#   app.py pieces PORT                 sends each response in three writes, with Nagle's algorithm
#   app.py slowly PORT                 sends each response in three writes, 3 ms apart
#   app.py flood PORT ADDRESS          sends SYNs from addresses that answer nothing
import random
import select
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
            return b""
        data += more
    return data


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
            request = read_request(conn)
            if request:
                time.sleep(0 if request.startswith(b"GET /health ") else work)
                conn.sendall(ANSWER % CLOSE)
        except OSError:
            pass
        conn.close()


def keep(conn, respond):
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while read_request(conn):
            conn.sendall(respond())
    except OSError:
        pass
    conn.close()


def after(work):
    def respond():
        work()
        return ANSWER % b""

    return respond


def threads(port, respond):
    listener = listen(port, 1024)
    while True:
        try:
            conn, _ = listener.accept()
        except OSError:
            time.sleep(0.01)
            continue
        threading.Thread(target=keep, args=(conn, respond), daemon=True).start()


def hoard(port, size):
    kept = []
    threads(port, after(lambda: kept.append(bytearray(b"x" * size))))


def locked(port, work):
    lock = threading.Lock()

    def respond():
        with lock:
            time.sleep(work)
        return ANSWER % b""

    threads(port, respond)


def quota(port, rate, status):
    lock, seen = threading.Lock(), [0, 0]

    def respond():
        with lock:
            second = int(time.monotonic())
            seen[:] = [second, seen[1] + 1 if seen[0] == second else 1]
            return (ANSWER if seen[1] <= rate else ANSWER.replace(b"200 OK", status.encode() + b" No")) % b""

    threads(port, respond)


def sweep(port, work, idle):
    listener = listen(port, 1024)
    used = {}
    while True:
        for conn in [conn for conn, last in used.items() if time.monotonic() - last > idle]:
            conn.close()
            del used[conn]
        ready, _, _ = select.select([listener, *used], [], [], 0.05)
        if listener in ready:
            used[listener.accept()[0]] = time.monotonic()
        elif ready:
            conn = random.choice(ready)
            if read_request(conn):
                time.sleep(work)
                conn.sendall(ANSWER % b"")
                used[conn] = time.monotonic()
            else:
                conn.close()
                del used[conn]


def datagrams(port, work):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("", port))
    while True:
        data, address = sock.recvfrom(65536)
        time.sleep(work)
        sock.sendto(data, address)


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
    threads(port, after(lambda: time.sleep(float(sys.argv[3]))))
elif mode == "lock":
    locked(port, float(sys.argv[3]))
elif mode == "idle":
    sweep(port, float(sys.argv[3]), float(sys.argv[4]))
elif mode == "quota":
    quota(port, int(sys.argv[3]), sys.argv[4])
elif mode == "header":
    threads(port, lambda: ANSWER % (b"X-Session: " + b"x" * int(sys.argv[3]) + b"\r\n"))
elif mode == "datagrams":
    datagrams(port, float(sys.argv[3]))
elif mode == "hoard":
    hoard(port, int(sys.argv[3]))
elif mode == "pieces":
    in_pieces(port, 0)
elif mode == "slowly":
    in_pieces(port, 0.003)
else:
    flood(port, sys.argv[3])
