// Package tutorial holds the tests that follow the lessons of docs/tutorial literally.
package tutorial
