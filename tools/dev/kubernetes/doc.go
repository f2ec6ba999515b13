// Package kubernetes tests the manifests in deploy/kubernetes: the overlay is built as `kubectl apply -k` does, and
// compared with Kubernetes' types and with what the programs read.
package kubernetes
