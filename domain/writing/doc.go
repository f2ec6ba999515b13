// Package writing is what people write, as aggregates take it: trimmed, not empty, not too long, on one line or several.
package writing
