package main

import (
	_ "embed"
	"text/template"
)

//go:embed banner.txt
var bannerText string

// banner is printed at the start. Its curl commands work as printed; with AUTH=oidc they need a token.
var banner = template.Must(template.New("banner").Parse(bannerText))
