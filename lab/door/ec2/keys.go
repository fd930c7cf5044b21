package ec2

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/ssh"
)

type keyPair struct {
	resource
	name        string
	public      string // authorized_keys line
	kind        string // "ed25519" or "rsa"
	fingerprint string
}

type importKeyPairInput struct {
	KeyName           string `form:",required"`
	PublicKeyMaterial string `form:",required"`
	TagSpecification  []tagSpec
}

type keyPairInfo struct {
	Fingerprint string `xml:"keyFingerprint"`
	Name        string `xml:"keyName"`
	ID          string `xml:"keyPairId"`
	Kind        string `xml:"keyType,omitempty"`
	Public      string `xml:"publicKey,omitempty"`
	Created     string `xml:"createTime,omitempty"`
	Tags        []tag  `xml:"tagSet>item"`
}

type importKeyPairAnswer struct {
	reply
	keyPairInfo
}

const maxKeyName = 255

func (r *region) importKeyPair(_ *call, in *importKeyPairInput) (*importKeyPairAnswer, error) {
	if in.KeyName == "" || len(in.KeyName) > maxKeyName {
		return nil, invalidValue("KeyName", in.KeyName)
	}
	t, err := tagsFor(in.TagSpecification, "key-pair")
	if err != nil {
		return nil, err
	}
	k := &keyPair{name: in.KeyName}
	if err := k.parse(in.PublicKeyMaterial); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys[k.name] != nil {
		return nil, bad("InvalidKeyPair.Duplicate", "The keypair already exists")
	}
	k.resource = r.newResource("key", t)
	r.keys[k.name] = k
	return &importKeyPairAnswer{keyPairInfo: keyPairInfo{Fingerprint: k.fingerprint, Name: k.name, ID: k.id, Tags: t.list()}}, nil
}

func (k *keyPair) parse(material string) error {
	malformed := bad("InvalidKey.Format", "Key is not in valid OpenSSH public key format")
	raw, err := base64.StdEncoding.DecodeString(material)
	if err != nil {
		return malformed
	}
	public, _, _, rest, err := ssh.ParseAuthorizedKey(raw)
	if err != nil || len(rest) > 0 {
		return malformed
	}
	switch public.Type() {
	case ssh.KeyAlgoED25519:
		k.kind = "ed25519"
	case ssh.KeyAlgoRSA:
		k.kind = "rsa"
	default:
		return malformed
	}
	sum := sha256.Sum256(public.Marshal())
	k.fingerprint = base64.StdEncoding.EncodeToString(sum[:])
	k.public = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))
	return nil
}

type describeKeyPairsInput struct {
	KeyName          []string
	KeyPairID        []string `form:"KeyPairId"`
	IncludePublicKey bool
	Filter           []filter
}

type keyPairsAnswer struct {
	reply
	Keys []keyPairInfo `xml:"keySet>item"`
}

func (r *region) describeKeyPairs(_ *call, in *describeKeyPairsInput) (*keyPairsAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range in.KeyName {
		if k := r.keys[name]; k == nil || !k.seen() {
			return nil, keyNotFound(name)
		}
	}
	list := &keyPairsAnswer{}
	found := map[string]bool{}
	for _, k := range byAge(r.keys, func(k *keyPair) *resource { return &k.resource }) {
		found[k.id] = true
		ok, err := match(in.Filter, k.tags, map[string][]string{
			"key-name": {k.name}, "key-pair-id": {k.id}, "fingerprint": {k.fingerprint},
		})
		if err != nil {
			return nil, err
		}
		if ok && wanted(in.KeyName, k.name) && wanted(in.KeyPairID, k.id) {
			list.Keys = append(list.Keys, k.info(in.IncludePublicKey))
		}
	}
	for _, id := range in.KeyPairID {
		if !found[id] {
			return nil, bad("InvalidKeyPair.NotFound", "The key pair ID '%s' does not exist", id)
		}
	}
	return list, nil
}

func (k *keyPair) info(public bool) keyPairInfo {
	i := keyPairInfo{k.fingerprint, k.name, k.id, k.kind, "", timestamp(k.created), k.tags.list()}
	if public {
		i.Public = k.public
	}
	return i
}

func keyNotFound(name string) *failure {
	return bad("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", name)
}

type deleteKeyPairInput struct {
	KeyName   string
	KeyPairID string `form:"KeyPairId"`
}

type deleteKeyPairAnswer struct {
	okAnswer
	ID string `xml:"keyPairId,omitempty"`
}

// deleteKeyPair is content when there is none, as AWS is.
func (r *region) deleteKeyPair(_ *call, in *deleteKeyPairInput) (*deleteKeyPairAnswer, error) {
	if in.KeyName == "" && in.KeyPairID == "" {
		return nil, missing("KeyName")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &deleteKeyPairAnswer{okAnswer: okAnswer{Return: true}}
	for name, k := range r.keys {
		if name == in.KeyName || k.id == in.KeyPairID {
			a.ID = k.id
			delete(r.keys, name)
		}
	}
	return a, nil
}
