// The load generator of `npm run bench:peers`: one thread and epoll, so that it costs a fraction of what it measures.
//
// It knows HTTP/1.1 and WebSocket, and nothing of the servers: what is written is prepared by generator.ts, in a plan on
// standard input. A message has a mark in its body, `~~` + 8 digits of its number + 16 digits of the nanosecond at which it was
// to be sent (CLOCK_MONOTONIC), all hexadecimal; whoever receives these bytes has received the message.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { mark_bytes = 26, input_bytes = 1 << 18, most_numbers = 1 << 20, samples_at_most = 1 << 22, most_drain_ns = 2000000000 };
enum answer { answer_none = 0, answer_http = 1, answer_frame = 2 };

struct text {
  uint32_t length;
  char *bytes;
};

// What opens a connection: each text is written once the one before has been answered by so many HTTP heads or frames.
struct step {
  uint32_t answers;
  struct text text;
};

struct connection {
  int fd;
  bool is_upgraded, is_waiting;
  uint32_t step, steps, answers_missing;
  struct step *script;
  struct text request; // of a publisher, with the place of its mark
  uint32_t mark_at, id_at;
  enum answer answer;
  char *input; // received, and not understood yet
  uint32_t received;
  char tail[mark_bytes]; // the last bytes of the frame before, as a mark may begin there
  uint32_t tail_length;
  uint64_t body_missing; // of an HTTP response
  uint64_t asked_at;
};

static struct plan {
  uint32_t port, listeners, publishers, in_flight, per_second, warm_up_ms, run_ms, opening_at_once;
} plan;

static struct connection *connections;
static uint32_t connection_count, open_count, opening_next;
static int poller;
static bool is_measuring;
static uint64_t deliveries, answered, refused, published;
static uint32_t next_number;
static uint32_t missing[most_numbers]; // listeners that have not received the message of this number
static uint64_t sent_at[most_numbers];
static uint32_t under_way;
static uint32_t *each_us, *last_us, *answer_us; // samples of latency, in microseconds
static uint64_t each_count, last_count, answer_count;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "generator: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void sample(uint32_t *samples, uint64_t *count, uint64_t from, uint64_t to) {
  if (!is_measuring) return;
  uint64_t index = (*count)++;
  // Once the room is used up, a sample replaces an earlier one at random, so that all have the same chance to stay.
  if (index >= samples_at_most) index = (uint64_t)(drand48() * (double)*count);
  if (index < samples_at_most) samples[index] = (uint32_t)((to - from) / 1000);
}

