// A backend that uses the SDK as its users do: it calls every part of a real server, and stops at the first surprise.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	herald "github.com/herald-im/herald/sdk-go"
)

const org = "go/org ü"

func main() {
	log.SetFlags(log.Lshortfile)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := must(herald.New(herald.Options{URL: os.Getenv("URL"), Key: os.Getenv("KEY"), Retries: 30}))
	if len(os.Args) > 1 {
		sendSteadily(ctx, client)
		return
	}
	prepare(ctx, client)
	heard := listen(ctx, client)
	messages(ctx, client)
	files(ctx, client)
	streams(ctx, client)
	directory(ctx, client)
	tokens(ctx, client)
	keys(ctx, client)
	proposals(ctx, client)
	operators(ctx, client)
	for _, kind := range []string{"message", "edit", "recall", "read", "system"} {
		expect(<-heard == kind, "the feed lacks "+kind)
	}
	succeed(client.DeleteOrganization(ctx, org))
	_, err := client.GetOrganization(ctx, org)
	expect(herald.CodeOf(err) == herald.ErrorCodeOrganizationNotFound, err)
	fmt.Println("all is well")
}

func prepare(ctx context.Context, client *herald.Client) {
	must(client.PutOrganization(ctx, org, herald.PutOrganizationRequest{Name: herald.Value("Go")}))
	for _, uid := range []string{"alice", "bob", "carol"} {
		must(client.PutUser(ctx, org, uid, herald.PutUserRequest{Name: herald.Value(strings.ToUpper(uid))}))
	}
	participants := []string{"alice", "bob"}
	must(client.PutConversation(ctx, org, "general", herald.PutConversationRequest{Participants: participants}))
}

// listen says what happens in the conversation, and what is sent to everyone.
func listen(ctx context.Context, client *herald.Client) <-chan string {
	heard, connected := make(chan string, 10_000), make(chan bool)
	options := herald.FeedOptions{UID: "alice", OnConnect: func() { close(connected) }}
	go func() {
		for event, err := range client.Events(ctx, org, options) {
			switch {
			case err != nil:
				return
			case event.Message != nil && event.Message.Body == "Hello <&> \u2028":
				heard <- "message"
			case event.Edit != nil:
				heard <- "edit"
			case event.Recall != nil:
				heard <- "recall"
			case event.Read != nil:
				heard <- "read"
			case event.SystemMessage != nil:
				heard <- "system"
			}
		}
	}()
	<-connected
	return heard
}

func messages(ctx context.Context, client *herald.Client) {
	send := herald.SendMessageRequest{OrganizationID: org, SenderID: "alice", Message: herald.NewMessage{
		ID: "order-placed:user-123:order-456", CID: "general", Body: "Hello <&> \u2028",
		X: map[string]any{"order": 456, "lines": []string{"a"}}, Attachments: []herald.NewAttachment{{Name: "a.pdf", Size: herald.Ptr(int64(1))}},
	}}
	tried := must(client.TryMessage(ctx, send))
	expect(tried.Recipients == 2, tried)
	sent := must(client.SendMessage(ctx, send, herald.Wait(time.Second)))
	expect(!sent.Replayed && sent.Delivery != nil && sent.Delivery.Recipients == 2, sent)
	again := must(client.SendMessage(ctx, send))
	expect(again.Replayed && again.ServerMID == sent.ServerMID, again)
	send.Message.Body = "Another"
	_, err := client.SendMessage(ctx, send)
	expect(herald.CodeOf(err) == herald.ErrorCodeMessageIDConflict, err)
	_, err = client.SendMessage(ctx, herald.SendMessageRequest{OrganizationID: org, SenderID: "alice"})
	expect(strings.Contains(err.Error(), "/message"), err)

	succeed(client.EditMessage(ctx, herald.EditMessageRequest{OrganizationID: org, SenderID: "alice", MessageEdit: herald.Edit{ID: sent.ServerMID, Body: "Edited"}}))
	report := must(client.GetMessage(ctx, org, sent.ServerMID))
	expect(report.Message.Body == "Edited" && report.Message.EditedAt != nil && report.Message.X["order"] == 456.0, report)
	recall := herald.RecallMessagesRequest{OrganizationID: org, SenderID: "alice", MessageDelete: herald.Recall{CID: "general", IDs: []string{sent.ServerMID}}}
	expect(must(client.TryRecall(ctx, recall)).Recipients == 2, "a recall tried")
	succeed(client.RecallMessages(ctx, recall))
	must(client.SendMessage(ctx, herald.SendMessageRequest{OrganizationID: org, SenderID: "alice", Message: herald.NewMessage{CID: "general", Body: "To be read"}}))
	succeed(client.MarkRead(ctx, herald.MarkReadRequest{OrganizationID: org, SenderID: "bob", MessageRead: herald.Read{CID: "general"}}))

	system := must(client.SendSystemMessage(ctx, herald.SendSystemMessageRequest{OrganizationID: org, SenderID: "alice", MessageSystem: herald.NewSystemMessage{UIDs: []string{"alice", "nobody"}, Silent: true}}))
	reported := must(client.GetSystemMessage(ctx, org, system.MID, "alice"))
	expect(reported.Delivery.ByUser["nobody"] == herald.UserDeliveryUnknown && reported.SystemMessage.Silent, reported)
	must(client.SendSystemMessage(ctx, herald.SendSystemMessageRequest{OrganizationID: org, SenderID: "alice", MessageSystem: herald.NewSystemMessage{Everyone: true}}))
	missing := collect(client.Recipients(ctx, org, sent.ServerMID, herald.RecipientOptions{State: herald.RecipientStateMissing}))
	expect(len(missing) == 2, missing)
}

