package herald

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// operations makes a call of each operation of the API, by its operationId.
var operations = map[string]func(context.Context, *Client){
	"sendMessage":       func(ctx context.Context, c *Client) { c.SendMessage(ctx, SendMessageRequest{}) },
	"sendSystemMessage": func(ctx context.Context, c *Client) { c.SendSystemMessage(ctx, SendSystemMessageRequest{}) },
	"editMessage":       func(ctx context.Context, c *Client) { c.EditMessage(ctx, EditMessageRequest{}) },
	"appendToMessage":   func(ctx context.Context, c *Client) { c.AppendToMessage(ctx, AppendRequest{}) },
	"updateReactions":   func(ctx context.Context, c *Client) { c.React(ctx, UpdateReactionsRequest{}) },
	"recallSystemMessages": func(ctx context.Context, c *Client) {
		c.RecallSystemMessages(ctx, RecallSystemMessagesRequest{})
	},
	"recallMessages": func(ctx context.Context, c *Client) { c.RecallMessages(ctx, RecallMessagesRequest{}) },
	"tellTyping":     func(ctx context.Context, c *Client) { c.TellTyping(ctx, TellTypingRequest{}) },
	"markRead":       func(ctx context.Context, c *Client) { c.MarkRead(ctx, MarkReadRequest{}) },
	"sendBatch": func(ctx context.Context, c *Client) {
		drain(c.SendBatchLines(ctx, strings.NewReader(""), BatchOptions{}))
	},
	"putScheduled":          func(ctx context.Context, c *Client) { c.Schedule(ctx, "o", "s", PutScheduledRequest{}) },
	"getScheduled":          func(ctx context.Context, c *Client) { c.GetScheduled(ctx, "o", "s") },
	"deleteScheduled":       func(ctx context.Context, c *Client) { c.CancelScheduled(ctx, "o", "s") },
	"listScheduled":         func(ctx context.Context, c *Client) { c.ListScheduled(ctx, "o", "", PageOptions{}) },
	"putProposal":           func(ctx context.Context, c *Client) { c.Propose(ctx, "o", "p", PutProposalRequest{}) },
	"getProposal":           func(ctx context.Context, c *Client) { c.GetProposal(ctx, "o", "p") },
	"approveProposal":       func(ctx context.Context, c *Client) { c.ApproveProposal(ctx, "o", "p", DecideProposalRequest{}) },
	"rejectProposal":        func(ctx context.Context, c *Client) { c.RejectProposal(ctx, "o", "p", DecideProposalRequest{}) },
	"listProposals":         func(ctx context.Context, c *Client) { c.ListProposals(ctx, "o", "", PageOptions{}) },
	"putWebhook":            func(ctx context.Context, c *Client) { c.PutWebhook(ctx, "o", "w", PutWebhookRequest{}) },
	"getWebhook":            func(ctx context.Context, c *Client) { c.GetWebhook(ctx, "o", "w") },
	"listWebhooks":          func(ctx context.Context, c *Client) { c.ListWebhooks(ctx, "o", PageOptions{}) },
	"deleteWebhook":         func(ctx context.Context, c *Client) { c.DeleteWebhook(ctx, "o", "w") },
	"rotateWebhook":         func(ctx context.Context, c *Client) { c.RotateWebhook(ctx, "o", "w") },
	"testWebhook":           func(ctx context.Context, c *Client) { c.TestWebhook(ctx, "o", "w") },
	"listWebhookDeliveries": func(ctx context.Context, c *Client) { c.ListWebhookDeliveries(ctx, "o", "w", "", PageOptions{}) },
	"redeliverWebhook":      func(ctx context.Context, c *Client) { c.RedeliverWebhook(ctx, "o", "w", "d") },
	"putOrganization":       func(ctx context.Context, c *Client) { c.PutOrganization(ctx, "o", PutOrganizationRequest{}) },
	"getOrganization":       func(ctx context.Context, c *Client) { c.GetOrganization(ctx, "o") },
	"deleteOrganization":    func(ctx context.Context, c *Client) { c.DeleteOrganization(ctx, "o") },
	"listOrganizations":     func(ctx context.Context, c *Client) { c.ListOrganizations(ctx, PageOptions{}) },
	"putUser":               func(ctx context.Context, c *Client) { c.PutUser(ctx, "o", "u", PutUserRequest{}) },
	"getUser":               func(ctx context.Context, c *Client) { c.GetUser(ctx, "o", "u") },
	"deleteUser":            func(ctx context.Context, c *Client) { c.DeleteUser(ctx, "o", "u") },
	"listUsers":             func(ctx context.Context, c *Client) { c.ListUsers(ctx, "o", PageOptions{}) },
	"createToken":           func(ctx context.Context, c *Client) { c.CreateToken(ctx, "o", "u", time.Minute) },
	"revokeToken":           func(ctx context.Context, c *Client) { c.RevokeToken(ctx, "o", "u", "j") },
	"deleteSessions":        func(ctx context.Context, c *Client) { c.EndSessions(ctx, "o", "u") },
	"putConversation":       func(ctx context.Context, c *Client) { c.PutConversation(ctx, "o", "c", PutConversationRequest{}) },
	"getConversation":       func(ctx context.Context, c *Client) { c.GetConversation(ctx, "o", "c") },
	"deleteConversation":    func(ctx context.Context, c *Client) { c.DeleteConversation(ctx, "o", "c") },
	"listConversations":     func(ctx context.Context, c *Client) { c.ListConversations(ctx, "o", PageOptions{}) },
	"putParticipant":        func(ctx context.Context, c *Client) { c.AddParticipant(ctx, "o", "c", "u") },
	"deleteParticipant":     func(ctx context.Context, c *Client) { c.RemoveParticipant(ctx, "o", "c", "u") },
	"listParticipants":      func(ctx context.Context, c *Client) { c.ListParticipants(ctx, "o", "c", PageOptions{}) },
	"listMessages":          func(ctx context.Context, c *Client) { c.ListMessages(ctx, "o", "c", HistoryOptions{}, PageOptions{}) },
	"getMessage":            func(ctx context.Context, c *Client) { c.GetMessage(ctx, "o", "m") },
	"getSystemMessage":      func(ctx context.Context, c *Client) { c.GetSystemMessage(ctx, "o", "m", "") },
	"listRecipients": func(ctx context.Context, c *Client) {
		c.ListRecipients(ctx, "o", "m", RecipientOptions{}, PageOptions{})
	},
	"listInbox": func(ctx context.Context, c *Client) {
		c.ListInbox(ctx, "o", "u", InboxOptions{}, PageOptions{})
	},
	"listDeliveries": func(ctx context.Context, c *Client) {
		c.ListDeliveries(ctx, "o", "u", DeliveryOptions{}, PageOptions{})
	},
	"listSystemRecipients": func(ctx context.Context, c *Client) {
		c.ListSystemRecipients(ctx, "o", "m", RecipientOptions{}, PageOptions{})
	},
	"importLines": func(ctx context.Context, c *Client) {
		drain(c.ImportLines(ctx, "o", strings.NewReader(""), ImportOptions{}))
	},
	"createFile": func(ctx context.Context, c *Client) {
		c.Upload(ctx, "o", "f", "text/plain", strings.NewReader("x"))
	},
	"putFile":            func(ctx context.Context, c *Client) { c.PutFile(ctx, "o", "f", "text/plain", strings.NewReader("x")) },
	"getFile":            func(ctx context.Context, c *Client) { c.GetFile(ctx, "o", "f") },
	"downloadFile":       func(ctx context.Context, c *Client) { c.Download(ctx, "f") },
	"deleteFile":         func(ctx context.Context, c *Client) { c.DeleteFile(ctx, "o", "f") },
	"exportOrganization": func(ctx context.Context, c *Client) { c.ExportOrganization(ctx, "o") },
	"exportUser":         func(ctx context.Context, c *Client) { c.ExportUser(ctx, "o", "u") },
	"listOnlineUsers":    func(ctx context.Context, c *Client) { c.ListOnlineUsers(ctx, "o", 1, 1) },
	"listOnline":         func(ctx context.Context, c *Client) { c.ListOnline(ctx, "o", OnlineOptions{}, PageOptions{}) },
	"listConnections":    func(ctx context.Context, c *Client) { c.ListConnections(ctx, "o", "u") },
	"closeConnection":    func(ctx context.Context, c *Client) { c.CloseConnection(ctx, "o", "u", "c") },
	"listNodes":          func(ctx context.Context, c *Client) { c.ListNodes(ctx) },
	"streamEvents":       func(ctx context.Context, c *Client) { drain(c.Events(ctx, "o", FeedOptions{})) },
	"createKey":          func(ctx context.Context, c *Client) { c.CreateKey(ctx, CreateKeyRequest{}) },
	"listKeys":           func(ctx context.Context, c *Client) { c.ListKeys(ctx, PageOptions{}) },
	"getOwnKey":          func(ctx context.Context, c *Client) { c.GetOwnKey(ctx) },
	"getKey":             func(ctx context.Context, c *Client) { c.GetKey(ctx, "k") },
	"deleteKey":          func(ctx context.Context, c *Client) { c.RevokeKey(ctx, "k") },
	"listSessions":       func(ctx context.Context, c *Client) { c.ListSessions(ctx, PageOptions{}) },
	"endSession":         func(ctx context.Context, c *Client) { c.EndSession(ctx, "s") },
	"rotateKey":          func(ctx context.Context, c *Client) { c.RotateKey(ctx, "k", RotateKeyRequest{}) },
	"listAudit":          func(ctx context.Context, c *Client) { c.ListAudit(ctx, AuditOptions{}, PageOptions{}) },
	"getHealth":          func(ctx context.Context, c *Client) { c.Health(ctx) },
	"getReadiness":       func(ctx context.Context, c *Client) { c.Readiness(ctx) },
	"getMetrics":         func(ctx context.Context, c *Client) { c.Metrics(ctx) },
	"getOpenApi":         func(ctx context.Context, c *Client) { c.OpenAPI(ctx) },
	"getAsyncApi":        func(ctx context.Context, c *Client) { c.AsyncAPI(ctx) },
}

