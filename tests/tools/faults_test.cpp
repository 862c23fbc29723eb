// Faults during a run: processes that die, stop, are slow or send wrong messages. Every remaining
// process must end by itself in time, with one line that names the failed process and what it was
// doing. The tests use real processes, and fake ones that follow the protocol only partly.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <thread>

#include "core/scenario/plan_digest.h"
#include "core/scenario/scenario.h"
#include "core/timeline/reader.h"
#include "real/proto/run.pb.h"
#include "real/wire/frame.h"
#include "real/wire/protocol.h"
#include "tests/support/cluster.h"
#include "tests/support/json.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

using proto::Control;
using real::ControlChannel;
using testing::AllOf;
using testing::HasSubstr;

const std::string kOurs(real::protocol());

/// Waits until the run is most likely in a step. The expectations also hold if it is not.
void wait_until_running(ClusterRun& run) {
  ASSERT_TRUE(run.is_on()) << run.coordinator().err();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

void send_raw(const ControlChannel& channel, const std::string& bytes) {
  ASSERT_EQ(::send(channel.file(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

Control hello() {
  Control message;
  message.mutable_hello()->mutable_address()->set_host("127.0.0.1");
  message.mutable_hello()->mutable_address()->set_port(1);
  return message;
}

/// Returns the next message that is not a ping.
std::unique_ptr<Control> next(ControlChannel& channel) {
  while (true) {
    auto message = channel.receive(ControlChannel::Clock::now() + std::chrono::seconds(30));
    if (!message || !*message) return nullptr;
    if (!(*message)->has_ping()) return std::move(*message);
  }
}

// --- processes that end, stop or are slow ---

TEST(Faults, AKilledRemoteWorkerIsNamedByAllOthers) {
  ClusterRun run(long_ring_of(3));
  for (const char* number : {"0", "1", "2"}) run.join({"--worker", number});
  wait_until_running(run);
  run.worker(1).signal(SIGKILL);
  const auto named = says_gone(1);
  expect_failed(run.coordinator(), named, "coordinator");
  for (const std::size_t w : {0, 2})
    expect_failed(run.worker(w), says_the_run_failed(named), "survivor");
}

TEST(Faults, AStoppedRemoteWorkerIsNamedByAllOthers) {
  ClusterRun run(long_ring_of(3), {"--timeout-seconds", "1"});
  for (const char* number : {"0", "1", "2"}) run.join({"--worker", number});
  wait_until_running(run);
  run.worker(2).signal(SIGSTOP);
  const auto named = HasSubstr("worker 2 has ");
  expect_failed(run.coordinator(), says_silent(2), "coordinator");
  for (const std::size_t w : {0, 1})
    expect_failed(run.worker(w), says_the_run_failed(named), "survivor");
}

/// Everything is slowed down except the time until the fault is detected.
TEST(Faults, AStoppedEmulatedWorkerIsNamedInTimeAtAnyTimeScale) {
  ClusterRun run(long_ring_of(2, 3, 500),
                 {"--emulate", "--time-scale", "10000", "--timeout-seconds", "1"});
  run.join({"--worker", "0"});
  run.join({"--worker", "1"});
  wait_until_running(run);
  run.worker(1).signal(SIGSTOP);
  const auto named = HasSubstr("worker 1 has ");
  expect_failed(run.coordinator(), says_silent(1), "coordinator");
  expect_failed(run.worker(0), says_the_run_failed(named), "survivor");
}

TEST(Faults, TimeoutsDoNotExpireAtOnceAtAnyTimeScale) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", ring_of(1, 1));
  const Outcome outcome = run_tutti(
      {"run", file, "--emulate", "--time-scale", "1000000", "--timeout-seconds", "86400"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(Faults, ReportsInterruptedWorkers) {
  ClusterRun run(long_ring_of(2));
  for (const char* number : {"0", "1"}) run.join({"--worker", number});
  wait_until_running(run);
  run.worker(0).signal(SIGTERM);
  expect_failed(run.coordinator(), says_that_it_failed(0, "interrupted ("), "coordinator");
  expect_failed(run.worker(0), says_interrupted(), "itself");
  expect_failed(run.worker(1), says_the_run_failed(says_that_it_failed(0, "interrupted")),
                "survivor");
}

TEST(Faults, WorkersEndThemselvesWhenTheCoordinatorIsKilled) {
  ClusterRun run(long_ring_of(2));
  run.join();
  run.join();
  wait_until_running(run);
  run.coordinator().signal(SIGKILL);
  for (const std::size_t w : {0, 1})
    expect_failed(run.worker(w), HasSubstr("the coordinator has disconnected ("), "worker");
}

TEST(Faults, WorkersEndThemselvesWhenTheCoordinatorIsStopped) {
  ClusterRun run(long_ring_of(2, 3, 500), {"--timeout-seconds", "1"});
  run.join();
  run.join();
  wait_until_running(run);
  run.coordinator().signal(SIGSTOP);
  for (const std::size_t w : {0, 1})
    expect_failed(run.worker(w), HasSubstr("not been heard from for 3 s ("), "worker");
}

TEST(Faults, WaitsForASlowWorker) {
  ClusterRun run(long_ring_of(2, 2, 300), {"--timeout-seconds", "20"});
  run.join();
  run.join();
  ASSERT_TRUE(run.is_on()) << run.coordinator().err();
  for (int i = 0; i < 4; ++i) {
    run.worker(1).signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    run.worker(1).signal(SIGCONT);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(Faults, AStepMayTakeLongerThanTheTimeoutWhileItsWorkersCompute) {
  ClusterRun run(long_ring_of(2, 1, 3000), {"--timeout-seconds", "0.5"});
  run.join();
  run.join();
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(Faults, ReportsWorkersThatRunOutOfMemory) {
#ifdef TUTTI_SANITIZED
  GTEST_SKIP() << "sanitizers need the whole address space";
#endif
  ClusterRun run(ring_of(2, 1, "variable { name: \"a\" shape: 200000000 }"));
  run.join({"--worker", "0"}, {.memory_mb = 400});
  run.join({"--worker", "1"});
  expect_failed(run.coordinator(), says_that_it_failed(0, "out of memory"), "coordinator");
  expect_failed(run.worker(0), HasSubstr("out of memory"), "itself");
  expect_failed(run.worker(1), says_that_it_failed(0, "out of memory"), "survivor");
}

// --- output of a failed run ---

TEST(Faults, AFailedRunKeepsTheStepsThatEnded) {
  for (const std::string format : {"text", "json"}) {
    const TemporaryFolder folder;
    const std::string timeline = folder.file("t.tutti");
    ClusterRun run(ring_of(2, 100'000), {"--timeline", timeline, "--format", format});
    run.join({"--worker", "0"});
    run.join({"--worker", "1"});
    wait_until_running(run);
    run.worker(1).signal(SIGKILL);
    const Outcome outcome = run.coordinator().wait();
    EXPECT_EQ(outcome.status, 1);
    if (format == "text") {
      EXPECT_EQ(outcome.out, "") << "no report";
    } else {
      const core::Value document = test::parse_or_throw(outcome.out, "out");
      EXPECT_EQ(test::Data(document)["error"]["status"].number(), 1) << "no incomplete report";
    }
    EXPECT_THAT(outcome.err, AllOf(says_gone(1), HasSubstr("timeline: " + timeline)));
    const auto read = core::TimelineReader::open(timeline);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(read->complete());
    EXPECT_GE(read->steps().size(), 1u);
    EXPECT_THAT(read->run().notes,
                testing::Contains(testing::ContainsRegex("[0-9]+ of 100000 steps: worker 1")));
    EXPECT_EQ(run_tutti({"export", timeline, "--to", "csv", "--table", "steps", "-o", "-"}).status,
              0);
  }
}

TEST(Faults, ARunThatFailsAtTheStartKeepsAnOlderTimeline) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", ring_of(2));
  const std::string timeline = folder.file("t.tutti");
  ASSERT_EQ(run_tutti({"run", file, "--timeline", timeline}).status, 0);
  const std::string before = folder.read("t.tutti");
  ClusterRun run(ring_of(2), {"--timeline", timeline, "--wait-seconds", "0.5"});
  EXPECT_EQ(run.coordinator().wait().status, 1);
  EXPECT_EQ(folder.read("t.tutti"), before);
}

TEST(Faults, ControlCEndsRemoteWorkers) {
  const TemporaryFolder folder;
  ClusterRun run(long_ring_of(2), {"--timeline", folder.file("t.tutti")});
  run.join();
  run.join();
  wait_until_running(run);
  run.coordinator().signal(SIGINT);
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, says_stopped_by_request());
  for (const std::size_t w : {0, 1})
    expect_failed(run.worker(w), HasSubstr("the run was stopped"), "worker");
}

// --- foreign programs ---

TEST(Strangers, DoNotDelayARun) {
  ClusterRun run(ring_of(3));
  std::vector<real::Socket> strangers;
  for (int i = 0; i < 150; ++i) {  // more than the coordinator accepts at the same time
    strangers.push_back(connect_plainly(run.port()));
    const std::string half = i % 3 == 0   ? ""
                             : i % 3 == 1 ? "TUTTIjn1 and then nothing"
                                          : "GET / HTTP/1.1\r\nHost: somewhere.example\r\n";
    static_cast<void>(::send(strangers.back().get(), half.data(), half.size(), MSG_NOSIGNAL));
  }
  for (int i = 0; i < 3; ++i) run.join();
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(Strangers, AWorkerOfAnotherVersionEndsTheRunAndBothNameBothVersions) {
  ClusterRun run(ring_of(2));
  std::string theirs;
  ASSERT_TRUE(join_as(run.port(), "", "9.9.9", 0, &theirs));
  EXPECT_EQ(theirs, kOurs);
  expect_failed(
      run.coordinator(),
      AllOf(HasSubstr("127.0.0.1 "), HasSubstr("Tutti 9.9.9"), HasSubstr("Tutti " + kOurs)),
      "coordinator");
}

TEST(Strangers, AWorkerLeavesACoordinatorOfAnotherVersionAndNamesBothVersions) {
  const auto listener = real::Listener::open({"127.0.0.1", 0});
  ASSERT_TRUE(listener);
  const std::string at = to_string(listener->address());
  Process worker({"worker", "--join", at});
  ASSERT_TRUE(let_in(*listener, "", "9.9.9"));
  expect_failed(worker, AllOf(HasSubstr(at), HasSubstr("Tutti 9.9.9"), HasSubstr("Tutti " + kOurs)),
                "worker");
}

TEST(Strangers, AWorkerReportsAListenerThatIsNotACoordinator) {
  const auto listener = real::Listener::open({"127.0.0.1", 0});
  ASSERT_TRUE(listener);
  Process worker({"worker", "--join", to_string(listener->address())});
  std::optional<real::Socket> connection;
  while (!connection) connection = listener->accept();
  const std::string http =
      "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\nServer: "
      "somewhere.example\r\n\r\n";
  ASSERT_GT(::send(connection->get(), http.data(), http.size(), MSG_NOSIGNAL), 0);
  const Outcome outcome = worker.wait();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is not a coordinator of Tutti"));
}

/// Somebody on the network, who cannot know the keys of the connection, adds a refusal.
TEST(Strangers, IgnoresAForgedRefusal) {
  const auto listener = real::Listener::open({"127.0.0.1", 0});
  ASSERT_TRUE(listener);
  Process worker({"worker", "--join", to_string(listener->address())});
  auto channel = let_in(*listener, "", kOurs);
  ASSERT_TRUE(channel);
  const auto introduced = next(*channel);
  ASSERT_TRUE(introduced && introduced->has_hello());
  Control refusal;
  refusal.mutable_failure()->set_text("run this command as root");
  refusal.mutable_failure()->set_request(true);
  send_raw(*channel, real::FrameWriter(real::Sha256{}).framed(refusal.SerializeAsString()));
  const Outcome outcome = worker.wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("whose authentication code is wrong"),
                                 testing::Not(HasSubstr("as root"))));
}

// --- workers and coordinators that send wrong messages ---

TEST(InvalidPeers, AWorkerDetectsAnotherPlanAndNamesBothVersions) {
  const auto listener = real::Listener::open({"127.0.0.1", 0});
  ASSERT_TRUE(listener);
  Process worker({"worker", "--join", to_string(listener->address())});
  // Another release with the same protocol.
  const std::string theirs = "7.8.9" + kOurs.substr(kOurs.rfind('+'));
  auto channel = let_in(*listener, "", theirs);
  ASSERT_TRUE(channel);
  const auto introduced = next(*channel);
  ASSERT_TRUE(introduced && introduced->has_hello());
  Control order;
  order.mutable_assignment()->set_scenario_text(ring_of(1));
  order.mutable_assignment()->set_plan_digest(1);
  order.mutable_assignment()->set_steps(1);
  order.mutable_assignment()->set_timeout_seconds(5);
  ASSERT_TRUE(channel->send(order));
  std::unique_ptr<Control> answer;
  do answer = next(*channel);
  while (answer && answer->has_alive());
  ASSERT_TRUE(answer && answer->has_failure());
  EXPECT_THAT(answer->failure().text(),
              AllOf(HasSubstr("computes a different plan"), HasSubstr(", Tutti " + kOurs + ")"),
                    HasSubstr("(0000000000000001, Tutti " + theirs + ")")));
  channel.reset();
  expect_failed(worker, HasSubstr("computes a different plan"), "worker");
}

/// Runs two workers, of which worker 1 is fake. `lie`: what the fake does after it has its orders.
void expect_noticed(const std::function<void(ControlChannel&)>& lie,
                    const testing::Matcher<std::string>& says) {
  ClusterRun run(ring_of(2), {"--timeout-seconds", "5"});
  auto channel = join_as(run.port(), "", kOurs, 1);
  ASSERT_TRUE(channel);
  ASSERT_TRUE(channel->send(hello()));
  run.join({"--worker", "0"});
  const auto order = next(*channel);
  ASSERT_TRUE(order && order->has_assignment());
  lie(*channel);
  expect_failed(run.coordinator(), AllOf(HasSubstr("worker 1"), says), "coordinator");
  expect_failed(run.worker(0), says_the_run_failed(AllOf(HasSubstr("worker 1"), says)), "survivor");
}

TEST(InvalidPeers, ATooLongMessageTakesNoMemory) {
  expect_noticed([](ControlChannel& c) { send_raw(c, "\xff\xff\xff\xff and more"); },
                 AllOf(HasSubstr(" 4294967295 bytes"),
                       testing::ContainsRegex("but the limit is [1-9][0-9]{0,8} ")));
}

TEST(InvalidPeers, AnIncompleteMessageIsReported) {
  expect_noticed(
      [](ControlChannel& c) {
        send_raw(c, std::string("\x10\0\0\0 half", 9));
        ::shutdown(c.file(), SHUT_RDWR);
      },
      HasSubstr("disconnected in the middle of a message"));
}

TEST(InvalidPeers, BytesThatAreNotAMessageAreReported) {
  expect_noticed([](ControlChannel& c) { static_cast<void>(c.send_bytes("\xff\xff\xff\xff")); },
                 HasSubstr("sent data that is not a message of Tutti"));
}

TEST(InvalidPeers, AMessageWithAWrongCodeIsReported) {
  Control ready;
  ready.mutable_ready();
  const std::string forged = real::FrameWriter(real::Sha256{}).framed(ready.SerializeAsString());
  expect_noticed([&](ControlChannel& c) { send_raw(c, forged); },
                 HasSubstr("sent a message whose authentication code is wrong"));
}

TEST(InvalidPeers, AnUnexpectedMessageIsReported) {
  expect_noticed(
      [](ControlChannel& c) {
        Control result;
        result.mutable_step()->set_step(0);
        static_cast<void>(c.send(result));
      },
      HasSubstr("is not ready and sent an unexpected message"));
}

/// 192.0.2.1 is an address for documentation, at which nobody can be reached.
TEST(InvalidPeers, RefusesAWorkerThatStatesAForeignAddress) {
  ClusterRun run(ring_of(1), {"--timeout-seconds", "5"});
  for (const char* host : {"192.0.2.1", "localhost", "0.0.0.0"}) {
    auto channel = join_as(run.port(), "", kOurs, 0);
    ASSERT_TRUE(channel);
    Control message = hello();
    message.mutable_hello()->mutable_address()->set_host(host);
    ASSERT_TRUE(channel->send(message));
    const auto answer = next(*channel);
    ASSERT_TRUE(answer && answer->has_failure()) << host;
    EXPECT_THAT(answer->failure().text(), AllOf(HasSubstr(host), HasSubstr("--worker-network")));
  }
  run.join();
  EXPECT_EQ(run.coordinator().wait().status, 0);
}

TEST(InvalidPeers, AcceptsTheStatedAddressOfAWorkerInAnAllowedNetwork) {
  ClusterRun run(ring_of(1), {"--timeout-seconds", "1", "--worker-network", "192.0.2.0/24"});
  auto channel = join_as(run.port(), "", kOurs, 0);
  ASSERT_TRUE(channel);
  Control message = hello();
  message.mutable_hello()->mutable_address()->set_host("192.0.2.1");
  ASSERT_TRUE(channel->send(message));
  const auto order = next(*channel);
  ASSERT_TRUE(order && order->has_assignment());
  EXPECT_EQ(order->assignment().peer(0).host(), "192.0.2.1");
  channel.reset();
  EXPECT_EQ(run.coordinator().wait().status, 1);
}

TEST(InvalidPeers, ReportsUnreachableWorkers) {
  ClusterRun run(ring_of(2), {"--timeout-seconds", "1"});
  auto channel = join_as(run.port(), "", kOurs, 0);
  ASSERT_TRUE(channel);
  ASSERT_TRUE(channel->send(hello()));  // the address is a port at which nobody listens
  run.join({"--worker", "1"});
  expect_failed(run.coordinator(), testing::ContainsRegex("worker 0 .*(127.0.0.1:1|nothing)"),
                "coordinator");
}

/// Returns a valid assignment of a scenario with one worker.
Control assignment() {
  const std::string text = ring_of(1);
  const auto scenario =
      core::read_scenario(text, "s", core::Library(std::vector<core::Library::File>()));
  Control order;
  proto::Assignment& a = *order.mutable_assignment();
  a.set_scenario_text(text);
  a.set_scenario_file("s");
  a.set_plan_digest(core::plan_digest(*scenario));
  a.set_steps(1);
  a.set_batch(1);
  a.set_timeout_seconds(5);
  a.set_backend("tcp");
  a.set_transport("tcp");
  a.set_streams(1);
  a.set_workers_here(1);
  a.add_peer()->set_host("127.0.0.1");
  a.mutable_peer(0)->set_port(1);
  return order;
}

/// Returns a worker's reply to the order, without heartbeats.
std::unique_ptr<Control> answer_to(const Control& order, Process** started = nullptr) {
  static std::deque<Process> workers;
  const auto listener = real::Listener::open({"127.0.0.1", 0});
  Process& worker = workers.emplace_back(
      std::vector<std::string>{"worker", "--join", to_string(listener->address())});
  if (started) *started = &worker;
  auto channel = let_in(*listener, "", kOurs);
  if (!channel || !next(*channel) || !channel->send(order)) return nullptr;
  std::unique_ptr<Control> answer;
  do answer = next(*channel);
  while (answer && answer->has_alive());
  return answer;
}

TEST(InvalidPeers, AcceptsAValidAssignment) {
  const auto answer = answer_to(assignment());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->has_ready()) << answer->failure().text();
}

TEST(InvalidPeers, ChecksEveryNumberOfAnAssignment) {
  const std::pair<const char*, std::function<void(proto::Assignment&)>> lies[] = {
      {"worker is 1; expected a value from 0 to 0", [](auto& a) { a.set_worker(1); }},
      {"worker is 1000000", [](auto& a) { a.set_worker(1'000'000); }},
      {"worker is -1", [](auto& a) { a.set_worker(-1); }},
      {"the number of peers is 0, but the scenario has 1 workers", [](auto& a) { a.clear_peer(); }},
      {"the number of peers is 2, but the scenario has 1 workers",
       [](auto& a) { *a.add_peer() = a.peer(0); }},
      {"a peer at port 65536", [](auto& a) { a.mutable_peer(0)->set_port(65'536); }},
      {"steps is 0", [](auto& a) { a.set_steps(0); }},
      {"steps is 2147483647", [](auto& a) { a.set_steps(2'147'483'647); }},
      {"batch is 0", [](auto& a) { a.set_batch(0); }},
      {"batch is -16", [](auto& a) { a.set_batch(-16); }},
      {"most_spans is -1", [](auto& a) { a.set_most_spans(-1); }},
      {"spin_ns is -1", [](auto& a) { a.set_spin_ns(-1); }},
      {"streams is 0", [](auto& a) { a.set_streams(0); }},
      {"streams is 65", [](auto& a) { a.set_streams(65); }},
      {"workers_here is 2", [](auto& a) { a.set_workers_here(2); }},
      {"workers_before is 1", [](auto& a) { a.set_workers_before(1); }},
      {"workers_before is -1", [](auto& a) { a.set_workers_before(-1); }},
      {"iterations is 0", [](auto& a) { a.mutable_loop(); }},
      {"warm_up is -1",
       [](auto& a) { a.mutable_loop()->set_iterations(1), a.mutable_loop()->set_warm_up(-1); }},
      {"a time-out of 0 s", [](auto& a) { a.set_timeout_seconds(0); }},
      {"a time-out of nan s", [](auto& a) { a.set_timeout_seconds(std::nan("")); }},
      {"a time-out of inf s", [](auto& a) { a.set_timeout_seconds(HUGE_VAL); }},
      {"a time scale of -1", [](auto& a) { a.set_time_scale(-1); }},
      {"a time scale of nan", [](auto& a) { a.set_time_scale(std::nan("")); }},
      {"transport \"pigeon\"", [](auto& a) { a.set_transport("pigeon"); }},
      {"a file of kind 6", [](auto& a) { a.add_file()->set_kind(6); }}};
  for (const auto& [what, lie] : lies) {
    Control order = assignment();
    lie(*order.mutable_assignment());
    Process* worker = nullptr;
    const auto answer = answer_to(order, &worker);
    ASSERT_TRUE(answer && answer->has_failure()) << what;
    EXPECT_THAT(answer->failure().text(),
                HasSubstr(std::string("the coordinator sent an invalid assignment: ") + what));
    EXPECT_EQ(worker->wait().status, 1) << what;
  }
}

TEST(InvalidPeers, WorkersWithInvalidPortsAreRefused) {
  ClusterRun run(ring_of(1));
  for (const int port : {0, -1, 65'536}) {
    auto channel = join_as(run.port(), "", kOurs, 0);
    ASSERT_TRUE(channel);
    Control introduction = hello();
    introduction.mutable_hello()->mutable_address()->set_port(port);
    ASSERT_TRUE(channel->send(introduction));
    const auto answer = next(*channel);
    ASSERT_TRUE(answer && answer->has_failure()) << port;
    EXPECT_THAT(answer->failure().text(), HasSubstr(fmt::format("sent the invalid port {}", port)));
  }
  run.join();
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

}  // namespace
}  // namespace tutti::test
