# A server for labs with one request at a time.
#   app.py serial PORT WORK BACKLOG    each takes WORK seconds, and BACKLOG connections wait
import socket
import sys
import time


def read_request(conn):
    data = b""
    while b"\r\n\r\n" not in data:
        more = conn.recv(65536)
        if not more:
            return False
        data += more
    return True


def serial(port, work, backlog):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("", port))
    listener.listen(backlog)
    while True:
        conn, _ = listener.accept()
        try:
            if read_request(conn):
                time.sleep(work)
                conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nok\n")
        except OSError:
            pass
        conn.close()


serial(int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
