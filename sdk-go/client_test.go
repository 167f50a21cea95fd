package herald

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestASendIsRepeatedWithTheSameIDUntilItIsAnswered(t *testing.T) {
	server := answers(t, cut, problem(503, "unavailable", "Retry-After", "0"), problem(500, "internal"), problem(507, "storage_full"),
		with(201, ask, "Idempotent-Replayed", "true"))
	sent, err := server.SendMessage(t.Context(), envelope)
	if err != nil || sent.ServerMID != "s" || !sent.Replayed || sent.Delivery != nil {
		t.Fatalf("%+v, %v", sent, err)
	}
	if len(server.seen()) != 5 {
		t.Fatalf("%d attempts", len(server.seen()))
	}
	first := server.seen()[0]
	for _, other := range server.seen() {
		if other != first {
			t.Errorf("%+v differs from %+v", other, first)
		}
	}
	if first.method != "POST" || first.path != "/base/admin/message" || first.key != "the-key" || !strings.Contains(first.body, `"hi <&>"`) {
		t.Errorf("%+v", first)
	}
	if !regexp.MustCompile(`"id":"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`).MatchString(first.body) {
		t.Error(first.body)
	}
	if envelope.Message.ID != "" {
		t.Error("the caller's send was changed")
	}
}

func TestTheIDOfTheCallerIsKept(t *testing.T) {
	server := answers(t, with(201, `{"ack":{"mid":"mine","t":1}}`))
	send := SendSystemMessageRequest{OrganizationID: "o", SenderID: "u", MessageSystem: NewSystemMessage{ID: "mine", UIDs: []string{"u"}}}
	if sent, err := server.SendSystemMessage(t.Context(), send); err != nil || sent.MID != "mine" {
		t.Fatalf("%+v, %v", sent, err)
	}
	const body = `{"messageSystem":{"id":"mine","uids":["u"]},"organizationId":"o","senderId":"u"}`
	if server.seen()[0].body != body {
		t.Error(server.seen()[0].body)
	}
}

func TestASendThatWaitsSaysSoAndTellsOfTheDelivery(t *testing.T) {
	server := answers(t, with(201, ask, "Herald-Delivery", "recipients=3, online=2, delivered=2, acknowledged=1"),
		with(201, ask, "Herald-Delivery", "recipients=3, online=many"))
	sent, err := server.SendMessage(t.Context(), envelope, Wait(5*time.Second))
	if err != nil || *sent.Delivery != (DeliveryCounts{Recipients: 3, Online: 2, Delivered: 2, Acknowledged: 1}) {
		t.Fatalf("%+v, %v", sent, err)
	}
	if sent, err := server.SendMessage(t.Context(), envelope); err != nil || sent.Delivery != nil {
		t.Fatalf("%+v, %v", sent, err)
	}
	if server.seen()[0].prefer != "wait=5" || server.seen()[1].prefer != "" {
		t.Errorf("%+v", server.seen())
	}
	for _, wait := range []time.Duration{-time.Second, time.Millisecond, 1500 * time.Millisecond} {
		if _, err := server.SendMessage(t.Context(), envelope, Wait(wait)); err == nil {
			t.Errorf("a wait of %v is accepted", wait)
		}
	}
}

func TestARefusalIsNotRepeatedAndTellsEverything(t *testing.T) {
	server := answers(t, problem(422, "invalid_request"))
	_, err := server.SendMessage(t.Context(), envelope)
	var failure *Error
	if !errors.As(err, &failure) || failure.Status != 422 || failure.RequestID != "r1" || failure.IsUnknown() ||
		CodeOf(err) != ErrorCodeInvalidRequest || !reflect.DeepEqual(failure.Fields, []FieldError{{"is missing", "/message/cid"}}) {
		t.Fatalf("%+v", failure)
	}
	if err.Error() != "herald: 422 invalid_request: t: detail of invalid_request; /message/cid is missing (request r1)" {
		t.Error(err)
	}
	if len(server.seen()) != 1 {
		t.Errorf("%d attempts", len(server.seen()))
	}
}

func TestRetryAfterIsHonouredUnlessItAsksForTooLong(t *testing.T) {
	server := answers(t, problem(429, "rate_limited", "Retry-After", "1"), with(201, ask), problem(429, "rate_limited", "Retry-After", "3600"))
	startedAt := time.Now()
	if _, err := server.SendMessage(t.Context(), envelope); err != nil || time.Since(startedAt) < time.Second {
		t.Fatalf("%v after %v", err, time.Since(startedAt))
	}
	var failure *Error
	if _, err := server.SendMessage(t.Context(), envelope); !errors.As(err, &failure) || failure.RetryAfter != time.Hour {
		t.Fatal(err)
	}
	if len(server.seen()) != 3 {
		t.Errorf("%d attempts", len(server.seen()))
	}
	at := time.Date(2026, 11, 20, 13, 6, 0, 0, time.UTC)
	for header, wait := range map[string]time.Duration{"7": 7 * time.Second, "Fri, 20 Nov 2026 13:06:05 GMT": 5 * time.Second, "Fri, 20 Nov 2026 13:05:00 GMT": 0, "soon": 0, "": 0} {
		if read := readRetryAfter(header, at); read != wait {
			t.Errorf("%q: %v", header, read)
		}
	}
}

