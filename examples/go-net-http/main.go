// A shop that tells its customers, and itself, when an order is placed: with net/http and the SDK.
//
//	HERALD_URL=http://127.0.0.1:7070 HERALD_ADMIN_API_KEY=$(cat data/admin-api-key) go run .
//	curl -i 127.0.0.1:8080/orders -d '{"user":"bob","order":"456"}'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"time"

	herald "github.com/herald-im/herald/sdk-go"
)

const (
	organization = "demo"
	conversation = "welcome"
	shop         = "alice"
)

var id = regexp.MustCompile(`^[\w-]{1,50}$`)

type order struct {
	User  string `json:"user"`
	Order string `json:"order"`
}

func main() {
	client, err := herald.New(herald.Options{URL: or("HERALD_URL", "http://127.0.0.1:7070"), Key: os.Getenv("HERALD_ADMIN_API_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var placed order
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&placed); err != nil || !id.MatchString(placed.User) || !id.MatchString(placed.Order) {
			http.Error(w, `{"error":"an order has a user and an order: 1 to 50 letters and digits"}`, http.StatusBadRequest)
			return
		}
		// … store the order here, and then tell of it.
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		sent, err := tell(ctx, client, placed)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		json.NewEncoder(w).Encode(map[string]any{"message": sent.ServerMID, "replayed": sent.Replayed})
	})
	listener, err := net.Listen("tcp", or("ADDRESS", "127.0.0.1:8080"))
	if err != nil {
		log.Fatal(err)
	}
	log.Print("the shop listens on ", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}

// tell sends a message. Its id names what happened, to whom, and which order it was: however often the order is submitted, also
// after a restart of the shop, the message is sent once.
func tell(ctx context.Context, client *herald.Client, placed order) (*herald.SentMessage, error) {
	return client.SendMessage(ctx, herald.SendMessageRequest{
		OrganizationID: organization,
		SenderID:       shop,
		Message: herald.NewMessage{
			ID:   "order-placed:" + placed.User + ":" + placed.Order,
			CID:  conversation,
			Body: "Order " + placed.Order + " is placed.",
			X:    map[string]any{"user": placed.User, "order": placed.Order},
		},
	})
}

// refuse says whether it helps to submit the order again.
func refuse(w http.ResponseWriter, err error) {
	log.Print(err)
	var failure *herald.Error
	if errors.As(err, &failure) && !failure.IsUnknown() && failure.Status != http.StatusTooManyRequests {
		http.Error(w, `{"error":"the order cannot be announced"}`, http.StatusInternalServerError)
		return
	}
	http.Error(w, `{"error":"try again"}`, http.StatusServiceUnavailable)
}

func or(name, standard string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return standard
}
