import os

from herald_client import AuthenticatedClient
from herald_client.api.messages import send_message
from herald_client.api.users import get_user
from herald_client.api.webhooks import put_webhook
from herald_client.models import (
    NewMessage,
    PutWebhookRequest,
    SendMessageAnswer,
    SendMessageRequest,
    User,
    WebhookWithSecret,
)

org = os.environ["ORG"]
client = AuthenticatedClient(
    base_url=os.environ["URL"], token=os.environ["KEY"], prefix="", auth_header_name="Admin-Api-Key"
)

message = NewMessage(id="from-python", cid="welcome", body="Hello from Python")
sent = send_message.sync(
    client=client, body=SendMessageRequest(organization_id=org, sender_id="alice", message=message)
)
assert isinstance(sent, SendMessageAnswer), sent
print("sent", sent.ask.mid)

webhook = put_webhook.sync(org, "python", client=client, body=PutWebhookRequest(url="http://127.0.0.1:9/"))
assert isinstance(webhook, WebhookWithSecret), webhook
print("secret", webhook.secret[:6])

user = get_user.sync(org, "alice", client=client)
assert isinstance(user, User) and user.name is None, user
print("user null")