func files(ctx context.Context, client *herald.Client) {
	must(client.PutConversation(ctx, org, "files", herald.PutConversationRequest{Participants: []string{"carol"}}))
	file := must(client.Upload(ctx, org, "grüße.txt", "text/plain", strings.NewReader("Hello, file")))
	expect(file.Size == 11 && file.ContentType == "text/plain", file)
	must(client.SendMessage(ctx, herald.SendMessageRequest{OrganizationID: org, SenderID: "carol", Message: herald.NewMessage{
		CID: "files", Attachments: []herald.NewAttachment{{Name: file.Name, FileID: file.FileID}, {Name: "later.txt"}},
	}}))
	sent := collect(client.Messages(ctx, org, "files", herald.HistoryOptions{}))[0]
	later := sent.Attachments[1].FileID
	expect(sent.Attachments[0].FileID == file.FileID && must(client.GetFile(ctx, org, later)).Sha256 == nil, sent)
	expect(must(client.PutFile(ctx, org, later, "text/plain", strings.NewReader("now"))).Size == 3, later)
	for id, text := range map[string]string{file.FileID: "Hello, file", later: "now"} {
		bytes := must(client.Download(ctx, id))
		expect(string(must(io.ReadAll(bytes))) == text, id)
		succeed(bytes.Close())
	}
	succeed(must(client.Download(ctx, later, herald.FromOrganization(org))).Close())
	_, err := client.Download(ctx, later, herald.FromOrganization("nowhere"))
	expect(herald.CodeOf(err) == herald.ErrorCodeFileNotFound, err)
	succeed(client.DeleteFile(ctx, org, later))
	_, err = client.Download(ctx, later)
	expect(herald.CodeOf(err) == herald.ErrorCodeFileNotFound, err)
	succeed(client.DeleteConversation(ctx, org, "files"))
}

