#!/bin/sh
# Runs a command that may do with /etc, /var/lib and /var/backups what it likes: they are in memory, a copy and two empty
# folders, which nobody else sees and which are gone when it ends. Called inside new namespaces (`unshare --mount`); in a new
# network namespace, which nobody can be reached from, all ports are free, and only the loopback interface has to be brought up.
set -eu
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /var/backups
cp -a /etc /var/lib/.etc
mount --bind /var/lib/.etc /etc
python3 -c '
import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
'
exec "$@"
