// Package graphiql serves GraphiQL, a page for trying queries and subscriptions. All files of the page are embedded. It
// loads nothing from elsewhere, which its Content-Security-Policy enforces.
//
// The folder assets holds the published builds of GraphiQL and React with their licences, compressed; assets/refresh.sh
// downloads them again. The files in the folder page are our own.
package graphiql
