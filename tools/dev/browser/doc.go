// Package browser tests the page in a real browser, Chromium, with the real program: its use by mouse and keyboard, and
// that it loads nothing from other servers and logs no errors. It writes screenshots to data/screenshots, for people to
// look at.
package browser