func drain[Item any](items iter.Seq2[Item, error]) {
	for range items {
		continue
	}
}

func TestEachOperationOfTheAPIHasAMethodThatCallsIt(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/openapi.json")
	if err != nil {
		t.Skip("this is not a clone of the repository: ", err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var known []string
	for path, methods := range document.Paths {
		for method, operation := range methods {
			known = append(known, operation.OperationID)
			call := operations[operation.OperationID]
			if call == nil {
				t.Errorf("%s has no method", operation.OperationID)
				continue
			}
			server := answers(t, problem(403, "insufficient_scope"))
			call(t.Context(), server.Client)
			pattern := "^/base" + regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[a-z]") + `(\?|$)`
			if len(server.seen()) != 1 || server.seen()[0].method != strings.ToUpper(method) || !regexp.MustCompile(pattern).MatchString(server.seen()[0].path) {
				t.Errorf("%s: %+v, not %s %s", operation.OperationID, server.seen(), method, path)
			}
		}
	}
	for name := range operations {
		if !slices.Contains(known, name) {
			t.Errorf("%s is no operation any more", name)
		}
	}
}

func TestHealthIsAnAnswerAlsoWhereTheNodeIsNotWell(t *testing.T) {
	server := answers(t, with(503, `{"status":"unavailable","checks":{"store":"down"}}`), with(200, "hello"), with(200, "# HELP\n"))
	if health, err := server.Readiness(t.Context()); err != nil || health.Status != HealthStatusUnavailable || health.Checks["store"] != "down" {
		t.Errorf("%+v, %v", health, err)
	}
	if _, err := server.Health(t.Context()); CodeOf(err) != ErrorCodeNotHerald {
		t.Error(err)
	}
	if metrics, err := server.Metrics(t.Context()); err != nil || metrics != "# HELP\n" {
		t.Error(metrics, err)
	}
}

func TestADryRunGoesToTheSameAddressWithAQueryAndGivesNoID(t *testing.T) {
	tries := []func(*Client) (*DryRun, error){
		func(c *Client) (*DryRun, error) { return c.TryMessage(t.Context(), envelope) },
		func(c *Client) (*DryRun, error) { return c.TrySystemMessage(t.Context(), SendSystemMessageRequest{}) },
		func(c *Client) (*DryRun, error) { return c.TryEdit(t.Context(), EditMessageRequest{}) },
		func(c *Client) (*DryRun, error) { return c.TryReaction(t.Context(), UpdateReactionsRequest{}) },
		func(c *Client) (*DryRun, error) { return c.TryRecall(t.Context(), RecallMessagesRequest{}) },
		func(c *Client) (*DryRun, error) { return c.TrySystemRecall(t.Context(), RecallSystemMessagesRequest{}) },
		func(c *Client) (*DryRun, error) { return c.TryRead(t.Context(), MarkReadRequest{}) },
		func(c *Client) (*DryRun, error) { return c.TrySchedule(t.Context(), "o", "s", PutScheduledRequest{}) },
	}
	server := answers(t, with(200, `{"dry_run":{"recipients":3,"online":1,"unknown_users":[]}}`))
	var asked []string
	for at, try := range tries {
		if tried, err := try(server.Client); err != nil || tried.Recipients != 3 {
			t.Errorf("%+v, %v", tried, err)
		}
		asked = append(asked, server.seen()[at].method+" "+strings.TrimPrefix(server.seen()[at].path, "/base/admin/"))
	}
	const expected = "POST message?dry_run=true, POST message/system?dry_run=true, PUT message?dry_run=true, " +
		"PUT message/reaction?dry_run=true, DELETE message?dry_run=true, " +
		"DELETE message/system?dry_run=true, PUT message/read?dry_run=true, PUT organizations/o/scheduled/s?dry_run=true"
	if strings.Join(asked, ", ") != expected || strings.Contains(server.seen()[0].body, `"id"`) || !strings.Contains(server.seen()[4].body, `"type":"all"`) {
		t.Error(asked, server.seen())
	}
}
