#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first process of a test's VM. Mounts file systems as a distribution does, runs /script, and
# sends the result to the second serial port: a line with the status, then a tar archive.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root USER=root TERM=linux LC_ALL=C.UTF-8

/bin/busybox mount -t proc proc /proc
cd / || exit
# Copied programs replace those of busybox.
copied=$(ls bin sbin usr/bin usr/sbin)
/bin/busybox --install -s
for name in $copied; do
	for dir in bin sbin usr/bin usr/sbin; do
		[ -L "$dir/$name" ] && rm "$dir/$name"
	done
done

# Skips file systems that this kernel does not have.
try() {
	{ mkdir -p "$3" && mount -t "$1" -o "$2" "$1" "$3"; } 2>/dev/null
}
try sysfs nosuid /sys
try devtmpfs mode=0755 /dev
try devpts mode=0620,gid=5,ptmxmode=0666 /dev/pts
try tmpfs mode=1777 /dev/shm
try securityfs nosuid /sys/kernel/security
try tracefs mode=0700 /sys/kernel/tracing
try debugfs mode=0700 /sys/kernel/debug
try bpf mode=0700 /sys/fs/bpf
try cgroup2 nosuid /sys/fs/cgroup
try tmpfs mode=1777 /tmp
try tmpfs mode=0755 /run
# The size limits the archive.
try tmpfs mode=0755,size=32m /result
mkdir /result/out
ln -s /result/out /out
for link in fd:/proc/self/fd stdin:/proc/self/fd/0 stdout:/proc/self/fd/1 stderr:/proc/self/fd/2; do
	ln -sf "${link#*:}" "/dev/${link%%:*}"
done
hostname guest
ip link set lo up

# Standard error is saved, and also goes to the console in case the script hangs. Its outputs are not
# terminals, and only its own processes run.
mkfifo /run/stderr
tee /result/stderr </run/stderr >/dev/console &
tee=$!
cd /root || exit
setsid /bin/sh /script </dev/null >/result/stdout 2>/run/stderr
status=$?

# Remaining processes could still write. Kernel threads ignore signals.
for process in /proc/[0-9]*; do
	process=${process#/proc/}
	[ "$process" = 1 ] || [ "$process" = "$tee" ] || kill -9 "$process" 2>/dev/null
done
for _ in 0 1 2 3 4 5 6 7 8 9; do
	kill -0 "$tee" 2>/dev/null || break
	usleep 100000
done
dmesg >/run/kernel-log
cd / || exit
stty -F /dev/ttyS1 raw -echo
{
	echo "status $status"
	tar -cf - result run/kernel-log 2>/dev/null
} >/dev/ttyS1
reboot -f
