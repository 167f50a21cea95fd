package herald

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

const hidden = "…"

// secret gives a secret. As it is a function, nothing prints it, however deep it is in what is printed.
type secret func() string

// readSecret makes a secret of a text that goes in a header, without the white space around it, such as the line break of the file
// that it is read from. Its errors do not contain the text.
func readSecret(what, text string) (secret, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, fmt.Errorf("herald: %s is missing", what)
	}
	for at := range len(text) {
		if text[at] <= ' ' || text[at] > '~' {
			return nil, fmt.Errorf("herald: %s must be visible ASCII characters, which byte %d of %d is not: check where it is read from",
				what, at+1, len(text))
		}
	}
	return func() string { return text }, nil
}

// readAddress returns the address of the server without the white space around it, its query and a slash at the end. Its errors say
// what to write. They contain the address only if that can hold no password and no key.
func readAddress(text string) (string, error) {
	const example = "such as http://127.0.0.1:7070"
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fmt.Errorf("herald: the address of the server is missing: write one %s", example)
	}
	shown := ""
	if !strings.Contains(text, "@") && !strings.Contains(text, "hk_") {
		shown = fmt.Sprintf(" %q", text)
	}
	address, err := url.Parse(text)
	if !strings.Contains(text, "://") || (err == nil && ((address.Scheme != "http" && address.Scheme != "https") || address.Hostname() == "")) {
		instead := "one " + example
		if !strings.Contains(text, "://") && shown != "" {
			instead = "http://" + text
		}
		return "", fmt.Errorf("herald: the address of the server%s must begin with http:// or https://: write %s", shown, instead)
	}
	if err != nil { // it quotes the address
		return "", fmt.Errorf("herald: the address of the server%s is not a URL: write one %s", shown, example)
	}
	if address.User != nil {
		return "", fmt.Errorf("herald: the address of the server must not contain a user name or a password: leave out what is before @")
	}
	return address.Scheme + "://" + address.Host + strings.TrimRight(address.EscapedPath(), "/"), nil
}

// String describes the client, without its key.
func (c *Client) String() string { return "herald.Client(" + c.root + ")" }

// Format prints the options without the key.
func (o Options) Format(state fmt.State, verb rune) {
	type plain Options
	o.Key = masked(o.Key)
	fmt.Fprintf(state, fmt.FormatString(state, verb), plain(o))
}

// MarshalJSON writes the options without the key, as loggers do.
func (o Options) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct{ URL, Key string }{o.URL, masked(o.Key)})
}

// Format prints the token without what a client connects with.
func (t Token) Format(state fmt.State, verb rune) {
	type plain Token
	t.Token = masked(t.Token)
	fmt.Fprintf(state, fmt.FormatString(state, verb), plain(t))
}

// Format prints the answer without the token.
func (t CreateTokenResponse) Format(state fmt.State, verb rune) {
	type plain CreateTokenResponse
	t.Token = masked(t.Token)
	fmt.Fprintf(state, fmt.FormatString(state, verb), plain(t))
}

// Format prints the key without its secret.
func (k APIKeyWithSecret) Format(state fmt.State, verb rune) {
	type plain APIKeyWithSecret
	k.Key = masked(k.Key)
	fmt.Fprintf(state, fmt.FormatString(state, verb), plain(k))
}

// Format prints the webhook without its secret.
func (w WebhookWithSecret) Format(state fmt.State, verb rune) {
	type plain WebhookWithSecret
	w.Secret = masked(w.Secret)
	fmt.Fprintf(state, fmt.FormatString(state, verb), plain(w))
}

func masked(text string) string {
	if text == "" {
		return ""
	}
	return hidden
}