static uint64_t read_hex(const char *digits, int count) {
  uint64_t value = 0;
  for (int index = 0; index < count; index++) {
    char digit = digits[index];
    value = value * 16 + (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return value;
}

static void write_hex(char *digits, int count, uint64_t value) {
  for (int index = count - 1; index >= 0; index--, value >>= 4) digits[index] = "0123456789abcdef"[value & 15];
}

static void write_all(struct connection *connection, const char *bytes, uint32_t length) {
  while (length > 0) {
    ssize_t written = send(connection->fd, bytes, length, MSG_NOSIGNAL);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) continue; // requests are short: the socket has room at once
    if (written < 0) fail("a connection was closed");
    bytes += written;
    length -= (uint32_t)written;
  }
}

static void publish(struct connection *connection, uint64_t intended_at) {
  uint32_t number = next_number++;
  uint32_t slot = number % most_numbers;
  char *mark = connection->request.bytes + connection->mark_at;
  memcpy(mark, "~~", 2);
  write_hex(mark + 2, 8, number);
  write_hex(mark + 10, 16, intended_at);
  if (connection->id_at != UINT32_MAX)
    for (int part = 0; part < 2; part++)
      write_hex(connection->request.bytes + connection->id_at + part * 16, 16, ((uint64_t)mrand48() << 32) ^ (uint64_t)mrand48());
  missing[slot] = plan.listeners;
  sent_at[slot] = intended_at;
  under_way++;
  published++;
  connection->is_waiting = connection->answer != answer_none;
  connection->asked_at = intended_at;
  write_all(connection, connection->request.bytes, connection->request.length);
}

static struct connection *idle_publisher(void) {
  static uint32_t last;
  for (uint32_t count = 0; count < plan.publishers; count++) {
    struct connection *connection = &connections[plan.listeners + last++ % plan.publishers];
    if (!connection->is_waiting) return connection;
  }
  return NULL;
}

// Without a rate, as many messages are under way as planned; a publisher has one request under way in any case.
static void publish_more(void) {
  if (plan.per_second > 0) return;
  while (plan.listeners == 0 || under_way < plan.in_flight) {
    struct connection *connection = idle_publisher();
    if (connection == NULL) return;
    publish(connection, now_ns());
  }
}

static void take_mark(const char *mark, uint64_t now) {
  uint32_t number = (uint32_t)read_hex(mark + 2, 8);
  uint64_t intended_at = read_hex(mark + 10, 16);
  uint32_t slot = number % most_numbers;
  if (is_measuring) deliveries++;
  sample(each_us, &each_count, intended_at, now);
  if (sent_at[slot] != intended_at || missing[slot] == 0 || --missing[slot] > 0) return;
  sample(last_us, &last_count, intended_at, now);
  under_way--;
}

// Looks for marks in the payload of a frame. A mark that two frames share is found by the tail of the first.
static void take_payload(struct connection *connection, const char *bytes, size_t length, uint64_t now) {
  char joint[2 * mark_bytes];
  if (connection->tail_length > 0) {
    size_t more = length < mark_bytes - 1 ? length : mark_bytes - 1;
    memcpy(joint, connection->tail, connection->tail_length);
    memcpy(joint + connection->tail_length, bytes, more);
    size_t joined = connection->tail_length + more;
    for (size_t at = 0; at < connection->tail_length && at + mark_bytes <= joined; at++)
      if (joint[at] == '~' && joint[at + 1] == '~') take_mark(joint + at, now);
  }
  const char *end = bytes + length;
  for (const char *at = bytes; (at = memmem(at, (size_t)(end - at), "~~", 2)) != NULL && at + mark_bytes <= end; at += mark_bytes)
    take_mark(at, now);
  connection->tail_length = length < mark_bytes - 1 ? (uint32_t)length : mark_bytes - 1;
  memcpy(connection->tail, end - connection->tail_length, connection->tail_length);
}

static void write_step(struct connection *connection) {
  if (connection->step == connection->steps) {
    open_count++;
    return;
  }
  struct step *step = &connection->script[connection->step++];
  connection->answers_missing = step->answers;
  write_all(connection, step->text.bytes, step->text.length);
  if (step->answers == 0) write_step(connection);
}

static void take_answer(struct connection *connection, uint64_t now) {
  if (connection->answers_missing > 0) {
    if (--connection->answers_missing == 0) write_step(connection);
    return;
  }
  if (!connection->is_waiting) return;
  connection->is_waiting = false;
  if (is_measuring) answered++;
  sample(answer_us, &answer_count, connection->asked_at, now);
  if (plan.listeners == 0) under_way--;
}

// The length of a body in chunks (RFC 9112, section 7.1), without trailers; 0 if there is more to come.
static uint64_t chunked_length(const char *body, uint64_t length) {
  for (uint64_t at = 0; at < length;) {
    const char *end = memmem(body + at, length - at, "\r\n", 2);
    if (end == NULL) return 0;
    uint64_t size = strtoull(body + at, NULL, 16);
    at = (uint64_t)(end - body) + 2 + size + 2;
    if (size == 0 && at <= length) return at;
  }
  return 0;
}

// Understands one HTTP response; returns its length, or 0 if there is more to come.
static uint32_t take_response(struct connection *connection, const char *input, uint32_t length, uint64_t now) {
  const char *end = memmem(input, length, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  uint32_t head = (uint32_t)(end + 4 - input);
  int status = atoi(input + sizeof "HTTP/1.1 " - 1);
  if (status == 101) {
    connection->is_upgraded = true;
    take_answer(connection, now);
    return head;
  }
  uint64_t body = 0;
  for (const char *line = input; line < end; line++) {
    if (strncasecmp(line, "\ncontent-length:", 16) == 0) body = strtoull(line + 16, NULL, 10);
    if (strncasecmp(line, "\ntransfer-encoding: chunked", 27) == 0) {
      body = chunked_length(input + head, length - head);
      if (body == 0) return 0;
    }
  }
  if (head + body > length) return 0;
  if (status >= 300) {
    refused++;
    if (refused < 3) fprintf(stderr, "generator: refused: %.*s\n", (int)(head + body > 600 ? 600 : head + body), input);
  }
  take_answer(connection, now);
  return head + (uint32_t)body;
}

// Understands one frame (RFC 6455, section 5.2); returns its length, or 0 if there is more to come.
static uint32_t take_frame(struct connection *connection, char *input, uint32_t length, uint64_t now) {
  if (length < 2) return 0;
  uint32_t opcode = (unsigned char)input[0] & 15, head = 2;
  uint64_t payload = (unsigned char)input[1] & 127;
  if (payload >= 126) {
    uint32_t bytes = payload == 126 ? 2 : 8;
    if (length < 2 + bytes) return 0;
    payload = 0;
    for (uint32_t index = 0; index < bytes; index++) payload = payload << 8 | (unsigned char)input[2 + index];
    head += bytes;
  }
  if (head + payload > length) return 0;
  if (opcode == 8) {
    fprintf(stderr, "generator: the server closed a socket: %.*s\n", payload > 2 ? (int)payload - 2 : 0, input + head + 2);
    exit(1);
  }
  if (opcode == 9) {
    char pong[6 + 125] = {(char)0x8a, (char)(0x80 | payload)};
    memcpy(pong + 6, input + head, payload);
    write_all(connection, pong, 6 + (uint32_t)payload);
  } else if (opcode < 3) {
    take_payload(connection, input + head, payload, now);
    take_answer(connection, now);
  }
  return head + (uint32_t)payload;
}

static void take_input(struct connection *connection) {
  for (;;) {
    ssize_t got = recv(connection->fd, connection->input + connection->received, input_bytes - connection->received, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("the server closed a connection");
    uint32_t length = connection->received + (uint32_t)got, taken = 0;
    bool was_full = length == input_bytes;
    uint64_t now = now_ns();
    while (taken < length) {
      char *rest = connection->input + taken;
      uint32_t used = connection->is_upgraded ? take_frame(connection, rest, length - taken, now)
                                              : take_response(connection, rest, length - taken, now);
      if (used == 0) break;
      taken += used;
    }
    memmove(connection->input, connection->input + taken, length - taken);
    connection->received = length - taken;
    if (!was_full) return;
  }
}

static void open_next(void) {
  struct connection *connection = &connections[opening_next++];
  connection->fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)plan.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  int on = 1;
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->fd, &event) != 0) fail("epoll_ctl");
  write_step(connection);
}

