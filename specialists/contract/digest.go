package contract

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// SignedBy is the only signer of a context policy digest.
const SignedBy = "fabric_core"

// Errors of VerifyDigest; each means that a cached result is not to be used.
var (
	ErrDigestMismatch  = errors.New("digest is not that of its components")
	ErrDigestSignature = errors.New("digest signature does not verify")
)

// KeyID names a public key: the first 16 hex digits of its SHA-256.
func KeyID(pub ed25519.PublicKey) string {
	s := sha256.Sum256(pub)
	return hex.EncodeToString(s[:8])
}

// Sum is the digest of the components: evidence_refs as a set, maps in
// canonical order.
func (c DigestComponents) Sum() (string, error) {
	return SumOf(c.ordered())
}

func (c DigestComponents) ordered() DigestComponents {
	c = Filled(c)
	refs := slices.Clone(c.EvidenceRefs)
	slices.Sort(refs)
	c.EvidenceRefs = slices.Compact(refs)
	return c
}

// NewDigest signs the components (F-065).
func NewDigest(c DigestComponents, key ed25519.PrivateKey) (ContextPolicyDigest, error) {
	if len(key) != ed25519.PrivateKeySize {
		return ContextPolicyDigest{}, errors.New("sign digest: no Ed25519 key")
	}
	c = c.ordered()
	sum, err := SumOf(c)
	if err != nil {
		return ContextPolicyDigest{}, fmt.Errorf("sign digest: %w", err)
	}
	return ContextPolicyDigest{
		Digest: sum, SignedBy: SignedBy, Components: c,
		Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(sum))),
		KeyID:     KeyID(key.Public().(ed25519.PublicKey)),
	}, nil
}

// VerifyDigest recomputes the digest and checks signer, key and signature.
func VerifyDigest(d ContextPolicyDigest, pub ed25519.PublicKey) error {
	sum, err := d.Components.Sum()
	if err != nil {
		return fmt.Errorf("verify digest: %w", err)
	}
	if sum != d.Digest {
		return ErrDigestMismatch
	}
	if len(pub) != ed25519.PublicKeySize || d.SignedBy != SignedBy || d.KeyID != KeyID(pub) {
		return ErrDigestSignature
	}
	sig, err := base64.StdEncoding.DecodeString(d.Signature)
	if err != nil || !ed25519.Verify(pub, []byte(d.Digest), sig) {
		return ErrDigestSignature
	}
	return nil
}
