// Command web serves the page, and both APIs on the page's origin. It stands before write-api, read-api and
// read-model-updater and knows no database.
package main
