package herald

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

func TestATokenIsSignedAndNamesItsUserAndItsTimesToTheMillisecond(t *testing.T) {
	const secret = "a secret of at least thirty-two bytes"
	issuer, err := NewTokenIssuer(secret)
	if err != nil {
		t.Fatal(err)
	}
	issuer.now = func() time.Time { return time.UnixMilli(1_795_000_000_007) }
	token, err := issuer.Issue("o", "ü", time.Minute)
	if err != nil || !token.ExpiresAt.Equal(time.UnixMilli(1_795_000_060_007)) {
		t.Fatalf("%+v, %v", token, err)
	}
	text := token.Token[:strings.LastIndex(token.Token, ".")]
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	if text+"."+base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) != token.Token {
		t.Error("the signature is wrong")
	}
	_, payload, _ := strings.Cut(text, ".")
	claims, err := base64.RawURLEncoding.DecodeString(payload)
	expected := `{"org":"o","sub":"ü","aud":"herald","jti":"` + token.ID + `","iat":1795000000.007,"exp":1795000060.007}`
	if err != nil || string(claims) != expected {
		t.Errorf("%s, %v", claims, err)
	}
	if token, _ := issuer.Issue("o", "u", 0); token.ExpiresAt.Sub(issuer.now()) != time.Hour {
		t.Error(token.ExpiresAt)
	}
}

func TestATokenNeedsALongSecretAUserAndALife(t *testing.T) {
	if _, err := NewTokenIssuer("short"); err == nil {
		t.Error("a short secret is accepted")
	}
	issuer, _ := NewTokenIssuer(strings.Repeat("x", 32))
	for _, names := range [][2]string{{"", "u"}, {"o", ""}} {
		if _, err := issuer.Issue(names[0], names[1], time.Minute); err == nil {
			t.Errorf("%q is accepted", names)
		}
	}
	if _, err := issuer.Issue("o", "u", -time.Minute); err == nil {
		t.Error("a token of the past is issued")
	}
}

func TestIDsSortByTheTimeOfTheirCreation(t *testing.T) {
	at := time.UnixMilli(0x0123456789AB)
	if id := newIDAt(at); !strings.HasPrefix(id, "01234567-89ab-7") || id >= newIDAt(at.Add(time.Millisecond)) {
		t.Error(id)
	}
}
