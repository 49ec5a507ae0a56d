#!/bin/sh
# Makes the image of a root from its packages. The lab runs this as root of a namespace with its own mounts,
# processes and no network.
#
#   sh root-image.sh BASE_TAR FOLDER IMAGE INDEX FREE_MB [COMMAND...]
#
# Unpacks BASE_TAR in FOLDER, runs each COMMAND in it, writes an ext4 with FREE_MB of free space to IMAGE and
# the paths of its programs to INDEX. A COMMAND that fails ends it with the line
# `hotset-prepare NUMBER STATUS` on standard error, NUMBER counted from 0.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C
base=$1 root=$2 image=$3 index=$4 free_mb=$5
shift 5

leave() {
    mountpoint -q "$root/proc" && umount "$root/proc"
    mountpoint -q "$root/dev" && umount -R "$root/dev"
    rm -rf --one-file-system "$root"
}
trap leave EXIT

mkdir "$root"
tar -xpf "$base" --numeric-owner -C "$root"
# A namespace's root may make no device, but show those of the host.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -m 1777 "$root/dev/shm"
mkdir "$root/dev/pts"
mount -t proc proc "$root/proc"
echo hotset >"$root/etc/hostname"
printf '127.0.0.1 localhost\n127.0.1.1 hotset\n' >"$root/etc/hosts"

number=0
for command in "$@"; do
    status=0
    chroot "$root" /usr/bin/env -i PATH="$PATH" HOME=/root LC_ALL=C.UTF-8 \
        /bin/sh -ec "cd /; $command" </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        echo "hotset-prepare $number $status" >&2
        exit 1
    fi
    number=$((number + 1))
done
umount "$root/proc"
umount -R "$root/dev"

(cd "$root" && find . -xdev \( -type f -o -type l \) -perm /111 -printf '/%P\n') >"$index"
used_kb=$(du -skx "$root" | cut -f1)
files=$(find "$root" -xdev | wc -l)
inodes=$((files + free_mb * 32 + 4096))
# Inodes take 256 bytes each; maps and bitmaps 3%.
size_kb=$((used_kb + used_kb / 32 + inodes / 4 + free_mb * 1024 + 4096))
mke2fs -q -F -t ext4 -b 4096 -m 0 -N "$inodes" -O ^has_journal,^resize_inode \
    -E nodiscard,lazy_itable_init=0 -d "$root" "$image" "${size_kb}k"
