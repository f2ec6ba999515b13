// Package graphiql serves GraphiQL, the page on which people try queries and subscriptions. Everything the page needs
// is embedded: it loads nothing from elsewhere, and its Content-Security-Policy sees to that.
//
// The folder assets holds the published builds of GraphiQL and React, each with its licence, packed; assets/refresh.sh
// fetches them anew. The folder page is ours.
package graphiql
