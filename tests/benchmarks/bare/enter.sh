#!/bin/sh
# enter.sh FOLDER BASE WORD...: the command, in the throwaway system of that folder.
#   FOLDER/root    where it is put together; a whole copy of BASE already, where no overlay can be
#   FOLDER/upper   what is changed on top of BASE, with FOLDER/work beside it
#   FOLDER/binds   paths of this machine that the system sees as well, read-only, one a line
# To be run by `unshare --mount --pid --fork --kill-child`: the mounts go with the last process.
set -eu
folder=$1 base=$2
shift 2
root=$folder/root

mount --make-rprivate /
if [ -d "$folder/upper" ]; then
    mount -t overlay -o "lowerdir=$base,upperdir=$folder/upper,workdir=$folder/work" bare "$root"
else
    mount --bind "$root" "$root"
fi

mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount --rbind --make-rslave /sys "$root/sys"
mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs "$root/run"
mkdir -m 1777 "$root/run/lock"

# As udev leaves them, whatever this machine has made of its own.
mount -t tmpfs -o nosuid,mode=755 tmpfs "$root/dev"
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 net/tun:10:200; do
    name=${device%%:*} number=${device#*:}
    mkdir -p "$(dirname "$root/dev/$name")"
    mknod -m 666 "$root/dev/$name" c "${number%:*}" "${number#*:}"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o nosuid,noexec,newinstance,mode=620,ptmxmode=666,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o nosuid,nodev tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"

while read -r path; do
    if [ -d "$path" ]; then
        mkdir -p "$root$path"
    else
        mkdir -p "$(dirname "$root$path")"
        [ -e "$root$path" ] || : >"$root$path"
    fi
    mount --bind "$path" "$root$path"
    mount -o remount,bind,ro "$root$path"
done <"$folder/binds"

cd "$root"
pivot_root . .
umount -l .
cd /
# No exec: this process stays the first one, and so takes in whoever loses its parent.
"$@"
