package herald

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	defaultTokenLife = time.Hour
	leastSecretBytes = 32 // RFC 7518, section 3.2
)

// CreateToken issues a token for the user to connect with, for this long: whole seconds; 0 means an hour.
func (c *Client) CreateToken(ctx context.Context, org, uid string, life time.Duration) (*CreateTokenResponse, error) {
	var fields CreateTokenRequest
	if life != 0 {
		fields.TTLSeconds = Ptr(int(life / time.Second))
	}
	path := organization(org, "users", uid, "tokens")
	return answer[CreateTokenResponse](ctx, c, call{method: http.MethodPost, path: path, body: fields, isSafe: true})
}

// RevokeToken revokes one token by its id (jti): closes its connections, and refuses it from now on.
func (c *Client) RevokeToken(ctx context.Context, org, uid, id string) error {
	return c.remove(ctx, nil, organization(org, "users", uid, "tokens", id)...)
}

// TokenIssuer issues user tokens with the server's secret, without a call.
type TokenIssuer struct {
	secret secret
	now    func() time.Time
}

// Token is a user token.
type Token struct {
	// Token is what the client connects with.
	Token string
	// ID is its jti, by which it can be revoked.
	ID        string
	ExpiresAt time.Time
}

// NewTokenIssuer makes an issuer of HERALD_TOKEN_SECRET. Whoever has it can be any user of any organization: prefer CreateToken
// where a call is affordable. White space around it is left out.
func NewTokenIssuer(secret string) (*TokenIssuer, error) {
	secret = strings.TrimSpace(secret)
	if len(secret) < leastSecretBytes {
		return nil, fmt.Errorf("herald: a token secret has at least %d bytes", leastSecretBytes)
	}
	return &TokenIssuer{secret: func() string { return secret }, now: time.Now}, nil
}

// Issue issues a token for a user, for this long; 0 means an hour. The server allows 30 days, unless it is set otherwise. Whoever
// connects with it is created as a user, if the organization exists. EndSessions refuses it, if it was issued before.
func (t *TokenIssuer) Issue(org, uid string, life time.Duration) (*Token, error) {
	if org == "" || uid == "" {
		return nil, errors.New("herald: a token needs an organization and a user")
	}
	if life <= 0 {
		if life < 0 {
			return nil, fmt.Errorf("herald: a token cannot live for %v", life)
		}
		life = defaultTokenLife
	}
	issuedAt := t.now().Truncate(time.Millisecond)
	expiresAt := issuedAt.Add(life).Truncate(time.Millisecond)
	id := newIDAt(issuedAt)
	claims := struct {
		Organization string      `json:"org"`
		Subject      string      `json:"sub"`
		Audience     string      `json:"aud"`
		ID           string      `json:"jti"`
		IssuedAt     json.Number `json:"iat"`
		ExpiresAt    json.Number `json:"exp"`
	}{org, uid, "herald", id, seconds(issuedAt), seconds(expiresAt)}
	payload, err := encode(claims)
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(payload)
	signature := hmac.New(sha256.New, []byte(t.secret()))
	signature.Write([]byte(text))
	text += "." + base64.RawURLEncoding.EncodeToString(signature.Sum(nil))
	return &Token{Token: text, ID: id, ExpiresAt: expiresAt}, nil
}

// seconds writes a time with its milliseconds: a sign-out distinguishes the tokens of one second.
func seconds(at time.Time) json.Number {
	millis := at.UnixMilli()
	return json.Number(fmt.Sprintf("%d.%03d", millis/1000, millis%1000))
}