static void poll_until(uint64_t at) {
  struct epoll_event events[512];
  uint64_t now = now_ns(), ns = at > now ? at - now : 0;
  struct timespec timeout = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  int count = epoll_pwait2(poller, events, 512, &timeout, NULL);
  for (int index = 0; index < count; index++) take_input(events[index].data.ptr);
}

static void read_exactly(void *target, size_t length) {
  if (length > 0 && fread(target, length, 1, stdin) != 1) fail("the plan is incomplete");
}

static uint32_t read_number(void) {
  uint32_t number;
  read_exactly(&number, sizeof number);
  return number;
}

static struct text read_text(void) {
  struct text text = {.length = read_number()};
  text.bytes = malloc(text.length + 1);
  read_exactly(text.bytes, text.length);
  return text;
}

static void read_connection(struct connection *connection, bool is_publisher) {
  connection->input = malloc(input_bytes);
  connection->steps = read_number();
  connection->script = calloc(connection->steps, sizeof *connection->script);
  for (uint32_t index = 0; index < connection->steps; index++)
    connection->script[index] = (struct step){.answers = read_number(), .text = read_text()};
  if (!is_publisher) return;
  connection->answer = (enum answer)read_number();
  connection->mark_at = read_number();
  connection->id_at = read_number();
  connection->request = read_text();
}

