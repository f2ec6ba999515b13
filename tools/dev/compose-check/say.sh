# What the scripts of this folder say. Read in by them.

# A line of progress, with the seconds since the start.
say() {
	printf '%s: %4ds  %s\n' "${said_by:-compose}" "$SECONDS" "$*"
}

# Says what to do about something that cannot go on, and ends the script.
fail() {
	printf '%s: %s\n' "${said_by:-compose}" "$*" >&2
	exit 1
}
