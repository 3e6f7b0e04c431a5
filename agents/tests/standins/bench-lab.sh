#!/bin/sh
# Stands in for bench-lab.sh of the netbenches archive: the same options, the same files, no lab.
# All that reaches a machine goes through the `ssh` found in PATH, which a test provides.
set -eu

settings='' sets='' images='' generators='' results=/tmp/benchs
iterations=5 profile=no statistics=no sure=no

stop() {
	echo "EXIT: $*" >&2
	exit 1
}

on() {
	host=$1
	shift
	ssh -o BatchMode=yes "root@$host" "$@"
}

while getopts f:c:i:p:n:d:r:PSy option; do
	case $option in
	f) settings=$OPTARG ;;
	c) sets=$OPTARG ;;
	i) images=$OPTARG ;;
	p) generators=$OPTARG ;;
	n) iterations=$OPTARG ;;
	d) results=$OPTARG ;;
	r) ;; # whom to mail the report: nobody here
	P) profile=yes ;;
	S) statistics=yes ;;
	y) sure=yes ;;
	*) exit 1 ;;
	esac
done
shift $((OPTIND - 1))

[ $# -eq 0 ] || stop "extraneous argument $1"
[ -n "$settings" ] || stop "-f is mandatory"
[ -f "$settings" ] || stop "no settings of the lab in $settings"
for directory in "$sets" "$images" "$generators" "$results"; do
	[ -z "$directory" ] || [ -d "$directory" ] || stop "no directory $directory"
done
if [ $profile = yes ]; then iterations=1; else
	[ "$iterations" -ge 3 ] || stop "at least 3 iterations"
fi
[ -z "$(find "$results" -maxdepth 1 -name 'bench*')" ] || stop "earlier results in $results"

# Sets DUT_ADMIN, SENDER_ADMIN, RECEIVER_ADMIN, SENDER_START_CMD, RECEIVER_START_CMD.
. "$settings"

# One line for each combination: image, configuration set, generator settings; - where there is none.
list() {
	if [ -z "$1" ]; then echo -; return; fi
	found=$(find "$1" -mindepth 1 -maxdepth 1 $2 | sort)
	[ -n "$found" ] || stop "nothing to measure in $1"
	echo "$found"
}
image_list=$(list "$images" '-type f -name BSDRP-*-upgrade*')
set_list=$(list "$sets" '-type d')
generator_list=$(list "$generators" '-type f')

count=0
for _ in $image_list; do for _ in $set_list; do for _ in $generator_list; do
	count=$((count + iterations))
done; done; done
echo "This starts $count benches."
if [ $sure = no ]; then
	printf 'Do you want to continue ? (y/n): '
	read -r answer || stop "nobody answered"
	[ "$answer" = y ] || exit 0
fi

reboot() {
	on "$DUT_ADMIN" shutdown -r now
	on "$DUT_ADMIN" netstat -rn >/dev/null || stop "$DUT_ADMIN did not come back"
}

bench() {
	[ $profile = no ] || on "$DUT_ADMIN" pmcstat -G - >"$1.pmc.graph"
	echo "CMD: $RECEIVER_START_CMD" >"$1.receiver"
	on "$RECEIVER_ADMIN" "$RECEIVER_START_CMD" >>"$1.receiver" || stop "the receiver failed"
	echo "CMD: $SENDER_START_CMD" >"$1.sender"
	on "$SENDER_ADMIN" "$SENDER_START_CMD" >>"$1.sender" || stop "the sender failed"
	[ $statistics = no ] || on "$DUT_ADMIN" netstat -i >"$1.during"
	ran=$((ran + 1))
}

# $1: image, $2: configuration set, $3: generator settings
measure() {
	prefix=$results/bench image='' set='' generator=''
	if [ "$1" != - ]; then
		image=$(basename "$1" | cut -d - -f 2)
		prefix=$prefix.$image
	fi
	if [ "$2" != - ]; then
		set=$(basename "$2")
		prefix=$prefix.$set
	fi
	if [ "$3" != - ]; then
		generator=$(basename "$3")
		prefix=$prefix.$generator
		. "$3"
		. "$settings"
	fi
	printf 'IMAGE="%s"\nCFG="%s"\nPKTGEN="%s"\nUNAME="%s"' "$image" "$set" "$generator" \
		"$(on "$DUT_ADMIN" uname -a)" >"$prefix.info"
	iteration=1
	while [ $iteration -le "$iterations" ]; do
		echo "bench $((ran + 1)) of $count: $(basename "$prefix").$iteration"
		bench "$prefix.$iteration"
		[ $ran -eq $count ] || reboot
		iteration=$((iteration + 1))
	done
}

ran=0
for one_image in $image_list; do
	if [ "$one_image" != - ]; then
		on "$DUT_ADMIN" upgrade <"$one_image" || stop "cannot upgrade to $one_image"
		reboot
	fi
	for one_set in $set_list; do
		if [ "$one_set" != - ]; then
			tar -cf - -C "$one_set" . | on "$DUT_ADMIN" config save || stop "cannot load $one_set"
			reboot
		fi
		for one_generator in $generator_list; do
			measure "$one_image" "$one_set" "$one_generator"
		done
	done
done
echo "All benches are done, results in $results"
