"""The processes that run the tests of programs.py. A server for each side imports packages once, and forks a worker for
each connection to its socket; a worker is pytest with the plugin of programs_pytest.py.

    programs_worker.py SOCKET JSON     the keys of JSON: root, draw, seed, seconds, configs, preload
"""
import importlib
import json
import os
import signal
import socket
import sys

import programs_pytest


def preload(modules):
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"{name} is not imported: {error}", file=sys.stderr)


def forks_work():
    """Returns whether a forked process can use the GPU: it cannot if an import has opened the driver."""
    child = os.fork()
    if child == 0:
        try:
            programs_pytest.open_gpu()
        except BaseException as error:
            print(f"a forked process cannot use the GPU: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def serve(server, work):
    """Forks a worker for each connection, until this process is ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)   # none of them is waited for
    while True:
        connection = server.accept()[0]
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            os._exit(work(connection))
        connection.close()


def main(path, options):
    options = json.loads(options)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(256)
    names = options["preload"]
    for modules in (names, names[:-1], names[:1]):
        child = os.fork()
        if child == 0:
            preload(modules)
            if not forks_work():
                os._exit(1)
            serve(server, lambda connection: programs_pytest.work(connection, options))
        os.waitpid(child, 0)   # it ends only if a process forked from it cannot use the GPU
    serve(server, lambda connection: programs_pytest.work(connection, options))


if __name__ == "__main__":
    main(*sys.argv[1:])
