package herald

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// answeringLines is a server that answers each line as it comes; "" breaks the response off.
func answeringLines(t *testing.T, answer func(line string, number int) string) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		control.EnableFullDuplex()
		w.Header().Set("Content-Type", linesType)
		control.Flush()
		lines := bufio.NewScanner(r.Body)
		for number := 1; lines.Scan(); number++ {
			told := answer(lines.Text(), number)
			if told == "" {
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, told+"\n")
			control.Flush()
		}
	}))
	t.Cleanup(server.Close)
	return clientOf(t, server.URL)
}

func stored(_ string, number int) string {
	return fmt.Sprintf(`{"line":%d,"status":201,"ask":{"mid":"m","server_mid":"s","t":1}}`, number)
}

func sends(count int) []Send {
	return slices.Repeat([]Send{{OrganizationID: "o", SenderID: "u", Message: &NewMessage{CID: "c", Body: "x"}}}, count)
}

func TestABatchGivesIDsAndYieldsTheAnswersInOrder(t *testing.T) {
	lines := make(chan string, 200)
	client := answeringLines(t, func(line string, number int) string { lines <- line; return stored(line, number) })
	answered := 0
	all := sends(120)
	all[0].Message = &NewMessage{ID: "mine", CID: "c", Body: "x"}
	for answer, err := range client.SendBatch(t.Context(), slices.Values(all), BatchOptions{}) {
		answered++
		if err != nil || answer.Line != answered || answer.Ask.ServerMID != "s" {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	close(lines)
	different := map[string]bool{}
	for line := range lines {
		different[line] = true
	}
	if answered != 120 || len(different) != 120 || all[1].Message.ID != "" {
		t.Errorf("%d answers to %d lines that differ", answered, len(different))
	}
}

func TestAnswersComeWhileSendsAreStillToBeMade(t *testing.T) {
	client := answeringLines(t, stored)
	isAnswered := make(chan bool)
	made := func(yield func(Send) bool) {
		for range 3 {
			if !yield(sends(1)[0]) {
				return
			}
			<-isAnswered
		}
	}
	answered := 0
	for _, err := range client.SendBatch(t.Context(), made, BatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		answered++
		isAnswered <- true
	}
	if answered != 3 {
		t.Errorf("%d answers", answered)
	}
}

func TestABatchThatEndsEarlySaysWhyAndWhere(t *testing.T) {
	for expected, last := range map[string]string{
		"the batch ended before line 3 was answered: shutting down": `{"done":false,"line":3,"problem":{"status":503,"code":"unavailable","detail":"shutting down"}}`,
		"the response broke off":                                    "",
	} {
		client := answeringLines(t, func(line string, number int) string {
			if number < 3 {
				return stored(line, number)
			}
			return last
		})
		answered := 0
		var failure error
		for _, err := range client.SendBatch(t.Context(), slices.Values(sends(5)), BatchOptions{}) {
			if err != nil {
				failure = err
				continue
			}
			answered++
		}
		var told *Error
		if answered != 2 || !errors.As(failure, &told) || !told.IsUnknown() || !strings.Contains(told.Detail, expected) {
			t.Errorf("%d answers, %v", answered, failure)
		}
	}
}

func TestABatchThatIsLeftTakesNoMoreSends(t *testing.T) {
	client := answeringLines(t, stored)
	ended := make(chan bool)
	endless := func(yield func(Send) bool) {
		defer close(ended)
		for yield(sends(1)[0]) {
		}
	}
	for range client.SendBatch(t.Context(), endless, BatchOptions{}) {
		break
	}
	<-ended
}

func TestARefusedBatchFailsOnce(t *testing.T) {
	server := answers(t, problem(403, "insufficient_scope"))
	failures := 0
	for _, err := range server.SendBatch(t.Context(), slices.Values(sends(1)), BatchOptions{Rate: 5, DryRun: true}) {
		if CodeOf(err) != ErrorCodeInsufficientScope {
			t.Error(err)
		}
		failures++
	}
	if failures != 1 || server.seen()[0].path != "/base/admin/message/batch?rate=5&dry_run=true" {
		t.Errorf("%d failures, %+v", failures, server.seen())
	}
}

func TestAnImportYieldsItsReportAndFailsIfThatHasNoEnd(t *testing.T) {
	const refused = `{"line":2,"problem":{"status":422,"code":"invalid_request","detail":"d"}}`
	for end, failed := range map[string]bool{
		`{"done":true,"lines":2,"failed":1}`: false,
		`{"done":false,"lines":2,"failed":1,"problem":{"status":503,"code":"unavailable","detail":"d"}}`: true,
		`{"lines":2,"failed":1}`: true,
	} {
		client := answeringLines(t, func(_ string, number int) string {
			if number == 1 {
				return refused
			}
			return end
		})
		lines := []ImportLine{{User: &ImportUser{ID: "u", Name: Value("U")}}, {Participant: &ImportParticipant{CID: "c", UID: "u"}}}
		var reports []ImportReport
		var failure error
		for report, err := range client.Import(t.Context(), "o", slices.Values(lines), ImportOptions{}) {
			reports, failure = append(reports, report), err
		}
		if len(reports) < 2 || *reports[0].Line != 2 || reports[0].Problem.Code != ErrorCodeInvalidRequest || (failure != nil) != failed {
			t.Errorf("%s: %+v, %v", end, reports, failure)
		}
	}
}

func TestAnExportIsReadByLinesAndFailsIfItBreaksOff(t *testing.T) {
	const lines = `{"user":{"id":"u","name":null}}` + "\n" + `{"message":{"id":"m","cid":"c","senderId":"u","body":"b","x":{},"created_at":"2026-11-20T13:06:00.123Z"}}` + "\n"
	server := answers(t, with(200, lines, "Content-Type", linesType), with(200, lines+`{"us`, "Content-Type", linesType))
	for _, breaks := range []bool{false, true} {
		export, err := server.ExportOrganization(t.Context(), "o")
		if err != nil {
			t.Fatal(err)
		}
		var failure error
		var read []ExportLine
		for line, err := range ReadExport(export) {
			read, failure = append(read, line), err
		}
		export.Close()
		if read[0].User.ID != "u" || read[1].Message.CreatedAt.UnixMilli()%1000 != 123 || (failure != nil) != breaks {
			t.Errorf("%+v, %v", read, failure)
		}
	}
}

func TestAFeedConnectsAgainAndSaysSo(t *testing.T) {
	const message = "event: message\nid: 1\ndata: {\"message\":{\"_id\":\"1\",\"body\":\"b\"}}\n\n"
	stream := func(text string) http.HandlerFunc { return with(200, text, "Content-Type", "text/event-stream") }
	server := answers(t, problem(503, "unavailable"), stream(": heartbeat\n\n"+message+"event: later\nid: 2\ndata: {\"later\":{}}\n\n"+message+":\nid: 3\n\n"), cut,
		stream(strings.ReplaceAll(message, "\n", "\r\n")), problem(403, "organization_forbidden"))
	var happened []string
	options := FeedOptions{Types: []string{"message", "message_edit"}, After: "0", OnConnect: func() { happened = append(happened, "connected") }}
	options.OnInterruption = func(err error, _ time.Duration) { happened = append(happened, string(CodeOf(err))) }
	var cursors []string
	options.OnCursor = func(cursor string) { cursors = append(cursors, cursor) }
	for event, err := range server.Events(t.Context(), "o", options) {
		if err != nil {
			happened = append(happened, string(CodeOf(err)))
			continue
		}
		if event.Cursor != "1" {
			t.Error(event.Cursor)
		}
		happened = append(happened, event.Message.ID)
	}
	const expected = "connected 1 1 unreachable unreachable connected 1 unreachable organization_forbidden"
	if strings.Join(happened, " ") != expected || strings.Join(cursors, " ") != "1 2 1 3 1" {
		t.Errorf("%v, %v", happened, cursors)
	}
	for attempt, after := range []string{"0", "0", "3", "3", "1"} {
		if path := server.seen()[attempt].path; path != "/base/admin/organizations/o/events?types=message,message_edit&after="+after {
			t.Errorf("%d: %s", attempt, path)
		}
	}
}

func TestAFeedOfAUserGoesOnWithWhatComes(t *testing.T) {
	const message = "id: 1\ndata: {\"message\":{\"_id\":\"1\"}}\n\n"
	server := answers(t, with(200, message, "Content-Type", "text/event-stream"), problem(403, "organization_forbidden"))
	for range server.Events(t.Context(), "o", FeedOptions{UID: "u"}) {
	}
	for _, request := range server.seen() {
		if request.path != "/base/admin/organizations/o/events?uid=u" {
			t.Error(request.path)
		}
	}
}

func TestAFeedThatIsSilentIsInterruptedAndAContextEndsIt(t *testing.T) {
	server := answers(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	options := FeedOptions{Silence: time.Millisecond, OnInterruption: func(error, time.Duration) { cancel() }}
	for _, err := range server.Events(ctx, "o", options) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if ctx.Err() == nil {
		t.Error("it was not interrupted")
	}
}

func TestEventsMayHaveAnyLineEndsAByteOrderMarkAndSeveralLinesOfData(t *testing.T) {
	lines := []string{"\ufeffdata: 1", "", ": heartbeat", "data:[", "event: m", "data: 2", "data:]", "", "data", "", "", "database: 9", "",
		"data: \"\u2028\u0085\"", "", "data: " + strings.Repeat("x", 200_000), ""}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		text := strings.Join(lines, end) + end
		for _, stream := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text))} {
			var events []string
			for event, err := range readEvents(stream, func() {}) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, string(event.data))
			}
			if len(events) != 4 || events[0] != "1" || events[1] != "[\n2\n]" || events[2] != "\"\u2028\u0085\"" || len(events[3]) != 200_000 {
				t.Errorf("%q: %.100q", end, events)
			}
		}
	}
}

func TestAnEventIsReadWhenItsLastLineEndsEvenIfThatIsACarriageReturn(t *testing.T) {
	reader, writer := io.Pipe()
	go io.WriteString(writer, "data: 1\r\r")
	late := time.AfterFunc(10*time.Second, func() { writer.Close() })
	defer late.Stop()
	for event := range readEvents(reader, func() {}) {
		if string(event.data) != "1" {
			t.Error(string(event.data))
		}
		return
	}
	t.Error("there is no event")
}
