// Package chatstore has the aggregate types of this application. Each is one value that joins the rules with the
// codecs, for services, projections, tools and tests.
package chatstore
