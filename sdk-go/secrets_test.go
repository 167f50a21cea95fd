package herald

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const theSecret = "hk_01a1f910-573b-7c21-9d4e-6a5b4c3d2e1f_S3cretS3cret"

// printed is a value in all ways in which it could come into a log.
func printed(value any) string {
	var text bytes.Buffer
	slog.New(slog.NewJSONHandler(&text, nil)).Info("x", "value", value)
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&text, verb+"\n", value)
	}
	return text.String()
}

func isTold(text string) bool {
	for _, form := range []string{theSecret, fmt.Sprintf("%x", theSecret), fmt.Sprint([]byte(theSecret)), fmt.Sprintf("%#v", []byte(theSecret))} {
		if strings.Contains(text, strings.Trim(form, "[]")) {
			return true
		}
	}
	return false
}

func TestWhiteSpaceAroundAKeyIsLeftOut(t *testing.T) {
	server := answers(t, with(204, ""))
	client, err := New(Options{URL: " " + server.root + "\n", Key: "\t" + theSecret + " \r\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.DeleteUser(t.Context(), "o", "u"); err != nil || server.seen()[0].key != theSecret {
		t.Error(err, len(server.seen()))
	}
}

func TestAKeyWithOtherCharactersIsRefusedWithoutIt(t *testing.T) {
	for _, character := range []string{"\n", "\r", " ", "\x00", "\x7f", "é", "\u2028", "“"} {
		_, err := New(Options{URL: "http://127.0.0.1:1", Key: theSecret + character + theSecret})
		if err == nil || !strings.Contains(err.Error(), "the API key must be visible ASCII characters") || isTold(printed(err)) {
			t.Errorf("%q: %v", character, err)
		}
	}
	for _, key := range []string{"", " \n"} {
		if _, err := New(Options{URL: "http://127.0.0.1:1", Key: key}); err == nil || !strings.Contains(err.Error(), "the API key is missing") {
			t.Error(err)
		}
	}
}

func TestNothingThatIsPrintedHasASecret(t *testing.T) {
	client, err := New(Options{URL: "http://127.0.0.1:1", Key: theSecret, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := NewTokenIssuer(theSecret)
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.Issue("o", "u", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, failure := client.GetUser(t.Context(), "o", "u")
	type shop struct {
		Client *Client
		client *Client
		Issuer *TokenIssuer
		issuer TokenIssuer
	}
	options := Options{URL: "http://127.0.0.1:1", Key: theSecret}
	values := []any{client, struct{ C *Client }{client}, shop{client, client, issuer, *issuer}, &shop{client, client, issuer, *issuer},
		options, &options, struct{ O Options }{options}, issuer, *issuer, failure, errors.Unwrap(failure)}
	for _, value := range values {
		if text := printed(value); isTold(text) {
			t.Errorf("%T: %s", value, text)
		}
	}
	if text := fmt.Sprintf("%+v %+v", token, struct{ T Token }{*token}); strings.Contains(text, token.Token) || !strings.Contains(text, token.ID) {
		t.Error(text)
	}
	answers := []any{CreateTokenResponse{Token: theSecret}, APIKeyWithSecret{Key: theSecret, Name: "the name"}, WebhookWithSecret{Secret: theSecret}}
	for _, answer := range answers {
		if text := fmt.Sprintf("%v %+v %#v", answer, answer, answer); isTold(text) {
			t.Error(text)
		}
		if text, err := json.Marshal(answer); err != nil || !isTold(string(text)) {
			t.Errorf("%s cannot be stored: %v", text, err)
		}
	}
	if text := fmt.Sprintf("%+v", answers[1]); !strings.Contains(text, "the name") {
		t.Error(text)
	}
}

func TestAnAddressThatCannotBeUsedIsRefusedWithWhatToWrite(t *testing.T) {
	for address, said := range map[string]string{
		"":                                       "is missing: write one such as http://127.0.0.1:7070",
		"127.0.0.1:7070":                         `"127.0.0.1:7070" must begin with http:// or https://: write http://127.0.0.1:7070`,
		"herald.example.com":                     "write http://herald.example.com",
		"ftp://herald":                           `"ftp://herald" must begin with http:// or https://: write one such as http://127.0.0.1:7070`,
		"http://":                                "must begin with http:// or https://",
		"http://:80":                             "must begin with http:// or https://",
		"http://herald:port":                     "is not a URL",
		"http://user:" + theSecret + "@herald":   "must not contain a user name or a password",
		"http://user:" + theSecret + "@herald:x": "is not a URL",
		"user:" + theSecret + "@herald":          "must begin with http",
		theSecret:                                "must begin with http",
	} {
		_, err := New(Options{URL: address, Key: "k"})
		if err == nil || !strings.Contains(err.Error(), "the address of the server") || !strings.Contains(err.Error(), said) || isTold(printed(err)) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestAHeaderThatHTTPDoesNotAllowIsNotQuoted(t *testing.T) {
	client := clientOf(t, "http://127.0.0.1:1")
	if _, err := client.Upload(t.Context(), "o", "a", "text/plain\n"+theSecret, strings.NewReader("x")); err == nil || isTold(printed(err)) {
		t.Error(err)
	}
}

func TestWhiteSpaceAroundATokenSecretIsLeftOut(t *testing.T) {
	for _, secret := range []string{theSecret, " " + theSecret + "\n"} {
		issuer, err := NewTokenIssuer(secret)
		if err != nil || issuer.secret() != theSecret {
			t.Fatal(err)
		}
	}
	if _, err := NewTokenIssuer(theSecret[:20] + strings.Repeat(" ", 20)); err == nil || strings.Contains(err.Error(), theSecret[:20]) {
		t.Error(err)
	}
}
