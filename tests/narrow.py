"""Something between a client and a server that lets few connections through."""

import contextlib
import socket
import threading


class Narrow:
    """Lets `most` connections through to a server at a time, as a firewall may; resets others."""

    def __init__(self, address: str, port: int, most: int) -> None:
        self._far = (address, port)
        self._free = threading.Semaphore(most)
        self._listening = socket.create_server((address, 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self._free.acquire(blocking=False):
                    threading.Thread(target=self._join, args=(near,), daemon=True).start()
                else:
                    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0" + bytes(4))
                    near.close()

    def _join(self, near: socket.socket) -> None:
        try:
            with near, contextlib.suppress(OSError), socket.create_connection(self._far) as far:
                back = threading.Thread(target=_copy, args=(far, near), daemon=True)
                back.start()
                _copy(near, far)
                back.join()
        finally:
            self._free.release()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
