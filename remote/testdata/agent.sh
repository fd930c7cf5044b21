#!/bin/sh
# An agent that answers each request with port 100 and dies on port 1.
[ "$1" = agent ] || exit 2
echo '{"version":VERSION,"build":"script"}'
while read -r line; do
	case $line in
	*'"port":1}'*)
		echo "panic: boom" >&2
		exit 3
		;;
	esac
	id=${line#*'"id":'}
	echo "{\"id\":${id%%,*},\"serve\":{\"port\":100}}"
done