func streams(ctx context.Context, client *herald.Client) {
	var sends []herald.Send
	for number := range 450 {
		sends = append(sends, herald.Send{OrganizationID: org, SenderID: "alice", Message: &herald.NewMessage{ID: fmt.Sprint("batch:", number), CID: "general", Body: fmt.Sprint(number)}})
	}
	sends[200].SenderID = "nobody"
	for round := range 2 {
		answers := collect(client.SendBatch(ctx, slices.Values(sends), herald.BatchOptions{}))
		expect(len(answers) == 450 && answers[449].Ask.MID == "batch:449" && answers[449].Replayed == (round == 1), len(answers))
		expect(answers[200].Problem != nil && answers[200].Problem.Status >= 400, answers[200])
	}
	history := collect(client.Messages(ctx, org, "general", herald.HistoryOptions{}))
	expect(len(history) == 450 && history[0].Body == "449", len(history))

	at := time.Now().Add(time.Hour)
	order := herald.PutScheduledRequest{SendAt: at, Request: sends[0]}
	order.Request.Message = &herald.NewMessage{CID: "general", Body: "Later"}
	expect(must(client.Schedule(ctx, org, "later", order)).State == herald.ScheduledStateWaiting, "scheduled")
	expect(len(collect(client.Scheduled(ctx, org, herald.ScheduledStateWaiting))) == 1, "one waits")
	succeed(client.CancelScheduled(ctx, org, "later"))
	expect(must(client.GetScheduled(ctx, org, "later")).State == herald.ScheduledStateCancelled, "cancelled")

	var lines []herald.ImportLine
	for number := range 1_500 {
		lines = append(lines, herald.ImportLine{Message: &herald.ImportMessage{ID: fmt.Sprint("old:", number), CID: "general", SenderID: "bob", Body: "Old", CreatedAt: at.AddDate(-1, 0, 0)}})
	}
	reports := collect(client.Import(ctx, org, slices.Values(lines), herald.ImportOptions{}))
	last := reports[len(reports)-1]
	expect(*last.Done && *last.Lines == 1_500 && *last.Failed == 0, last)
	export := must(client.ExportOrganization(ctx, org))
	exported := collect(herald.ReadExport(export))
	succeed(export.Close())
	expect(len(exported) > 1_950, len(exported))
	export = must(client.ExportUser(ctx, org, "bob"))
	must(client.PutOrganization(ctx, "elsewhere", herald.PutOrganizationRequest{}))
	reports = collect(client.ImportLines(ctx, "elsewhere", export, herald.ImportOptions{DryRun: true}))
	succeed(export.Close())
	expect(*reports[len(reports)-1].Done, reports)
	succeed(client.DeleteOrganization(ctx, "elsewhere"))
}

func directory(ctx context.Context, client *herald.Client) {
	must(client.AddParticipant(ctx, org, "general", "carol"))
	expect(len(collect(client.Participants(ctx, org, "general"))) == 3, "three take part")
	succeed(client.RemoveParticipant(ctx, org, "general", "carol"))
	page := must(client.ListParticipants(ctx, org, "general", herald.PageOptions{Limit: 1}))
	expect(len(page.Items) == 1 && page.Cursor != nil, page)
	prefixed := must(client.ListUsers(ctx, org, herald.PageOptions{Prefix: "CAR"}))
	expect(len(prefixed.Items) == 1 && prefixed.Items[0].ID == "carol", prefixed)
	cleared := must(client.PutUser(ctx, org, "carol", herald.PutUserRequest{Name: herald.Null[string](), Blocked: herald.Ptr(true)}))
	expect(cleared.Name == nil && cleared.Blocked, cleared)
	expect(len(collect(client.Users(ctx, org))) == 3 && len(collect(client.Conversations(ctx, org))) == 1, "the directory")
	succeed(client.EraseUser(ctx, org, "carol"))
	limits := herald.LimitsChange{Connections: herald.Value(7)}
	must(client.PutOrganization(ctx, org, herald.PutOrganizationRequest{Limits: &limits}))
	read := must(client.GetOrganization(ctx, org))
	expect(*read.Limits.Connections == 7 && *read.Name == "Go", read)
}

func tokens(ctx context.Context, client *herald.Client) {
	issued := must(must(herald.NewTokenIssuer(os.Getenv("TOKEN_SECRET"))).Issue(org, "bob", time.Minute))
	created := must(client.CreateToken(ctx, org, "bob", time.Minute))
	for _, token := range []string{issued.Token, created.Token} {
		request := must(http.NewRequestWithContext(ctx, "GET", os.Getenv("URL")+"/sse", nil))
		request.Header.Set("Authorization", "Bearer "+token)
		stream := must(http.DefaultClient.Do(request))
		expect(stream.StatusCode == 200, stream.Status)
		defer stream.Body.Close()
	}
	counted := must(client.CountOnline(ctx, org, "bob", "alice"))
	expect(counted.Count == 1 && counted.Connections == 2, counted)
	online := collect(client.Online(ctx, org, herald.OnlineOptions{UIDs: []string{"bob"}, Devices: true}))
	expect(len(online) == 1 && online[0].Connections == 2, online)
	succeed(client.RevokeToken(ctx, org, "bob", issued.ID))
	succeed(client.EndSessions(ctx, org, "bob"))
}

