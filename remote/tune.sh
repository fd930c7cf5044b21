# Arguments: the folder of the kernel's settings, the one to keep them in, whose they
# are, how long to live without a word, in seconds, a congestion control or nothing, and
# how many bytes.
# Whatever ends this script has the settings put back, except SIGKILL; then the
# next one does it first.
set -f
umask 022
sys=$1 owner=$3 linger=$4 control=$5 most=$6
state=$2/antipode-tune-$(readlink /proc/self/ns/net | tr -dc 0-9) # each network namespace has settings of its own
heard=

say() { printf 'antipode-tune %s\n' "$*"; }
fail() {
	echo "$1" >&2
	exit 1
}
words() {
	set -- $(cat "$1" 2>/dev/null)
	echo "$*"
}
# began is when a process was, so that no other with its number is taken for it.
began() {
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	set -- ${stat##*) }
	echo "${20}"
}
put() { (echo "$2" >"$1") 2>/dev/null; }

# undo leaves alone what somebody else has changed meanwhile.
undo() {
	while IFS='|' read -r name before after; do
		case $name in
		module.*) modprobe -r "${name#module.}" 2>/dev/null ;;
		*)
			file=$sys/$(echo "$name" | tr . /)
			[ "$(words "$file")" = "$after" ] || continue
			put "$file" "$before" || echo "$name could not be put back to $before" >&2
			;;
		esac
	done <"$state/before"
	rm -rf "$state"
}

# claim waits for an earlier connection of the same owner to give way.
claim() {
	for try in 1 2 3 4 5 6 7 8 9 10; do
		if mkdir "$state" 2>/dev/null; then
			: >"$state/before" && echo "$owner $$ $(began $$)" >"$state/owner" && return
			fail "$state: no room"
		fi
		[ -d "$state" ] || fail "$state cannot be made"
		set -- $(cat "$state/owner" 2>/dev/null)
		if [ $# = 3 ] && [ "$(began "$2")" = "$3" ]; then
			[ "$1" = "$owner" ] || fail "$1 has tuned the machine, and is not over"
			kill "$2" 2>/dev/null
		elif [ $# = 3 ] || [ "$try" = 5 ]; then
			undo # its owner was killed
			continue
		fi
		sleep 1
	done
	fail "an earlier connection does not let the machine go"
}

# change sets NAME to VALUE, and says what it was, is, and why it is not that.
change() {
	file=$sys/$(echo "$1" | tr . /)
	if [ ! -e "$file" ]; then
		say "$1|||not there"
		return
	fi
	before=$(words "$file") why=
	if [ "$before" != "$2" ]; then
		echo "$1|$before|$2" >>"$state/before"
		put "$file" "$2" || why="may not be written"
	fi
	say "$1|$before|$(words "$file")|$why"
}

# raise sets the last number of NAME to the most, unless it is more.
raise() {
	set -- "$1" $(words "$sys/$(echo "$1" | tr . /)")
	case $# in
	2) [ "$2" -ge "$most" ] && change "$1" "$2" || change "$1" "$most" ;;
	4) [ "$4" -ge "$most" ] && change "$1" "$2 $3 $4" || change "$1" "$2 $3 $most" ;;
	*) [ -e "$sys/$(echo "$1" | tr . /)" ] && say "$1|||not understood" || say "$1|||not there" ;;
	esac
}

# allow lets ordinary users have the congestion control.
allow() {
	there=$sys/net/ipv4/tcp_available_congestion_control
	case " $(words "$there") " in
	*" $1 "*) ;;
	*)
		if ! modprobe "tcp_$1" 2>/dev/null; then
			say "module.tcp_$1|||could not be loaded"
			return
		fi
		echo "module.tcp_$1||" >>"$state/before"
		say "module.tcp_$1||loaded|"
		;;
	esac
	allowed=$(words "$sys/net/ipv4/tcp_allowed_congestion_control")
	case " $allowed " in
	*" $1 "*) ;;
	*) change net.ipv4.tcp_allowed_congestion_control "$allowed $1" ;;
	esac
}

# wait_for_end returns when the controller says no more. It waits in the
# background, since only so a signal is heard at once.
wait_for_end() {
	exec 3<&0
	while :; do
		timeout "$linger" head -n 1 <&3 >"$state/heard" &
		heard=$!
		wait "$heard" && [ -s "$state/heard" ] || return 0
	done
}

trap 'exit 1' HUP INT TERM PIPE
claim
trap 'kill $heard 2>/dev/null; undo' EXIT
for name in net.core.rmem_max net.core.wmem_max net.ipv4.tcp_rmem net.ipv4.tcp_wmem; do
	raise "$name"
done
change net.core.default_qdisc fq
[ -z "$control" ] || allow "$control"
say ready
wait_for_end
