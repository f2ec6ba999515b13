// Package kubernetes tests the manifests in deploy/kubernetes: each overlay is built as `kubectl apply -k` does, and
// compared with Kubernetes' types and with what the programs read. kubeconform would also find fields that are missing,
// but fetches its schemas when it runs.
package kubernetes
