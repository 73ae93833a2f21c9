"""Refuses every connection that leaves this machine. Python runs this file first when its folder is on PYTHONPATH.

A refused connection is written to the file that HEADLIGHT_GUARD_LOG names, so that a program which swallows the error
is caught as well.
"""

import ipaddress
import os
import socket

LOCAL_NAMES = {"localhost", "", None, "0.0.0.0", "::"}


class Refused(OSError):
    """A connection to another machine was tried."""


def _local(host):
    if isinstance(host, bytes):
        host = host.decode()
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse(what):
    log = os.environ.get("HEADLIGHT_GUARD_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as stream:
            stream.write(f"{what}\n")
    raise Refused(f"No test may reach another machine, but something asked for {what}.")


def install():
    """Put the guard in place, once."""
    if getattr(socket, "headlight_guarded", False):
        return
    socket.headlight_guarded = True
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def checked(call):
        def guarded(self, address):
            # A datagram socket's connect sends nothing, but what it would send to is refused all the same.
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _local(address[0]):
                _refuse(f"{address[0]}:{address[1]}")
            return call(self, address)

        return guarded

    def guarded_look_up(host, *rest, **options):
        if not _local(host):
            _refuse(str(host))
        return look_up(host, *rest, **options)

    socket.socket.connect, socket.socket.connect_ex = checked(connect), checked(connect_ex)
    socket.getaddrinfo = guarded_look_up


install()
