// Package route maps capability profiles to local models and is the only
// place that speaks to an Ollama server. It refuses to know what a prompt is
// for. It stands in for the platform's model router (F-010).
package route
