// Package tenants is the registry of tenants: operators register, suspend and reactivate them, and requests of others
// are refused where a program asks for that. Its aggregate is package tenant; its rows are in the database of the read
// model.
package tenants
