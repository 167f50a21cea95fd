package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	org := os.Getenv("ORG")
	withKey := WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Admin-Api-Key", os.Getenv("KEY"))
		return nil
	})
	client, err := NewClientWithResponses(os.Getenv("URL"), withKey)
	if err != nil {
		log.Fatal(err)
	}

	id, body := "from-go", "Hello from Go"
	message := NewMessage{Id: &id, Cid: "welcome", Body: &body}
	sent, err := client.SendMessageWithResponse(ctx, nil, SendMessageRequest{OrganizationId: org, SenderId: "alice", Message: message})
	if err != nil || sent.JSON201 == nil {
		log.Fatal(err, sent)
	}
	fmt.Println("sent", sent.JSON201.Ask.Mid)

	webhook, err := client.PutWebhookWithResponse(ctx, org, "go", PutWebhookRequest{Url: "http://127.0.0.1:9/"})
	if err != nil || webhook.JSON201 == nil {
		log.Fatal(err, webhook)
	}
	fmt.Println("secret", webhook.JSON201.Secret[:6])

	user, err := client.GetUserWithResponse(ctx, org, "alice")
	if err != nil || user.JSON200 == nil || user.JSON200.Name != nil {
		log.Fatal(err, user)
	}
	fmt.Println("user null")
}
