// Package gatewaytest is the contract of eventstore.EventPersistenceGateway as a test suite. A gateway's tests put it
// through all of it in one call of [Run], and give it the store's own ways to fail in a [Harness]. It knows no store.
//
// The suite shares a store with whatever else is in it: it makes its aggregates under new ULIDs and looks at no others.
package gatewaytest
