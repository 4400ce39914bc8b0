// The C++ sender and receiver that the loops of pyudt are compared with.
//
//   pair receive 0    MSS BLOCK UDTBUF UDPSND UDPRCV FC SECONDS   prints "port N", then "rate BIT/S BYTES"
//   pair send    PORT MSS BLOCK UDTBUF UDPSND UDPRCV FC SECONDS   sends until the receiver closes
//
// Both loops do nothing but call the library and add to a counter: a flag set by another thread
// ends them, so that no clock is read for each block.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <udt/udt.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<long long> counted{0};
std::atomic<bool> stopped{false};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, UDT::getlasterror_desc());
  std::exit(1);
}

void set(UDTSOCKET socket, UDT::SOCKOPT option, const void* value, int size) {
  if (UDT::setsockopt(socket, 0, option, value, size) == UDT::ERROR) fail("setsockopt");
}

UDTSOCKET open_socket(int mss, int udt_buffer, int udp_send, int udp_receive, int window) {
  const UDTSOCKET socket = UDT::socket(AF_INET, SOCK_STREAM, 0);
  const linger none = {0, 0};
  set(socket, UDT_MSS, &mss, sizeof mss);
  set(socket, UDT_FC, &window, sizeof window);
  set(socket, UDP_SNDBUF, &udp_send, sizeof udp_send);
  set(socket, UDP_RCVBUF, &udp_receive, sizeof udp_receive);
  set(socket, UDT_SNDBUF, &udt_buffer, sizeof udt_buffer);
  set(socket, UDT_RCVBUF, &udt_buffer, sizeof udt_buffer);
  set(socket, UDT_LINGER, &none, sizeof none);
  return socket;
}

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void add(int bytes) { counted.fetch_add(bytes, std::memory_order_relaxed); }

void receive_blocks(UDTSOCKET socket, int block) {
  std::vector<char> buffer(block);
  while (!stopped.load(std::memory_order_relaxed)) {
    const int got = UDT::recv(socket, buffer.data(), block, 0);
    if (got == UDT::ERROR) break;
    add(got);
  }
}

void send_blocks(UDTSOCKET socket, int block) {
  std::vector<char> buffer(block);
  while (!stopped.load(std::memory_order_relaxed)) {
    const int sent = UDT::send(socket, buffer.data(), block, 0);
    if (sent == UDT::ERROR) break;
    add(sent);
  }
}

int receive(UDTSOCKET listener, int block, double seconds) {
  sockaddr_in address = loopback(0);
  int size = sizeof address;
  auto* name = reinterpret_cast<sockaddr*>(&address);
  if (UDT::bind(listener, name, size) == UDT::ERROR) fail("bind");
  if (UDT::listen(listener, 1) == UDT::ERROR) fail("listen");
  UDT::getsockname(listener, name, &size);
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  const UDTSOCKET socket = UDT::accept(listener, name, &size);
  if (socket == UDT::INVALID_SOCK) fail("accept");

  std::thread loop(receive_blocks, socket, block);
  while (counted.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the start-up is left out
  const auto begun = Clock::now();
  const long long before = counted.load();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const long long bytes = counted.load() - before;
  const double took = std::chrono::duration<double>(Clock::now() - begun).count();
  std::printf("rate %.0f %lld\n", 8.0 * bytes / took, bytes);
  std::fflush(stdout);
  stopped = true;
  UDT::close(socket);
  loop.join();
  return 0;
}

int send(UDTSOCKET socket, int port, int block, double seconds) {
  sockaddr_in address = loopback(port);
  if (UDT::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == UDT::ERROR)
    fail("connect");
  std::thread loop(send_blocks, socket, block);
  // The receiver closes first; the time is only a bound for when it has died.
  const auto bound = Clock::now() + std::chrono::duration<double>(seconds + 5);
  while (UDT::getsockstate(socket) == CONNECTED && Clock::now() < bound)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stopped = true;
  UDT::close(socket);
  loop.join();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 10) {
    std::fprintf(stderr, "usage: pair receive|send PORT MSS BLOCK UDTBUF UDPSND UDPRCV FC SECONDS\n");
    return 2;
  }
  UDT::startup();
  const UDTSOCKET socket = open_socket(std::atoi(words[3]), std::atoi(words[5]),
                                       std::atoi(words[6]), std::atoi(words[7]),
                                       std::atoi(words[8]));
  const int block = std::atoi(words[4]);
  const double seconds = std::atof(words[9]);
  const int code = std::string(words[1]) == "receive"
                       ? receive(socket, block, seconds)
                       : send(socket, std::atoi(words[2]), block, seconds);
  UDT::cleanup();
  return code;
}