static void read_plan(void) {
  read_exactly(&plan, sizeof plan);
  connection_count = plan.listeners + plan.publishers;
  connections = calloc(connection_count, sizeof *connections);
  for (uint32_t index = 0; index < connection_count; index++) read_connection(&connections[index], index >= plan.listeners);
}

static int by_value(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static void print_latency(const char *name, uint32_t *samples, uint64_t count) {
  uint64_t kept = count < samples_at_most ? count : samples_at_most;
  qsort(samples, kept, sizeof *samples, by_value);
  const double quantiles[] = {0.5, 0.99, 0.999};
  printf(",\"%s\":[", name);
  for (int index = 0; index < 3; index++)
    printf("%s%u", index > 0 ? "," : "", kept == 0 ? 0 : samples[(uint64_t)((double)(kept - 1) * quantiles[index])]);
  printf(",%u]", kept == 0 ? 0 : samples[kept - 1]);
}

static uint64_t cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Opens everything, runs in, and measures. Tells when it does what, so that its parent can read the server's CPU time.
int main(void) {
  read_plan();
  srand48((long)now_ns()); // ids of another run are never used again
  poller = epoll_create1(0);
  each_us = malloc(sizeof(uint32_t) * samples_at_most);
  last_us = malloc(sizeof(uint32_t) * samples_at_most);
  answer_us = malloc(sizeof(uint32_t) * samples_at_most);
  uint64_t opening_at = now_ns();
  while (open_count < connection_count) {
    while (opening_next < connection_count && opening_next - open_count < plan.opening_at_once) open_next();
    poll_until(now_ns() + 1000000000u);
  }
  double opened_in = (double)(now_ns() - opening_at) / 1e9;
  printf("open\n");
  fflush(stdout);

  uint64_t started_at = now_ns(), measured_at = started_at + plan.warm_up_ms * 1000000ull;
  uint64_t end = measured_at + plan.run_ms * 1000000ull, cpu_before = 0, begun_at = 0;
  double interval = plan.per_second > 0 ? 1e9 / plan.per_second : 0;
  uint64_t slots = 0;
  uint64_t published_before = 0;
  for (uint64_t now = started_at; now < end; now = now_ns()) {
    if (!is_measuring && now >= measured_at) {
      printf("begin\n");
      fflush(stdout);
      cpu_before = cpu_ns();
      begun_at = now_ns();
      published_before = published;
      is_measuring = true;
    }
    uint64_t next_at = now + 10000000u;
    if (plan.per_second > 0) {
      // The time a message was to be sent counts, even if no publisher is idle then: waiting is part of its latency.
      uint64_t due;
      while ((due = started_at + (uint64_t)((double)slots * interval)) <= now) {
        struct connection *connection = idle_publisher();
        if (connection == NULL) break;
        publish(connection, due);
        slots++;
      }
      if (due > now && due < next_at) next_at = due;
    }
    publish_more();
    poll_until(next_at);
  }
  double seconds = (double)(now_ns() - begun_at) / 1e9;
  double busy = (double)(cpu_ns() - cpu_before) / 1e9 / seconds;
  is_measuring = false;
  printf("end\n");
  fflush(stdout);
  // What is under way may arrive before the sockets are closed, so that a server is not left in the middle of a write.
  for (uint64_t limit = now_ns() + most_drain_ns; under_way > 0 && now_ns() < limit;) poll_until(limit);
  printf("{\"seconds\":%.6f,\"published\":%lu,\"answered\":%lu,\"refused\":%lu,\"deliveries\":%lu,\"busy\":%.4f,\"openedIn\":%.4f", seconds,
         published - published_before, answered, refused, deliveries, busy, opened_in);
  print_latency("eachUs", each_us, each_count);
  print_latency("lastUs", last_us, last_count);
  print_latency("answerUs", answer_us, answer_count);
  printf("}\n");
  return refused > 0 ? 2 : 0;
}
