// Package provider knows how each agent is started, resumed and stopped, and where
// it announces things: one adapter per agent, and an adapter is data. The built-in
// one is demo; others are [provider.NAME] tables of config.toml (docs/config.md).
//
// Its invariant: a Provider that Load returned is whole. Templates expand, patterns
// compile, and a resume names its conversation, so later steps have no case for a
// half-written adapter. A Provider survives JSON unchanged; the supervisor gets it
// in its spec and computes a resume's argv by itself.
//
// It starts no process, and reads no file but config.toml and, for Fingerprint, the
// agent's executable.
package provider
