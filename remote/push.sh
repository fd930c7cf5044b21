fail() {
	echo "$1" >&2
	exit 1
}
umask 077
echo "antipode-arch $(uname -m)"
read -r sum name || exit 0
for tool in gzip sha256sum; do
	command -v "$tool" >/dev/null || fail "the machine has no $tool"
done

# A folder that is fresh, ours alone, and not mounted noexec.
dir=
trap '[ -z "$dir" ] || rm -rf "$dir"' EXIT
trap "exit 1" HUP INT TERM PIPE
for base in "$HOME" "${TMPDIR:-/tmp}" /var/tmp; do
	dir=$base/$name
	mkdir "$dir" 2>/dev/null || { dir=; continue; }
	file=$dir/antipode-probe
	: >"$file" && chmod 700 "$file" && [ -x "$file" ] && break
	rm -rf "$dir"
	dir=
done
[ -n "$dir" ] || fail "no folder that programs may run from"

gzip -dc >"$file" || fail "the probe could not be unpacked"
got=$(sha256sum <"$file")
got=${got%% *}
[ "$got" = "$sum" ] || fail "checksum mismatch: SHA-256 $got instead of $sum"
echo "antipode-path $file" || exit 1
trap - EXIT
