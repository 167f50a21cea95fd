package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The example of the specification's libraries.
const (
	secret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	id        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	timestamp = 1614265330
	body      = `{"test": 2432232314}`
	signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func webhookOf(t *testing.T, at time.Time) *Webhook {
	t.Helper()
	hook, err := New(secret)
	if err != nil {
		t.Fatal(err)
	}
	hook.now = func() time.Time { return at }
	return hook
}

func headerOf(signature string) http.Header {
	header := http.Header{}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", signature)
	return header
}

func TestAWebhookIsVerifiedByAnyOfItsSignatures(t *testing.T) {
	hook := webhookOf(t, time.Unix(timestamp, 0))
	for _, signatures := range []string{signature, "v1,AAAA " + signature, "v2,AAAA v1,? " + signature} {
		if err := hook.Verify(headerOf(signatures), []byte(body)); err != nil {
			t.Errorf("%s: %v", signatures, err)
		}
	}
	for _, signatures := range []string{"", "v1,AAAA", strings.TrimPrefix(signature, "v1,"), strings.Replace(signature, "v1", "v2", 1)} {
		if err := hook.Verify(headerOf(signatures), []byte(body)); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", signatures, err)
		}
	}
}

func TestAWebhookThatWasChangedIsRefused(t *testing.T) {
	hook := webhookOf(t, time.Unix(timestamp, 0))
	if err := hook.Verify(headerOf(signature), []byte(body+" ")); !errors.Is(err, ErrSignature) {
		t.Error(err)
	}
	for name, value := range map[string]string{"webhook-id": "other", "webhook-timestamp": "1614265331"} {
		header := headerOf(signature)
		header.Set(name, value)
		if err := hook.Verify(header, []byte(body)); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWebhookIsOfNow(t *testing.T) {
	for offset, expected := range map[time.Duration]error{
		Tolerance: nil, -Tolerance: nil, Tolerance + time.Second: ErrTimestamp, -Tolerance - time.Second: ErrTimestamp,
	} {
		hook := webhookOf(t, time.Unix(timestamp, 0).Add(offset))
		if err := hook.Verify(headerOf(signature), []byte(body)); !errors.Is(err, expected) {
			t.Errorf("%v: %v", offset, err)
		}
	}
	header := headerOf(signature)
	header.Set("webhook-timestamp", "soon")
	if err := webhookOf(t, time.Unix(timestamp, 0)).Verify(header, []byte(body)); !errors.Is(err, ErrTimestamp) {
		t.Error(err)
	}
}

func TestASecretIsBase64(t *testing.T) {
	for _, wrong := range []string{"", "whsec_", "whsec_???"} {
		if _, err := New(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestTheHandlerAnswersAsTheServerExpects(t *testing.T) {
	hook := webhookOf(t, time.Unix(timestamp, 0))
	var outcome error
	handler := hook.Handler(func(_ context.Context, event Event) error {
		if event.ID != id {
			t.Error(event.ID)
		}
		return outcome
	})
	for _, expected := range []struct {
		signature string
		outcome   error
		status    int
	}{{signature, nil, 204}, {"v1,AAAA", nil, 401}, {signature, errors.New("later"), 500}} {
		outcome = expected.outcome
		request := httptest.NewRequest("POST", "/", strings.NewReader(body))
		request.Header = headerOf(expected.signature)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != expected.status {
			t.Errorf("%+v: %d", expected, answer.Code)
		}
	}
}

func TestASecretIsStrippedAndNeverPrinted(t *testing.T) {
	hook, err := New(" " + secret + "\n")
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := New(secret)
	if !bytes.Equal(hook.key(), plain.key()) {
		t.Error("the secret is another one")
	}
	text := fmt.Sprintf("%v %+v %#v %+v", hook, hook, hook, struct{ w *Webhook }{hook})
	if strings.Contains(text, strings.Trim(fmt.Sprint(hook.key()), "[]")) || strings.Contains(text, fmt.Sprintf("%#v", hook.key())) {
		t.Error(text)
	}
	if _, err := New("whsec_MfKQ9r8G!KYqr"); err == nil || strings.Contains(err.Error(), "MfKQ9r8G") {
		t.Error(err)
	}
}
