// Package writing holds texts that people write: trimmed, not empty, of limited length, with one line or several.
package writing
