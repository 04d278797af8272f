// Package contract owns the shapes that cross a boundary of the governed
// specialist layer: wire types and their JSON Schemas, the canonical form and
// the signed digest, the taxonomy value, evidence, reason codes and trace
// events. It refuses any behaviour beyond reading, checking, writing and
// hashing those shapes: nothing here decides, calls or stores.
package contract
