/*
 * A wide-area path between hosts that are network namespaces of this machine.
 *
 * Every host has one tun device. What the source (host 0) sends is read from its device, goes
 * through its own interface's link if that has a rate, then through the link of the path to
 * the host it is addressed to, and is written to that host's device; replies take the
 * reverse route. What another host sends to a third one goes back on the link of its own path and
 * from there on the link towards the third, without passing the source. A link is a drop-tail queue in bytes, drained at a rate, then a
 * propagation delay with jitter, then loss: independent, or in bursts (Gilbert's two states).
 *
 * One thread per direction: it uses the links of its direction under the direction's lock, which
 * commands hold briefly, and so does the reverse thread for a packet that goes on forward.
 *
 * Commands come as lines on standard input; each is answered by one line, "ok", "error WHY" or a
 * JSON object. When standard input ends, the program exits and its devices are removed.
 *
 *   host NETNS DEVICE MTU ADDRESS         the first is the source
 *   start                                 all hosts are added: carry packets
 *   link HOST DIRECTION RATE DELAY JITTER LOSS BURST QUEUE REORDER SEED
 *                                         bit/s, ns, ns, share, packets, bytes, 0 or 1, number;
 *                                         HOST 0 is the source's own interface; RATE 0: no limit
 *   cut HOST, restore HOST                both directions
 *   stats
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { HOSTS = 33, FORWARD = 0, REVERSE = 1, LARGEST = 65536, BATCH = 64, LATE_BUCKETS = 24 };

struct packet {
	double due_ns;
	uint32_t length;
	int16_t host; /* the far host it goes to or comes from */
	int16_t to;   /* the host it is addressed to, in the end */
	unsigned char data[];
};

struct ring {
	struct packet **slots;
	size_t size, head, count; /* size is a power of two */
};

struct counters {
	uint64_t packets, bytes;        /* delivered at the other end */
	uint64_t dropped, lost, cut;    /* queue full, random loss, path cut */
	double queue_most_bytes;
};

struct link {
	double rate_bps, delay_ns, jitter_ns, loss, burst;
	double queue_bytes;
	bool reorder, is_cut, in_burst;
	uint64_t random;
	double free_ns, last_due_ns; /* when the transmitter is free; the latest due time */
	struct ring ring;
	struct counters seen;
};

struct host {
	int fd;
	uint32_t address; /* network order */
};

struct direction {
	pthread_mutex_t lock;
	struct link own;          /* the source's interface */
	struct link paths[HOSTS]; /* index 0 unused */
	uint64_t late[LATE_BUCKETS]; /* packets delivered less than 2^i µs after they were due */
	uint64_t stray;
	double late_most_ns;
	double wakes_ns; /* when its thread looks again by itself */
};

static struct host hosts[HOSTS];
static int host_count;
static struct direction directions[2];
static pthread_t threads[2];
static bool started;
static struct timespec epoch;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec - epoch.tv_sec) * 1e9 + (double)(t.tv_nsec - epoch.tv_nsec);
}

