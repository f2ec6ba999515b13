// Package browser tests the page in a real browser, Chromium, against the real program: what people do with it, by
// mouse and by keyboard, and what it must not do: load anything from elsewhere, or write an error to the console. It
// writes screenshots to data/screenshots, for people to look at.
package browser