func keys(ctx context.Context, client *herald.Client) {
	fields := herald.CreateKeyRequest{Name: "shop", Scopes: []herald.Scope{herald.ScopeMessageSend}, Organization: herald.Value(org)}
	created := must(client.CreateKey(ctx, fields))
	shop := must(herald.New(herald.Options{URL: os.Getenv("URL"), Key: created.Key}))
	own := must(shop.GetOwnKey(ctx))
	expect(own.Name == "shop" && *own.Organization == org && own.ExpiresAt == nil, own)
	_, err := shop.ListKeys(ctx, herald.PageOptions{})
	expect(herald.CodeOf(err) == herald.ErrorCodeInsufficientScope, err)
	rotated := must(client.RotateKey(ctx, created.ID, herald.RotateKeyRequest{OverlapSeconds: herald.Ptr(0)}))
	expect(rotated.Key != created.Key && must(client.GetKey(ctx, created.ID)).Name == "shop", rotated)
	expect(len(collect(client.Keys(ctx))) == 1, "keys")
	succeed(client.RevokeKey(ctx, created.ID))
}

func proposals(ctx context.Context, client *herald.Client) {
	fields := herald.CreateKeyRequest{Name: "agent", Scopes: []herald.Scope{herald.ScopeMessagePropose}, Organization: herald.Value(org)}
	agent := must(herald.New(herald.Options{URL: os.Getenv("URL"), Key: must(client.CreateKey(ctx, fields)).Key}))
	wish := herald.PutProposalRequest{Reason: "why", Request: herald.Send{OrganizationID: org, SenderID: "alice", Message: &herald.NewMessage{CID: "general", Body: "may I?"}}}
	for _, id := range []string{"one", "two"} {
		expect(must(agent.Propose(ctx, org, id, wish)).State == herald.ProposalStateWaiting, id)
	}
	expect(len(collect(agent.Proposals(ctx, org, herald.ProposalStateWaiting))) == 2, "two wait")
	expect(must(client.ApproveProposal(ctx, org, "one", herald.DecideProposalRequest{})).State == herald.ProposalStateApproved, "approved")
	expect(must(client.RejectProposal(ctx, org, "two", herald.DecideProposalRequest{Reason: "no"})).State == herald.ProposalStateRejected, "rejected")
	expect(*must(client.GetProposal(ctx, org, "two")).DecisionReason == "no", "why not")
}

func operators(ctx context.Context, client *herald.Client) {
	expect(len(must(client.ListNodes(ctx))) == 1, "nodes")
	expect(must(client.Health(ctx)).Status == herald.HealthStatusOk && must(client.Readiness(ctx)).Checks["store"] == "ok", "health")
	expect(strings.Contains(must(client.Metrics(ctx)), "herald_"), "metrics")
	expect(strings.Contains(string(must(client.OpenAPI(ctx))), "sendMessage") && len(must(client.AsyncAPI(ctx))) > 0, "documents")
	for {
		entries := must(client.ListAudit(ctx, herald.AuditOptions{Organization: org, Operation: "rotateKey", Since: time.Now().Add(-time.Hour)}, herald.PageOptions{}))
		if len(entries.Items) == 1 && entries.Items[0].Result == herald.AuditResultDone {
			return
		}
	}
}

// sendSteadily sends while the server is killed and started again.
func sendSteadily(ctx context.Context, client *herald.Client) {
	prepare(ctx, client)
	for number := range 300 {
		must(client.SendMessage(ctx, herald.SendMessageRequest{OrganizationID: org, SenderID: "alice", Message: herald.NewMessage{CID: "general", Body: fmt.Sprint(number)}}))
		fmt.Println("sent", number)
	}
	var bodies []string
	for message, err := range client.Messages(ctx, org, "general", herald.HistoryOptions{}) {
		succeed(err)
		bodies = append(bodies, message.Body)
	}
	slices.Sort(bodies)
	expect(len(bodies) == 300 && len(slices.Compact(bodies)) == 300, len(bodies))
	fmt.Println("each was stored once")
}

func collect[Item any](items func(func(Item, error) bool)) []Item {
	var all []Item
	for item, err := range items {
		succeed(err)
		all = append(all, item)
	}
	return all
}

func must[Value any](value Value, err error) Value {
	succeed(err)
	return value
}

func succeed(err error) {
	if err != nil {
		log.Output(3, err.Error())
		os.Exit(1)
	}
}

func expect(isTrue bool, shown any) {
	if !isTrue {
		log.Output(2, fmt.Sprintf("unexpected: %+v", shown))
		os.Exit(1)
	}
}
