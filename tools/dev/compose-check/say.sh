# Output of the scripts in this folder. Sourced by them.

# Prints a line of progress with the seconds since the start.
say() {
	printf '%s: %4ds  %s\n' "${said_by:-compose}" "$SECONDS" "$*"
}

# Prints what to do about an error, and ends the script.
fail() {
	printf '%s: %s\n' "${said_by:-compose}" "$*" >&2
	exit 1
}
