import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.UsersApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.NewMessage;
import org.openapitools.client.model.PutWebhookRequest;
import org.openapitools.client.model.SendMessageRequest;
import org.openapitools.client.model.WebhookEvent;

public class Main {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("URL"));
    client.setApiKey(System.getenv("KEY"));
    String org = System.getenv("ORG");

    NewMessage message = new NewMessage().id("from-java").cid("welcome").body("Hello from Java");
    SendMessageRequest request = new SendMessageRequest().organizationId(org).senderId("alice").message(message);
    System.out.println("sent " + new MessagesApi(client).sendMessage(request, null, null).getAsk().getMid());

    PutWebhookRequest webhook = new PutWebhookRequest().url("http://127.0.0.1:9/").events(List.of(WebhookEvent.MESSAGE_UNREACHED));
    String secret = new WebhooksApi(client).putWebhook(org, "java", webhook).getSecret();
    System.out.println("secret " + secret.substring(0, 6));
    System.out.println("user " + new UsersApi(client).getUser(org, "alice").getName());
  }
}
