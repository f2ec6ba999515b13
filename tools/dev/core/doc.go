// Command core copies the project without the extras that are not named (make core DIR=../core EXTRAS="access limits").
//
// A file belongs to an extra if it is in the extra's folder, or in one that [parts] names. A line of any other file
// belongs to one if it ends with a comment with its mark, as in
//
//	store = lab.Wrap(store) // extra:lab
//
// and so do the lines from the mark `extra:lab {` to `extra:lab }`, with what stands before these marks. A mark in a
// file's first line marks the whole file. A mark with several names, as in extra:page,lab, belongs to those who have
// all of them; one as extra:page|lab, to those who have one. Blocks may stand in blocks. What belongs to an extra that
// is not copied is left out, and what is left is joined; the other marks are removed. A folder of tests that only helps
// tests which are not copied is left out, too.
//
// The extra "whole" is never copied: it marks what makes sense only where everything is. The extra "chat" is this
// application; a copy has it.
//
// With -new it makes a new application instead (make new-app): the copy has no chat, an aggregate
// that tools/dev/scaffold writes, files in other words (folder newapp), and names of its own.
package main