func TestWhatIsNotSafeToDoTwiceIsRepeatedAfter429Only(t *testing.T) {
	server := answers(t, problem(429, "rate_limited"), problem(503, "unavailable"))
	if _, err := server.CreateKey(t.Context(), CreateKeyRequest{Name: "k", Scopes: []Scope{ScopeObserve}}); CodeOf(err) != ErrorCodeUnavailable {
		t.Fatal(err)
	}
	if _, err := server.RotateKey(t.Context(), "k", RotateKeyRequest{}); CodeOf(err) != ErrorCodeUnavailable {
		t.Fatal(err)
	}
	if len(server.seen()) != 3 {
		t.Errorf("%d attempts", len(server.seen()))
	}
}

func TestAContextEndsACallWithItsRetries(t *testing.T) {
	server := answers(t, problem(503, "unavailable", "Retry-After", "20"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	startedAt := time.Now()
	if _, err := server.GetUser(ctx, "o", "u"); CodeOf(err) != ErrorCodeUnavailable {
		t.Fatal(err)
	}
	if waited := time.Since(startedAt); waited > 15*time.Second {
		t.Errorf("it ended after %v, although the next attempt comes too late", waited)
	}
	ctx, cancel = context.WithCancel(t.Context())
	hanging := answers(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := hanging.GetUser(ctx, "o", "u"); !errors.Is(err, context.Canceled) || CodeOf(err) != ErrorCodeUnreachable {
		t.Fatal(err)
	}
	if len(hanging.seen()) != 1 {
		t.Errorf("%d attempts", len(hanging.seen()))
	}
}

func TestAServerThatIsGoneIsToldAsUnreachableAfterTheRetries(t *testing.T) {
	server := answers(t, cut)
	server.retries = 2
	_, err := server.SendMessage(t.Context(), envelope)
	var failure *Error
	if !errors.As(err, &failure) || !failure.IsUnknown() || failure.Code != ErrorCodeUnreachable || len(server.seen()) != 3 {
		t.Fatalf("%v after %d attempts", err, len(server.seen()))
	}
}

func TestTheKeyDoesNotFollowARedirectAndAForeignAnswerIsToldAsSuch(t *testing.T) {
	elsewhere := answers(t, with(200, `{}`))
	server := answers(t, with(307, "", "Location", elsewhere.root+"/x"), with(200, "<h1>hello</h1>"), with(418, "{}"), with(200, "<h1>hello</h1>"))
	for range 3 {
		if _, err := server.GetUser(t.Context(), "o", "u"); CodeOf(err) != ErrorCodeNotHerald {
			t.Fatal(err)
		}
	}
	if err := server.DeleteUser(t.Context(), "o", "u"); CodeOf(err) != ErrorCodeNotHerald {
		t.Error(err)
	}
	if len(elsewhere.seen()) != 0 {
		t.Errorf("%+v", elsewhere.seen())
	}
}

func TestIdentifiersArePercentEncoded(t *testing.T) {
	server := answers(t, with(204, ""), with(200, `{}`))
	if err := server.RemoveParticipant(t.Context(), "a/b", "*", "ü ?+#%"); err != nil {
		t.Fatal(err)
	}
	if _, err := server.CountOnline(t.Context(), "o", "a,b", "c d", "e+f"); err != nil {
		t.Fatal(err)
	}
	for at, path := range []string{"/base/admin/organizations/a%2Fb/conversations/%2A/participants/%C3%BC%20%3F+%23%25", "/base/admin/organizations/o/online?count=true&uids=a%2Cb,c%20d,e%2Bf"} {
		if server.seen()[at].path != path {
			t.Error(server.seen()[at].path)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		if _, err := server.GetUser(t.Context(), "o", id); err == nil || len(server.seen()) != 2 {
			t.Errorf("%q is accepted", id)
		}
	}
}

func TestAMemberThatMayBeNullIsAbsentNullOrAValue(t *testing.T) {
	for text, request := range map[string]PutConversationRequest{
		`{}`:                               {},
		`{"name":null,"participants":[]}`:  {Name: Null[string](), Participants: []string{}},
		`{"name":"","participants":["u"]}`: {Name: Value(""), Participants: []string{"u"}},
	} {
		written, err := json.Marshal(request)
		if err != nil || string(written) != text {
			t.Errorf("%s, %v", written, err)
		}
		var read PutConversationRequest
		if err := json.Unmarshal([]byte(text), &read); err != nil || !reflect.DeepEqual(read, request) {
			t.Errorf("%+v, %v", read, err)
		}
	}
	if value, ok := Value(3).Get(); !ok || value != 3 {
		t.Error(value, ok)
	}
}

func TestAClientNeedsAnAddressAndAKey(t *testing.T) {
	for _, options := range []Options{{}, {URL: "ftp://x", Key: "k"}, {URL: "http://", Key: "k"}, {URL: "http://x"}, {URL: "http://x y", Key: "k"}} {
		if _, err := New(options); err == nil {
			t.Errorf("%+v is accepted", options)
		}
	}
	client, err := New(Options{URL: "https://x/herald/", Key: "k", Retries: -1})
	if err != nil || client.root != "https://x/herald" || client.retries != 0 {
		t.Errorf("%+v, %v", client, err)
	}
}

func TestManyCallsAtOnceKeepTheirConnections(t *testing.T) {
	const atOnce, rounds = 40, 5
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(with(201, ask))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := clientOf(t, server.URL)
	for range rounds {
		var calls sync.WaitGroup
		for range atOnce {
			calls.Add(1)
			go func() {
				defer calls.Done()
				if _, err := client.SendMessage(t.Context(), envelope); err != nil {
					t.Error(err)
				}
			}()
		}
		calls.Wait()
	}
	if made := connections.Load(); made > 2*atOnce {
		t.Errorf("%d connections", made)
	}
}