/* splitmix64, as a share of one */
static double chance(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

/* In order of due time: at the end, unless reordering is allowed. */
static bool ring_put(struct ring *r, struct packet *p)
{
	if (r->count == r->size) {
		size_t size = r->size ? r->size * 2 : 1024;
		struct packet **slots = malloc(size * sizeof *slots);
		if (!slots)
			return false;
		for (size_t i = 0; i < r->count; i++)
			slots[i] = r->slots[(r->head + i) & (r->size - 1)];
		free(r->slots);
		r->slots = slots, r->size = size, r->head = 0;
	}
	size_t at = r->count++;
	while (at > 0) {
		struct packet *before = r->slots[(r->head + at - 1) & (r->size - 1)];
		if (before->due_ns <= p->due_ns)
			break;
		r->slots[(r->head + at) & (r->size - 1)] = before;
		at--;
	}
	r->slots[(r->head + at) & (r->size - 1)] = p;
	return true;
}

static struct packet *ring_take(struct ring *r)
{
	struct packet *p = r->slots[r->head];
	r->head = (r->head + 1) & (r->size - 1);
	r->count--;
	return p;
}

static double waiting_bytes(const struct link *l, double now)
{
	return l->rate_bps > 0 && l->free_ns > now ? (l->free_ns - now) * l->rate_bps / 8e9 : 0;
}

static bool is_lost(struct link *l)
{
	if (l->loss <= 0)
		return false;
	if (l->burst <= 1)
		return chance(&l->random) < l->loss;
	/* Gilbert: in the bad state all packets are lost; `burst` packets on average, `loss` in the long run */
	double leave = 1 / l->burst, enter = leave * l->loss / (1 - l->loss);
	l->in_burst = l->in_burst ? chance(&l->random) >= leave : chance(&l->random) < enter;
	return l->in_burst;
}

/* Puts the packet into the ring with its due time, or drops it. */
static void link_put(struct link *l, struct packet *p, double now)
{
	if (l->is_cut) {
		l->seen.cut++;
		free(p);
		return;
	}
	double waiting = waiting_bytes(l, now);
	if (waiting > 0 && waiting + p->length > l->queue_bytes) {
		l->seen.dropped++;
		free(p);
		return;
	}
	if (l->rate_bps > 0) {
		l->seen.queue_most_bytes = fmax(l->seen.queue_most_bytes, waiting + p->length);
		l->free_ns = fmax(l->free_ns, now) + p->length * 8e9 / l->rate_bps;
	} else {
		l->free_ns = now;
	}
	if (is_lost(l)) {
		l->seen.lost++;
		free(p);
		return;
	}
	p->due_ns = l->free_ns + l->delay_ns;
	if (l->jitter_ns > 0)
		p->due_ns += l->jitter_ns * chance(&l->random);
	if (!l->reorder)
		p->due_ns = fmax(p->due_ns, l->last_due_ns);
	l->last_due_ns = fmax(p->due_ns, l->last_due_ns);
	if (!ring_put(&l->ring, p)) {
		l->seen.dropped++;
		free(p);
	}
}

static struct packet *link_due(struct link *l, double now)
{
	if (!l->ring.count || l->ring.slots[l->ring.head]->due_ns > now)
		return NULL;
	struct packet *p = ring_take(&l->ring);
	l->seen.packets++;
	l->seen.bytes += p->length;
	return p;
}

static void hand_over(struct direction *d, struct packet *p, int fd, double now)
{
	double late_ns = now - p->due_ns;
	int bucket = 0;
	while (bucket < LATE_BUCKETS - 1 && late_ns >= 1000.0 * (double)(1u << bucket))
		bucket++;
	d->late[bucket]++;
	d->late_most_ns = fmax(d->late_most_ns, late_ns);
	/* A device that is down or has no room loses it, as an interface would. */
	if (write(fd, p->data, p->length) < 0)
		d->stray++;
	free(p);
}

static int host_at(const unsigned char *address)
{
	for (int i = 0; i < host_count; i++)
		if (!memcmp(&hosts[i].address, address, 4))
			return i;
	return -1;
}

/* The packet, with the hosts it is between; NULL if it is for no host here. */
static struct packet *packet_of(const unsigned char *data, uint32_t length, int which)
{
	if (length < 20 || data[0] >> 4 != 4)
		return NULL;
	int from = host_at(data + 12), to = host_at(data + 16);
	int host = which == FORWARD ? to : from;
	if (host < 1 || to < 0 || to == from)
		return NULL;
	struct packet *p = malloc(sizeof *p + length);
	if (!p)
		return NULL;
	p->length = length, p->host = (int16_t)host, p->to = (int16_t)to;
	memcpy(p->data, data, length);
	return p;
}

static void read_from(struct direction *d, int which, int fd, unsigned char *buffer)
{
	for (int i = 0; i < BATCH; i++) {
		ssize_t length = read(fd, buffer, LARGEST);
		if (length <= 0)
			return;
		struct packet *p = packet_of(buffer, (uint32_t)length, which);
		if (!p) {
			d->stray++; /* not for any host here, such as neighbour discovery */
			continue;
		}
		link_put(which == FORWARD ? &d->own : &d->paths[p->host], p, now_ns());
	}
}

/* From one far host to another: it has come as far as the source's end of both paths. */
static void pass_on(struct packet *p)
{
	struct direction *d = &directions[FORWARD];
	double at = p->due_ns;
	p->host = p->to;
	pthread_mutex_lock(&d->lock);
	struct ring *r = &d->paths[p->to].ring;
	link_put(&d->paths[p->to], p, at);
	bool sooner = r->count && r->slots[r->head]->due_ns < d->wakes_ns;
	if (sooner)
		d->wakes_ns = r->slots[r->head]->due_ns;
	pthread_mutex_unlock(&d->lock);
	if (sooner)
		pthread_kill(threads[FORWARD], SIGUSR1);
}

/* Moves all due packets one step on; returns the next due time. */
static double move(struct direction *d, int which)
{
	double next = INFINITY, now = now_ns();
	struct packet *p;
	if (which == FORWARD)
		while ((p = link_due(&d->own, now)))
			link_put(&d->paths[p->host], p, p->due_ns);
	for (int i = 1; i < host_count; i++) {
		while ((p = link_due(&d->paths[i], now))) {
			if (which == FORWARD)
				hand_over(d, p, hosts[i].fd, now);
			else if (p->to)
				pass_on(p);
			else
				link_put(&d->own, p, p->due_ns);
		}
		if (d->paths[i].ring.count)
			next = fmin(next, d->paths[i].ring.slots[d->paths[i].ring.head]->due_ns);
	}
	if (which == REVERSE)
		while ((p = link_due(&d->own, now)))
			hand_over(d, p, hosts[0].fd, now);
	if (d->own.ring.count)
		next = fmin(next, d->own.ring.slots[d->own.ring.head]->due_ns);
	return next;
}

static void *carry(void *argument)
{
	int which = (int)(intptr_t)argument;
	struct direction *d = &directions[which];
	unsigned char *buffer = malloc(LARGEST);
	struct pollfd polled[HOSTS];
	int first = which == FORWARD ? 0 : 1, count = which == FORWARD ? 1 : host_count - 1;
	for (int i = 0; i < count; i++)
		polled[i] = (struct pollfd){.fd = hosts[first + i].fd, .events = POLLIN};
	prctl(PR_SET_TIMERSLACK, 1); /* otherwise the kernel wakes us up to 50 µs late */
	sigset_t while_waiting;
	sigemptyset(&while_waiting); /* SIGUSR1 only while waiting: the next due time may have changed */
	for (;;) {
		pthread_mutex_lock(&d->lock);
		d->wakes_ns = move(d, which);
		double wait_ns = d->wakes_ns - now_ns();
		pthread_mutex_unlock(&d->lock);
		struct timespec timeout = {.tv_sec = 1};
		if (wait_ns < 1e9) {
			timeout.tv_sec = 0;
			timeout.tv_nsec = wait_ns > 0 ? (long)wait_ns : 0;
		}
		if (ppoll(polled, (nfds_t)count, &timeout, &while_waiting) <= 0)
			continue;
		pthread_mutex_lock(&d->lock);
		for (int i = 0; i < count; i++)
			if (polled[i].revents)
				read_from(d, which, polled[i].fd, buffer);
		pthread_mutex_unlock(&d->lock);
	}
	return NULL;
}

static const char *add_host(const char *netns, const char *device, int mtu, const char *address)
{
	if (host_count == HOSTS)
		return "too many hosts";
	struct host *h = &hosts[host_count];
	if (inet_pton(AF_INET, address, &h->address) != 1)
		return "not an IPv4 address";
	int back = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = open(netns, O_RDONLY | O_CLOEXEC);
	if (back < 0 || there < 0 || setns(there, CLONE_NEWNET))
		return strerror(errno);
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	snprintf(request.ifr_name, IFNAMSIZ, "%s", device);
	h->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	const char *trouble = NULL;
	if (h->fd < 0 || ioctl(h->fd, TUNSETIFF, &request))
		trouble = strerror(errno);
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	request.ifr_mtu = mtu;
	if (!trouble && (control < 0 || ioctl(control, SIOCSIFMTU, &request)))
		trouble = strerror(errno);
	close(control);
	if (setns(back, CLONE_NEWNET))
		abort(); /* never continue in an unknown namespace */
	close(back), close(there);
	if (!trouble)
		host_count++;
	return trouble;
}

/* Queued packets leave at the new rate; those that have left the queue are unchanged. */
static void change_rate(struct link *l, double rate_bps, double now)
{
	double waits_ns = l->rate_bps > 0 ? l->free_ns - now : 0, waiting = waiting_bytes(l, now);
	l->free_ns = rate_bps > 0 ? now + waiting * 8e9 / rate_bps : now;
	if (waits_ns > 0) {
		double gone = now + l->delay_ns, longer = (l->free_ns - now) / waits_ns;
		for (size_t i = 0; i < l->ring.count; i++) {
			double *due = &l->ring.slots[(l->ring.head + i) & (l->ring.size - 1)]->due_ns;
			if (*due > gone)
				*due += (longer - 1) * fmin(*due - gone, waits_ns);
		}
		if (l->last_due_ns > gone)
			l->last_due_ns += (longer - 1) * fmin(l->last_due_ns - gone, waits_ns);
	}
	l->rate_bps = rate_bps;
}

static const char *set_link(int host, int which, const struct link *wanted)
{
	if (host < 0 || host >= host_count || which < FORWARD || which > REVERSE)
		return "no such link";
	struct direction *d = &directions[which];
	pthread_mutex_lock(&d->lock);
	struct link *l = host ? &d->paths[host] : &d->own;
	change_rate(l, wanted->rate_bps, now_ns());
	l->queue_bytes = wanted->queue_bytes;
	l->delay_ns = wanted->delay_ns, l->jitter_ns = wanted->jitter_ns;
	l->loss = wanted->loss, l->burst = wanted->burst, l->reorder = wanted->reorder;
	if (!l->random)
		l->random = wanted->random + 1;
	pthread_mutex_unlock(&d->lock);
	if (started)
		pthread_kill(threads[which], SIGUSR1);
	return NULL;
}

static const char *set_cut(int host, bool is_cut)
{
	if (host < 1 || host >= host_count)
		return "no such host";
	for (int which = FORWARD; which <= REVERSE; which++) {
		pthread_mutex_lock(&directions[which].lock);
		directions[which].paths[host].is_cut = is_cut;
		pthread_mutex_unlock(&directions[which].lock);
	}
	return NULL;
}

static void print_link(const struct link *l, double now)
{
	printf("{\"packets\":%llu,\"bytes\":%llu,\"dropped\":%llu,\"lost\":%llu,\"cut\":%llu,"
	       "\"queue_bytes\":%.0f,\"queue_most_bytes\":%.0f}",
	       (unsigned long long)l->seen.packets, (unsigned long long)l->seen.bytes,
	       (unsigned long long)l->seen.dropped, (unsigned long long)l->seen.lost,
	       (unsigned long long)l->seen.cut, waiting_bytes(l, now), l->seen.queue_most_bytes);
}

static void print_stats(void)
{
	printf("{\"directions\":[");
	for (int which = FORWARD; which <= REVERSE; which++) {
		struct direction *d = &directions[which];
		pthread_mutex_lock(&d->lock);
		double now = now_ns();
		printf("%s{\"links\":[", which ? "," : "");
		print_link(&d->own, now);
		for (int i = 1; i < host_count; i++) {
			printf(",");
			print_link(&d->paths[i], now);
		}
		printf("],\"stray\":%llu,\"late_most_s\":%.9f,\"late\":[",
		       (unsigned long long)d->stray, d->late_most_ns / 1e9);
		for (int i = 0; i < LATE_BUCKETS; i++)
			printf("%s%llu", i ? "," : "", (unsigned long long)d->late[i]);
		printf("]}");
		pthread_mutex_unlock(&d->lock);
	}
	printf("]}\n");
}

static const char *start(void)
{
	if (started || host_count < 2)
		return "needs two hosts, once";
	for (int which = FORWARD; which <= REVERSE; which++)
		if (pthread_create(&threads[which], NULL, carry, (void *)(intptr_t)which))
			return "no thread";
	started = true;
	return NULL;
}

static const char *obey(const char *line)
{
	char netns[128], device[IFNAMSIZ], address[64];
	int host, which, mtu, reorder;
	unsigned long long seed;
	struct link l = {0};
	if (sscanf(line, "host %127s %15s %d %63s", netns, device, &mtu, address) == 4)
		return add_host(netns, device, mtu, address);
	if (sscanf(line, "link %d %d %lf %lf %lf %lf %lf %lf %d %llu", &host, &which, &l.rate_bps,
		   &l.delay_ns, &l.jitter_ns, &l.loss, &l.burst, &l.queue_bytes, &reorder,
		   &seed) == 10) {
		l.reorder = reorder, l.random = seed;
		return set_link(host, which, &l);
	}
	if (sscanf(line, "cut %d", &host) == 1)
		return set_cut(host, true);
	if (sscanf(line, "restore %d", &host) == 1)
		return set_cut(host, false);
	if (!strcmp(line, "start\n"))
		return start();
	return "not a command";
}

static void ignore(int number)
{
	(void)number;
}

int main(void)
{
	char line[512];
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore}, NULL);
	clock_gettime(CLOCK_MONOTONIC, &epoch);
	for (int which = FORWARD; which <= REVERSE; which++)
		pthread_mutex_init(&directions[which].lock, NULL);
	setvbuf(stdout, NULL, _IOFBF, 65536);
	while (fgets(line, sizeof line, stdin)) {
		if (!strcmp(line, "stats\n")) {
			print_stats();
		} else {
			const char *trouble = obey(line);
			printf(trouble ? "error %s\n" : "ok\n", trouble);
		}
		fflush(stdout);
	}
	return 0; /* the threads and devices end with the process */
}
