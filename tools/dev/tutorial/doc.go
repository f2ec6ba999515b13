// Package tutorial holds the test that follows docs/tutorial.md literally.
package tutorial
